import { toUtf8 } from "../../engine/bytes.ts";
import { isBodyless } from "../../engine/contract/operation.ts";
import { toPairs } from "../../engine/maps.ts";
import type { CompleteAnswer } from "../../engine/pipeline/plain-http.ts";
import { keepProcessAlive } from "./await-answer.ts";

/** The bodies of answers that are neither streamed nor broken, which can be passed on without reading them. */
export const unstreamedBodies = new WeakMap<Response, string | Uint8Array>();

/** Converts an answer of the engine for the caller of `fetch`. */
export function toResponse(
  { status, headers, body, stream }: Pick<CompleteAnswer, "status" | "headers" | "body" | "stream">,
  request: Pick<Request, "method" | "signal">,
): Response {
  const init = { status, headers: toPairs(headers) };
  if (request.method === "HEAD" || isBodyless(status)) return new Response(null, init);
  if (stream !== undefined) return new Response(toStream(stream, request), init);
  const response = new Response(body as Uint8Array<ArrayBuffer>, init);
  if (body !== undefined) unstreamedBodies.set(response, body);
  return response;
}

/** Streams the body piece by piece, as fast as it is read, until its reader cancels or the request aborts. */
function toStream(
  stream: NonNullable<CompleteAnswer["stream"]>,
  request: Pick<Request, "signal">,
): ReadableStream<Uint8Array> {
  const cancelled = new AbortController();
  const pieces = stream(AbortSignal.any([cancelled.signal, request.signal]))[Symbol.asyncIterator]();
  /** Ends the stream even while it waits for its reader, so that it cleans up. */
  const end = () => {
    cancelled.abort();
    void pieces.return?.().catch(() => {});
  };
  return new ReadableStream({
    start(controller) {
      const { signal } = request;
      const fail = () => {
        controller.error(signal.reason);
        end();
      };
      signal.addEventListener("abort", fail, { once: true });
    },
    async pull(controller) {
      const { done, value } = await keepProcessAlive(pieces.next());
      // Refers to the request so that it stays in memory: once it is collected, its signal no longer aborts.
      if (request.signal.aborted) return;
      if (done) controller.close();
      else controller.enqueue(typeof value === "string" ? toUtf8(value) : value);
    },
    cancel: end,
  });
}
