import type { OutboundClient } from "../../../engine/contract/services.ts";
import type { Outbound } from "./outbound.ts";
import { MAX_ANSWER_BYTES, type OutboundResult } from "./outbound-request.ts";

/** Sends requests within this process if `findReceiver` returns a receiver, and all others by the network. */
export function deliverInProcess(
  findReceiver: (url: string) => OutboundClient | undefined,
  network: Outbound,
): Outbound {
  return {
    async send(request) {
      const receiver = findReceiver(request.url);
      if (receiver === undefined) return network.send(request);
      const headers = request.headers as Record<string, string>;
      const { signal, maxAnswerBytes = MAX_ANSWER_BYTES, ...others } = request;
      const answer = await receiver.send({ ...others, headers, ...(signal && { signal }) });
      const body = Buffer.from(answer.body.subarray(0, maxAnswerBytes));
      return { ...answer, body, truncated: answer.body.length > maxAnswerBytes } as OutboundResult;
    },
    close: () => network.close(),
  };
}
