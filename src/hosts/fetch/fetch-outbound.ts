import { EMPTY_BYTES } from "../../engine/bytes.ts";
import {
  MAX_ANSWER_BYTES,
  type OutboundAnswer,
  type OutboundClient,
} from "../../engine/contract/services.ts";
import { abortAfter } from "../../engine/state/concurrency.ts";

/**
 * Sends requests to receivers by a function such as the global `fetch`. Never rejects.
 * @param fetch rejects if the connection breaks or the request's signal aborts
 */
export function createFetchOutbound(fetch: (request: Request) => Promise<Response>): OutboundClient {
  return {
    async send({ url, method, headers, body, timeoutMs, signal }): Promise<OutboundAnswer> {
      const start = performance.now();
      const timeout = abortAfter(timeoutMs);
      const createFailure = (kind: string, message: string): OutboundAnswer => ({
        response_code: 0,
        headers: {},
        body: EMPTY_BYTES,
        duration_ms: Math.round(performance.now() - start),
        error: { kind, message },
      });
      try {
        // A cancelled request is not sent; `fetch` may be a function of this process that ignores the signal.
        signal?.throwIfAborted();
        const response = await fetch(
          new Request(url, {
            method,
            headers,
            redirect: "manual",
            body: body.length === 0 ? null : (body as Uint8Array<ArrayBuffer>),
            signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
          }),
        );
        // A browser hides the status of a redirect, which elsewhere is an answer like others.
        if (response.type === "opaqueredirect")
          return createFailure("network", "the receiver redirects, and redirects are not followed");
        return {
          response_code: response.status,
          headers: Object.fromEntries(response.headers),
          body: new Uint8Array(await response.arrayBuffer()).subarray(0, MAX_ANSWER_BYTES),
          duration_ms: Math.round(performance.now() - start),
        };
      } catch (error) {
        if (signal?.aborted) return createFailure("aborted", "the attempt was cancelled");
        if (timeout.aborted) return createFailure("timeout", `timed out after ${timeoutMs / 1000} s`);
        return createFailure("network", error instanceof Error ? error.message : String(error));
      }
    },
  };
}
