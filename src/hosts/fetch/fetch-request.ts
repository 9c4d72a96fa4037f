import { ClientGoneError, type PlainRequest, type Site, toSite } from "../../engine/pipeline/plain-http.ts";

/** A request of the Fetch standard, in the form that the engine reads. */
export class FetchRequest implements PlainRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: PlainRequest["headers"];
  readonly rawHeaders: readonly string[];
  readonly site: Site;
  private readonly bytes: Uint8Array;
  private readonly callerSignal: AbortSignal;
  private clientLeft: AbortSignal | undefined;

  /**
   * @param bytes the whole body, since nothing between the caller and the engine splits it
   * @param base the path that the API is mounted at, such as `/api`
   */
  constructor(request: Request, bytes: Uint8Array, base: string) {
    const { host, origin, pathname, search } = new URL(request.url);
    this.method = request.method;
    this.target = (pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname) + search;
    this.site = toSite(origin + base);
    this.bytes = bytes;
    // Other implementations of `Request`, such as happy-dom's, keep the names as they were written.
    const lowerCase = Array.from(request.headers, ([name, value]) => [name.toLowerCase(), value] as const);
    const headers = new Map([["host", host], ...lowerCase]);
    if (bytes.length > 0) headers.set("content-length", String(bytes.length));
    this.headers = Object.fromEntries(headers);
    // An object would move names such as `1` to the front.
    this.rawHeaders = [...headers].flat();
    this.callerSignal = request.signal;
  }

  /** Created when needed: few requests wait, and a signal costs as much as a small answer. */
  get signal(): AbortSignal {
    this.clientLeft ??= createClientSignal(this.callerSignal);
    return this.clientLeft;
  }

  get body(): AsyncIterable<Uint8Array> {
    return yieldOnce(this.bytes);
  }
}

async function* yieldOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

/** Aborts with a ClientGoneError, which the engine knows, whatever the caller's reason. */
function createClientSignal(signal: AbortSignal): AbortSignal {
  const clientLeft = new AbortController();
  const abort = () => clientLeft.abort(new ClientGoneError());
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return clientLeft.signal;
}
