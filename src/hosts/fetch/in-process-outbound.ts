import type { OutboundClient } from "../../engine/contract/services.ts";
import { answerDeliveries, type OnDelivery } from "./answer-deliveries.ts";
import { IN_PROCESS_ORIGIN, type SandboxFetch } from "./create-fetch.ts";
import { createFetchOutbound } from "./fetch-outbound.ts";

/**
 * Sends requests to this process's own receivers by `ownFetch`. All others go to the caller's function, or without one to
 * the network.
 * @param pageOrigin the origin of the receivers that a page has created
 */
export function createInProcessOutbound(
  ownFetch: SandboxFetch,
  onDelivery: OnDelivery | undefined,
  network: OutboundClient,
  pageOrigin?: string,
): OutboundClient {
  const own = createFetchOutbound(ownFetch);
  const others = onDelivery === undefined ? network : createFetchOutbound(answerDeliveries(onDelivery));
  const isOwn = (url: string) =>
    url.startsWith(`${IN_PROCESS_ORIGIN}/`) ||
    (pageOrigin !== undefined && url.startsWith(`${pageOrigin}/_receivers/`));
  return { send: (request) => (isOwn(request.url) ? own : others).send(request) };
}
