/** One call of the control API. */
export interface Call {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The parts of an answer that the library reads. The global `Response` is not used: a test may replace it. */
export interface Reply {
  status: number;
  statusText: string;
  /** Empty if there is none. */
  contentType: string;
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
  /** The body as it comes. */
  chunks(): AsyncIterable<string>;
}

/** Sends a call; rejects if no answer comes. */
export type Transport = (url: string, call: Call) => Promise<Reply>;

// Read at import, since a test may replace it later.
const { fetch } = globalThis;
export const defaultFetch = (request: Request): Promise<Response> => fetch(request);

const REDIRECTS = [301, 302, 303, 307, 308];
/** As in the Fetch standard. */
const MAX_REDIRECTS = 20;

/** Treats redirects as the global `fetch` does, except that no request leaves the engine, which answers every origin. */
export function followRedirects(send: typeof defaultFetch): typeof defaultFetch {
  return async (first) => {
    if (first.redirect === "manual") return send(first);
    let request = first;
    for (let count = 0; ; count += 1) {
      const copy = request.body === null ? request : request.clone();
      const response = await send(request);
      const location = response.headers.get("location");
      if (!REDIRECTS.includes(response.status) || location === null)
        return count === 0 ? response : Object.defineProperty(response, "redirected", { value: true });
      if (first.redirect === "error" || count === MAX_REDIRECTS) throw new TypeError("fetch failed");
      request = await toRedirected(copy, location, response.status);
    }
  };
}

/** @throws TypeError for a URL that `fetch` cannot request */
async function toRedirected(request: Request, location: string, status: number): Promise<Request> {
  const { url, method, redirect, signal } = request;
  const target = new URL(location, url);
  if (!/^https?:$/.test(target.protocol)) throw new TypeError("fetch failed");
  const headers = new Headers([...request.headers]);
  if (target.origin !== new URL(url).origin)
    for (const name of ["authorization", "cookie"]) headers.delete(name);
  const init = { redirect, signal: signal instanceof AbortSignal ? signal : null };
  const becomesGet = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
  if (!becomesGet) {
    const body = request.body === null ? null : await request.arrayBuffer();
    return new Request(target, { ...init, method, headers, body });
  }
  for (const name of [...headers.keys()]) if (name.startsWith("content-")) headers.delete(name);
  return new Request(target, { ...init, headers });
}

export function createTransport(send: (request: Request) => Promise<Response>): Transport {
  return async (url, call) => {
    const response = await send(new Request(url, { ...call, headers: { ...call.headers } } as RequestInit));
    return {
      status: response.status,
      statusText: response.statusText,
      contentType: response.headers.get("content-type") ?? "",
      text: () => response.text(),
      bytes: async () => new Uint8Array(await response.arrayBuffer()),
      chunks: () => response.body!.pipeThrough(new TextDecoderStream()),
    };
  };
}

export class ClosedError extends Error {
  override readonly name = "ClosedError";

  constructor() {
    super("The sandbox is closed: close() was called. Close it after its last use, or create another one.");
  }
}

interface Closable {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** Makes requests after `close()` reject; those before it are answered. */
export function refuseAfterClose<E extends Closable>(engine: E): E {
  const { fetch, close } = engine;
  let isClosed = false;
  return Object.assign(engine, {
    async fetch(request: Request) {
      if (isClosed) throw new ClosedError();
      return fetch(request);
    },
    close() {
      isClosed = true;
      return close();
    },
  });
}
