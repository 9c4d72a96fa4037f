import type { OutboundClient } from "../../engine/contract/services.ts";
import { rejectOnAbort } from "./await-answer.ts";
import { IN_PROCESS_ORIGIN, type SandboxFetch } from "./create-fetch.ts";
import { createFetchOutbound } from "./fetch-outbound.ts";

/**
 * Receives each webhook that leaves the sandbox, in place of the network. Answers with a `Response`; any other value
 * counts as 204, a rejection as a broken connection.
 */
export type OnDelivery = (request: Request) => unknown;

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

/** The caller's function as a receiver of webhooks. @throws TypeError if it is not a function */
function answerDeliveries(onDelivery: OnDelivery): (request: Request) => Promise<Response> {
  if (typeof onDelivery !== "function")
    throw new TypeError(
      `onDelivery must be a function that takes a Request, not ${JSON.stringify(onDelivery)}`,
    );
  return async (request) => {
    const answer = await rejectOnAbort(request.signal, Promise.resolve(onDelivery(request)));
    // Test environments such as jsdom have a `Response` class of their own.
    if (Object.prototype.toString.call(answer) !== "[object Response]")
      return new Response(null, { status: 204 });
    if ((answer as Response).type === "error") throw new TypeError("the receiver broke the connection");
    return answer as Response;
  };
}
