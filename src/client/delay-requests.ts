import { whenAborted } from "../engine/state/concurrency.ts";
import { isBelow } from "./worker-messages.ts";

type Fetch = (...args: ConstructorParameters<typeof Request>) => Promise<Response>;
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
 * @param paths as `toPaths` returns them: those of other origins begin with their origin
 */
export function delayRequests(paths: readonly string[], ready: Promise<unknown>): void {
  const scope = globalThis as unknown as Scope;
  const { fetch, XMLHttpRequest, EventSource, navigator } = scope;
  const { sendBeacon } = navigator;
  let isReleased = false;
  // The address is unknown of an XMLHttpRequest that was opened before `open` was replaced.
  const mustWait = (address: string | undefined) =>
    !isReleased && (address === undefined || isBelow(address, paths));
  const restoreFunctions = [
    replace(scope, "fetch", async (...args) => {
      // A request is recognized by its `url`, not by `instanceof`: one of another frame has a class of its own.
      const url = (args[0] as { url?: string } | null)?.url ?? args[0];
      if (!mustWait(String(url))) return fetch(...args);
      // Made now, since the caller may change URL, headers and body before they are sent.
      const request = new Request(...args);
      const started = ready.catch((cause) => {
        throw new TypeError("Failed to fetch: the sandbox did not start", { cause });
      });
      await Promise.race([started, whenAborted(request.signal)]);
      return fetch(request);
    }),
  ];
  if (XMLHttpRequest !== undefined)
    restoreFunctions.push(...delayXhr(XMLHttpRequest.prototype, mustWait, ready));
  if (EventSource !== undefined) {
    const construct: ProxyHandler<typeof EventSource>["construct"] = (target, args, newTarget) => {
      if (mustWait(String(args[0])))
        throw new Error(`The sandbox has not started: await start() before new EventSource("${args[0]}")`);
      return Reflect.construct(target, args, newTarget);
    };
    restoreFunctions.push(replace(scope, "EventSource", new Proxy(EventSource, { construct })));
  }
  if (sendBeacon !== undefined) {
    const send = (url: string | URL, data?: unknown) => sendBeacon.call(navigator, url, data);
    const sendLater = (url: string | URL, data?: unknown) => {
      if (!mustWait(String(url))) return send(url, data);
      ready.then(
        () => send(url, data),
        () => {},
      );
      return true;
    };
    restoreFunctions.push(replace(navigator, "sendBeacon", sendLater));
  }
  const release = () => {
    isReleased = true;
    for (const restore of restoreFunctions) restore();
  };
  ready.then(release, release);
}

let allowSynchronousRequests = () => {};

/**
 * Refuses synchronous XMLHttpRequests to these paths, which would bypass the service worker and reach the network. Another
 * call replaces the paths.
 * @param paths as `toPaths` returns them
 */
export function refuseSynchronousRequests(paths: readonly string[]): void {
  const { XMLHttpRequest } = globalThis as unknown as Scope;
  if (XMLHttpRequest === undefined) return;
  allowSynchronousRequests();
  const { prototype } = XMLHttpRequest;
  const { open } = prototype;
  allowSynchronousRequests = replace(prototype, "open", function (this: object, ...args: never[]) {
    if (args.length > 2 && !args[2] && isBelow(String(args[1]), paths))
      throw new Error(
        `The sandbox cannot answer a synchronous XMLHttpRequest to ${args[1]}: leave out the third argument of open()`,
      );
    open.apply(this, args);
  });
}

/** @returns a function that restores the former value, unless other code has replaced this one */
function replace<T, K extends keyof T>(target: T, name: K, value: T[K]): () => void {
  const original = target[name];
  target[name] = value;
  return () => {
    if (target[name] === value) target[name] = original;
  };
}

/** @returns functions that restore the original methods */
function delayXhr(
  prototype: XhrMethods,
  mustWait: (address: string | undefined) => boolean,
  ready: Promise<unknown>,
): (() => void)[] {
  const { open, send, abort } = prototype;
  const urls = new WeakMap<object, string>();
  /** By request: the arguments of the call of `send` that waits. Each call has an array of its own, so it identifies the call. */
  const pendingSends = new WeakMap<object, object>();
  return [
    replace(prototype, "open", function (this: object, ...args: never[]) {
      pendingSends.delete(this);
      urls.set(this, String(args[1]));
      open.apply(this, args);
    }),
    replace(prototype, "send", function (this: EventTarget, ...args: never[]) {
      if (!mustWait(urls.get(this))) return send.apply(this, args);
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
    }),
    replace(prototype, "abort", function (this: EventTarget) {
      if (pendingSends.delete(this)) endXhr(this, "abort");
      abort.apply(this);
    }),
  ];
}

/** Dispatches the final events, since the browser dispatches none for a request that was not sent. */
function endXhr(request: EventTarget, type: string): void {
  const { ProgressEvent } = globalThis as unknown as Scope;
  for (const name of [type, "loadend"]) request.dispatchEvent(new ProgressEvent(name));
}
