import type { Outbound } from "./outbound.ts";
import { failed } from "./outbound-failure.ts";
import type { OutboundRequest, OutboundResult } from "./outbound-request.ts";

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Sends what is for `origin` to a function of this process, and everything else as `next` does.
 * @param fetch answers as the global one does, and rejects where the connection breaks
 */
export function deliverInProcess(
  origin: string,
  fetch: (request: Request) => Promise<Response>,
  next: Outbound,
): Outbound {
  return {
    send: (request) =>
      request.url.startsWith(`${origin}/`) ? sendInProcess(fetch, request) : next.send(request),
    close: () => next.close(),
  };
}

async function sendInProcess(
  fetch: (request: Request) => Promise<Response>,
  { url, method, headers, body, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES, signal }: OutboundRequest,
): Promise<OutboundResult> {
  const began = performance.now();
  const duration = () => ({ duration_ms: Math.round(performance.now() - began) });
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(
      new Request(url, {
        method,
        headers: headers as Record<string, string>,
        body: body.length === 0 ? null : (body as Uint8Array<ArrayBuffer>),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      }),
    );
    const whole = Buffer.from(await response.arrayBuffer());
    return {
      response_code: response.status,
      headers: Object.fromEntries(response.headers),
      body: whole.subarray(0, maxAnswerBytes),
      truncated: whole.length > maxAnswerBytes,
      ...duration(),
    };
  } catch {
    if (signal?.aborted) return { ...failed("aborted", "the attempt was cancelled"), ...duration() };
    if (timeout.aborted)
      return { ...failed("timeout", `timed out after ${timeoutMs / 1000} s`), ...duration() };
    return { ...failed("reset", "the connection was reset before an answer"), ...duration() };
  }
}
