/**
 * The requests that are not answered yet. In Node, a caller's signal aborts its `Request` only as long as something
 * references the request; the code that waits for the signal does not.
 */
const waitingRequests = new Set<Request>();
const sourcesByRequest = new WeakMap<Request, unknown>();

export function retainUntilAnswered<T>(request: Request, answer: Promise<T>): Promise<T> {
  waitingRequests.add(request);
  return answer.finally(() => waitingRequests.delete(request));
}

/** References the sources that a request was made from, for as long as the request exists. */
export function retainSources(request: Request, sources: unknown): Request {
  sourcesByRequest.set(request, sources);
  return request;
}

/** Keeps Node alive while an answer, or the next piece of one, is awaited, as a socket would; timers of a sandbox do not. */
export async function keepProcessAlive<T>(work: Promise<T>): Promise<T> {
  const interval = setInterval(() => {}, 2 ** 30);
  try {
    return await work;
  } finally {
    clearInterval(interval);
  }
}

/** Rejects when the caller aborts. The request may continue, as on a server whose client has disconnected. */
export function rejectOnAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
