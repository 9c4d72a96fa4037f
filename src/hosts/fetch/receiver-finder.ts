import type { OutboundClient } from "../../engine/contract/services.ts";
import { answerDeliveries, type OnDelivery } from "./answer-deliveries.ts";
import { IN_PROCESS_ORIGIN, type SandboxFetch } from "./create-fetch.ts";
import { createFetchOutbound } from "./fetch-outbound.ts";

/** Finds the receiver of a request within this process: the library itself, or the caller's function. */
export function createReceiverFinder(
  libraryFetch: SandboxFetch,
  onDelivery: OnDelivery | undefined,
): (url: string) => OutboundClient | undefined {
  const library = createFetchOutbound(libraryFetch);
  const caller = onDelivery && createFetchOutbound(answerDeliveries(onDelivery));
  return (url) => (url.startsWith(`${IN_PROCESS_ORIGIN}/`) ? library : caller);
}
