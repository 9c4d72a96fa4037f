type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
interface Scope {
  fetch: Fetch;
  location: { href: string; origin: string };
  XMLHttpRequest?: { prototype: Record<"open" | "send", (...args: never[]) => void> };
}

/**
 * Lets the page's requests to these paths wait until the sandbox answers: before the service worker is there, they would
 * reach the network. They fail if the sandbox does not start.
 */
export function holdRequests(paths: readonly string[], ready: Promise<unknown>): void {
  const scope = globalThis as unknown as Scope;
  const isHeld = (address: string) => {
    const { origin, pathname } = new URL(address, scope.location.href);
    return origin === scope.location.origin && paths.some((path) => `${pathname}/`.startsWith(`${path}/`));
  };
  const { fetch, XMLHttpRequest } = scope;
  const holding: Fetch = async (input, init) => {
    if (isHeld(input instanceof Request ? input.url : String(input)))
      await ready.catch((cause) => {
        throw new TypeError("Failed to fetch: the sandbox did not start", { cause });
      });
    return fetch(input, init);
  };
  scope.fetch = holding;
  const opened = new WeakMap<object, string>();
  const { open, send } = XMLHttpRequest?.prototype ?? {};
  if (XMLHttpRequest !== undefined)
    Object.assign(XMLHttpRequest.prototype, {
      open(this: object, ...args: never[]) {
        opened.set(this, String(args[1]));
        open!.apply(this, args);
      },
      send(this: { abort(): void }, ...args: never[]) {
        if (!isHeld(opened.get(this)!)) send!.apply(this, args);
        else
          ready.then(
            () => send!.apply(this, args),
            () => this.abort(),
          );
      },
    });
  const release = () => {
    if (scope.fetch === holding) scope.fetch = fetch;
    if (XMLHttpRequest !== undefined) Object.assign(XMLHttpRequest.prototype, { open, send });
  };
  ready.then(release, release);
}
