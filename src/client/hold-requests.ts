import { isBelow } from "./worker-messages.ts";

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
type XhrMethods = Record<"open" | "send" | "abort", (...args: never[]) => void>;
interface Scope {
  fetch: Fetch;
  XMLHttpRequest?: { prototype: XhrMethods };
  ProgressEvent: new (type: string) => Event;
  EventSource?: new (...args: never[]) => object;
  navigator: { sendBeacon?(url: string | URL, data?: unknown): boolean };
}

/**
 * Lets the page's requests to these paths wait until the sandbox answers: before the service worker is there, they would
 * reach the network. They fail if the sandbox does not start. An EventSource cannot wait, since its constructor connects.
 */
export function holdRequests(paths: readonly string[], ready: Promise<unknown>): void {
  const scope = globalThis as unknown as Scope;
  const { fetch, XMLHttpRequest, EventSource, navigator } = scope;
  const { sendBeacon } = navigator;
  const restoreFunctions = [
    replace(scope, "fetch", async (input, init) => {
      const isRequest = input instanceof Request;
      if (isBelow(isRequest ? input.url : String(input), paths)) {
        const started = ready.catch((cause) => {
          throw new TypeError("Failed to fetch: the sandbox did not start", { cause });
        });
        await Promise.race([
          started,
          waitUntilAborted(init?.signal ?? (isRequest ? input.signal : undefined)),
        ]);
      }
      return fetch(input, init);
    }),
  ];
  if (XMLHttpRequest !== undefined) restoreFunctions.push(holdXhr(XMLHttpRequest.prototype, paths, ready));
  if (EventSource !== undefined) {
    const construct: ProxyHandler<typeof EventSource>["construct"] = (target, args, newTarget) => {
      if (isBelow(String(args[0]), paths))
        throw new Error(`The sandbox has not started: await start() before new EventSource("${args[0]}")`);
      return Reflect.construct(target, args, newTarget);
    };
    restoreFunctions.push(replace(scope, "EventSource", new Proxy(EventSource, { construct })));
  }
  if (sendBeacon !== undefined) {
    const send = (url: string | URL, data?: unknown) => sendBeacon.call(navigator, url, data);
    const sendLater = (url: string | URL, data?: unknown) => {
      if (!isBelow(String(url), paths)) return send(url, data);
      ready.then(
        () => send(url, data),
        () => {},
      );
      return true;
    };
    restoreFunctions.push(replace(navigator, "sendBeacon", sendLater));
  }
  const release = () => {
    for (const one of restoreFunctions) one();
  };
  ready.then(release, release);
}

/** @returns a function that restores the former value, unless other code has replaced this one */
function replace<T, K extends keyof T>(target: T, name: K, value: T[K]): () => void {
  const original = target[name];
  target[name] = value;
  return () => {
    if (target[name] === value) target[name] = original;
  };
}

function waitUntilAborted(signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** @returns a function that restores the original methods */
function holdXhr(prototype: XhrMethods, paths: readonly string[], ready: Promise<unknown>): () => void {
  const { open, send, abort } = prototype;
  const urls = new WeakMap<object, string>();
  /** The arguments of the call of `send` that waits; they identify it, since each call has an array of its own. */
  const pendingSends = new WeakMap<object, object>();
  Object.assign(prototype, {
    open(this: object, ...args: never[]) {
      pendingSends.delete(this);
      urls.set(this, String(args[1]));
      open.apply(this, args);
    },
    send(this: EventTarget, ...args: never[]) {
      if (!isBelow(urls.get(this)!, paths)) return send.apply(this, args);
      pendingSends.set(this, args);
      const runUnlessAborted = (act: () => void) => () => {
        if (pendingSends.get(this) !== args) return;
        pendingSends.delete(this);
        act();
      };
      ready.then(
        runUnlessAborted(() => send.apply(this, args)),
        runUnlessAborted(() => endXhr(this, "error")),
      );
    },
    abort(this: EventTarget) {
      if (pendingSends.delete(this)) endXhr(this, "abort");
      abort.apply(this);
    },
  });
  return () => void Object.assign(prototype, { open, send, abort });
}

/** Dispatches the final events, since the browser dispatches none for a request that was not sent. */
function endXhr(request: EventTarget, type: string): void {
  const { ProgressEvent } = globalThis as unknown as Scope;
  for (const name of [type, "loadend"]) request.dispatchEvent(new ProgressEvent(name));
}
