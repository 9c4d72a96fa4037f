import { toProblemAnswer } from "./answer.ts";
import { BodyCapture } from "./body-capture.ts";
import { UpstreamFailure } from "./engine-parts.ts";
import { type Exchange, Undecidable } from "./exchange.ts";
import { EarlyResponse } from "./inject-fault.ts";

const DECISION = "upstream";

/** Whether a request may go to the upstream: no operation has its path, for any method (interfaces.md 18). */
export function canForward({ engine, routeError }: Exchange): boolean {
  return engine.upstream !== undefined && routeError?.code === "RESOURCE_NOT_FOUND";
}

/** Sends to the upstream what neither an operation nor a rule answers for any caller. @throws EarlyResponse with its answer */
export function forwardToUpstream(exchange: Exchange): undefined | Promise<void> {
  if (!canForward(exchange) || exchange.verdict?.refusesCaller) return undefined;
  const { upstream } = exchange.engine;
  if (exchange.dryRun === undefined) return send(exchange);
  exchange.decision = DECISION;
  throw new Undecidable(`it would be sent to ${upstream!.url}, which a dry run does not do`);
}

async function send(exchange: Exchange): Promise<void> {
  const { request, query, path } = exchange;
  const { method, rawHeaders, signal } = request;
  const target = query === "" ? path : `${path}?${query}`;
  const body = await toBody(exchange);
  try {
    const answer = await exchange.engine.upstream!.send({ method, target, rawHeaders, body, signal });
    throw new EarlyResponse(DECISION, {
      status: answer.status,
      headers: {},
      content_type: undefined,
      body: undefined,
      forwarded: answer,
      ...(method !== "HEAD" && { stream: () => answer.body }),
    });
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    const { message, status } = error;
    exchange.reasons = [...exchange.reasons, message];
    throw new EarlyResponse(DECISION, toProblemAnswer("upstream-failed", message, { status }));
  }
}

/** @throws ApiError PAYLOAD_TOO_LARGE if a rule asked for the body and it is too long for that; ClientGoneError */
async function toBody(exchange: Exchange): Promise<AsyncIterable<Uint8Array>> {
  const { request } = exchange;
  if (!exchange.hasReadBody) {
    exchange.bodyCapture = new BodyCapture({ withDigest: false });
    return exchange.bodyCapture.capture(request.body);
  }
  const body = await exchange.readBody();
  return (async function* () {
    yield body;
  })();
}
