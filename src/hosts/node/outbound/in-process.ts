import type { OutboundClient } from "../../../engine/contract/services.ts";
import type { Outbound } from "./outbound.ts";
import type { OutboundResult } from "./outbound-request.ts";

/** The beginning of an answer, as over the network. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Sends requests within this process if `find` returns a receiver, and all others by `next`. */
export function deliverInProcess(
  find: (url: string) => OutboundClient | undefined,
  next: Outbound,
): Outbound {
  return {
    async send(request) {
      const within = find(request.url);
      if (within === undefined) return next.send(request);
      const headers = request.headers as Record<string, string>;
      const { signal, maxAnswerBytes = MAX_ANSWER_BYTES, ...others } = request;
      const answer = await within.send({ ...others, headers, ...(signal && { signal }) });
      const body = Buffer.from(answer.body.subarray(0, maxAnswerBytes));
      return { ...answer, body, truncated: answer.body.length > maxAnswerBytes } as OutboundResult;
    },
    close: () => next.close(),
  };
}
