import { ClientGoneError, type PlainRequest, toSite } from "../../engine/pipeline/plain-http.ts";

/**
 * A request of the Fetch standard, as the engine sees it.
 * @param bytes the whole body, since nothing between the caller and the engine splits it
 * @param base the path that the API is mounted at, such as `/api`
 */
export function toPlainRequest(request: Request, bytes: Uint8Array, base: string): PlainRequest {
  const { host, origin, pathname, search } = new URL(request.url);
  const headers: Record<string, string> = { host };
  for (const [name, value] of request.headers) headers[name] = value;
  if (bytes.length > 0) headers["content-length"] = String(bytes.length);
  let clientLeft: AbortSignal | undefined;
  return {
    method: request.method,
    target: (pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname) + search,
    site: toSite(origin + base),
    headers,
    rawHeaders: Object.entries(headers).flat(),
    /** Created when needed: few requests wait, and a signal costs as much as a small answer. */
    get signal() {
      clientLeft ??= createClientSignal(request.signal);
      return clientLeft;
    },
    get body() {
      return yieldOnce(bytes);
    },
  };
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
