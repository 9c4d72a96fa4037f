import { CATALOGUE } from "../contract/errors.ts";
import type { RequestHeaders } from "../contract/operation.ts";
import type {
  FaultAnswer,
  FaultVerdict,
  Injection,
  RequestEffect,
  WireFault,
} from "../sandbox/fault-types.ts";
import type { HeldMessage, Hold } from "../sandbox/held.ts";
import type { AppliedFault } from "../sandbox/journal-entry.ts";
import { whenAborted } from "../state/concurrency.ts";
import { toErrorAnswer, toProblemAnswer } from "./answer.ts";
import { countAgainstRate } from "./count-against-rate.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer, InjectedWire } from "./plain-http.ts";
import { RequestFacts } from "./request-facts.ts";

/** Ends the request with the answer of a fault, of a limit or of the upstream. */
export class EarlyResponse extends Error {
  readonly decision: string;
  readonly answer: Answer;
  readonly wire: InjectedWire | undefined;

  constructor(decision: string, answer: Answer, wire?: InjectedWire) {
    super(decision);
    this.decision = decision;
    this.answer = answer;
    this.wire = wire;
  }
}

/** Whether a request sets its own fault or delay (interfaces.md 3). */
export function hasOverride(headers: RequestHeaders): boolean {
  return (
    headers["x-sandbox-fault"] !== undefined ||
    headers["x-sandbox-delay"] !== undefined ||
    (headers["prefer"] !== undefined && /\bcode\b/i.test(String(headers["prefer"])))
  );
}

/**
 * Asks the sandbox's faults. A delay alone only waits, on the wall clock, also in a frozen sandbox. Synchronous if no
 * rule triggers or looks into the body, which is the usual case with a thousand rules armed.
 * @throws EarlyResponse if a fault answers in place of the operation
 */
export function injectFault(exchange: Exchange, phase: "before" | "after"): undefined | Promise<void> {
  const facts = new RequestFacts(exchange);
  const verdict = exchange.faults[phase](facts);
  if (verdict instanceof Promise) return verdict.then((resolved) => applyVerdict(exchange, resolved, facts));
  return applyVerdict(exchange, verdict, facts);
}

function applyVerdict(
  exchange: Exchange,
  verdict: FaultVerdict,
  facts: RequestFacts,
): undefined | Promise<void> {
  const { injection, reasons } = verdict;
  exchange.verdict = verdict;
  if (reasons.length > 0)
    exchange.reasons = exchange.reasons.length === 0 ? reasons : [...exchange.reasons, ...reasons];
  return injection === undefined ? undefined : inject(exchange, injection, facts);
}

async function inject(
  exchange: Exchange,
  { delay_ms, hold, decision, effect: plannedEffect }: Injection,
  facts: RequestFacts,
): Promise<void> {
  const isDryRun = exchange.dryRun !== undefined;
  const { world } = exchange.sandbox;
  const { generation } = world;
  if (delay_ms > 0 && !isDryRun) await waitForDelay(exchange, delay_ms);
  const held =
    hold === undefined || isDryRun
      ? undefined
      : await countWaiting(exchange, () => waitForRelease(exchange, hold, facts));
  let effect = held?.effect ?? plannedEffect;
  const wasReset = exchange.sandbox.world !== world;
  if (wasReset || world.generation !== generation) {
    const change = wasReset ? "reset" : "restored";
    if (wasReset) exchange.sandbox.held.replayProblem ??= "a request was delayed or held during the reset";
    if (effect === undefined && exchange.answer === undefined) {
      effect = UNAVAILABLE;
      exchange.reasons = [...exchange.reasons, `the sandbox was ${change} while the request waited`];
    }
  }
  // A 429 from here is not the fault's answer.
  if (effect !== undefined) countRequestOfServedPath(exchange, effect);
  if (!isDryRun && effect?.kind === "wire" && effect.wire.staysOpen)
    void countWaiting(exchange, () => whenAborted(exchange.request.signal));
  if (effect?.kind !== "override-refused") {
    const total_ms = delay_ms + (held?.held_ms ?? 0);
    exchange.fault = toAppliedFault(exchange.fault, { delay_ms: total_ms, decision, effect });
  }
  if (effect === undefined) {
    exchange.delayed_by = decision;
    return;
  }
  throw toEarlyResponse(exchange, decision, effect);
}

/** Adds up the delays of both phases, and names the later rule. */
function toAppliedFault(
  earlier: AppliedFault | undefined,
  { delay_ms, decision, effect }: Injection,
): AppliedFault {
  return {
    by: decision.slice("fault:".length),
    delay_ms: (earlier?.delay_ms ?? 0) + delay_ms,
    replaced: effect === undefined ? "nothing" : effect.kind === "wire" ? "connection" : "response",
  };
}

/**
 * Counts a request to a path that only a rule serves against the caller's rate limit, like a call of an operation.
 * @throws ApiError
 */
function countRequestOfServedPath(exchange: Exchange, effect: RequestEffect): void {
  const { routeError, identity } = exchange;
  if (routeError === undefined || effect.kind !== "raw" || identity === undefined || identity.refused) return;
  exchange.step = "rate-limit";
  countAgainstRate(exchange, identity);
  exchange.step = "fault";
}

/**
 * Maximum number of requests of one sandbox that wait at the same time: delayed by their own header, which needs no
 * credential, held, or left hanging by a wire fault.
 */
const MAX_WAITING_REQUESTS = 500;

/** Counts the request as waiting; refuses it like a full sandbox, since a later retry can succeed. @throws EarlyResponse */
function countWaiting<T>({ sandbox }: Exchange, wait: () => Promise<T>): Promise<T> {
  if (sandbox.waitingRequests >= MAX_WAITING_REQUESTS) {
    const detail = `${MAX_WAITING_REQUESTS} requests of this sandbox already wait: held, hanging or delayed, by a fault or X-Sandbox-Delay. Send the request again when some of them have ended.`;
    const limit = { limit: "held_requests", allowed: MAX_WAITING_REQUESTS, wanted: MAX_WAITING_REQUESTS + 1 };
    throw new EarlyResponse("limit", toProblemAnswer("limit-reached", detail, { status: 503, ...limit }));
  }
  sandbox.waitingRequests += 1;
  return wait().finally(() => {
    sandbox.waitingRequests -= 1;
  });
}

/** Limits the delays that requests set themselves; delays of rules are not limited. @throws EarlyResponse */
function waitForDelay(exchange: Exchange, delay_ms: number): Promise<void> {
  const wait = () => exchange.sandbox.delay(delay_ms);
  return exchange.request.headers["x-sandbox-delay"] === undefined ? wait() : countWaiting(exchange, wait);
}

/** Waits until the hold ends (interfaces.md 20); without an effect the request continues as if not held. @throws ClientGoneError */
async function waitForRelease(
  exchange: Exchange,
  hold: Hold<RequestEffect>,
  facts: RequestFacts,
): Promise<{ held_ms: number; effect: RequestEffect | undefined }> {
  const { sandbox, request, answer } = exchange;
  // The body is shown while the request waits, and Node detects that a client has left only after it was read.
  await facts.readBody();
  const phase = answer === undefined ? "before" : "after";
  const { held, journal } = sandbox;
  const sequenceBefore = journal.lastSequence;
  const heldRequest = { phase, message: toHeldMessage(exchange) } as const;
  const { by, outcome, held_ms, reason } = await held.hold(hold, heldRequest, request.signal);
  exchange.reasons = [...exchange.reasons, reason];
  if (outcome !== undefined) held.replayProblem ??= "a held request was released with another answer";
  else if (by !== "sandbox" && journal.lastSequence !== sequenceBefore)
    held.replayProblem ??= "others were answered while a request was held";
  const clientLeft = { kind: "wire", wire: CLIENT_LEFT, over_ms: 0, answer: undefined } as const;
  // After a reset or deletion the operation would change the next world.
  const releaseEffect = by === "sandbox" && phase === "before" ? UNAVAILABLE : outcome;
  return { held_ms, effect: by === "gone" ? clientLeft : releaseEffect };
}

/** For the journal: a client that left while its request was held has received no answer. */
const CLIENT_LEFT: WireFault = {
  name: "client left",
  shows_status: false,
  perform: async (wire) => wire.destroy(),
};

function toHeldMessage(exchange: Exchange): HeldMessage {
  const { answer } = exchange;
  const type = answer?.content_type && { "Content-Type": answer.content_type };
  return {
    id: exchange.id,
    at: exchange.at,
    operation: exchange.operation?.id ?? null,
    method: exchange.method,
    path: exchange.path,
    query: exchange.query,
    principal: exchange.identity?.principal.user_id ?? null,
    request_headers: exchange.request.rawHeaders,
    request_body: exchange.body,
    status: answer?.status ?? 0,
    response_headers: Object.entries({ ...answer?.headers, ...type }).flat(),
    response_body: answer?.body,
    delivery: undefined,
  };
}

/** The answer of a fault: the one that it defines, else the operation's if that has run and has a body, else a 503. */
function toEarlyResponse(exchange: Exchange, decision: string, effect: RequestEffect): EarlyResponse {
  if (effect.kind === "override-refused")
    return new EarlyResponse(decision, toProblemAnswer("override-refused", effect.detail));
  if (effect.kind !== "wire") return new EarlyResponse(decision, renderFaultAnswer(exchange, effect));
  const ended = effect.wire.staysOpen ? exchange.sandbox.ended : undefined;
  const wire = { fault: effect.wire, over_ms: effect.over_ms, ended };
  if (effect.answer !== undefined)
    return new EarlyResponse(decision, renderFaultAnswer(exchange, effect.answer), wire);
  // An answer without a body cannot be truncated or garbled, so a failure is sent instead.
  const { answer } = exchange;
  const hasNoBody = answer === undefined || (answer.body === undefined && answer.stream === undefined);
  return new EarlyResponse(decision, hasNoBody ? renderFaultAnswer(exchange, UNAVAILABLE) : answer, wire);
}

const UNAVAILABLE: FaultAnswer = { kind: "error", code: "HTTP_503", status: 503, headers: {} };

export const toUnavailableAnswer = (exchange: Exchange): Answer => renderFaultAnswer(exchange, UNAVAILABLE);

/** A catalogue code in the operation's envelope; a bare 503 is code `HTTP_503`, type `server_error` (interfaces.md 6). */
function renderFaultAnswer(exchange: Exchange, effect: FaultAnswer): Answer {
  if (effect.kind === "raw") {
    const { status, headers, body, content_type } = effect;
    return { status, headers, body, content_type };
  }
  const { code, details = {}, headers } = effect;
  const catalogued = Object.hasOwn(CATALOGUE, code) ? CATALOGUE[code as keyof typeof CATALOGUE] : undefined;
  const status = effect.status ?? catalogued?.status ?? 503;
  if (catalogued !== undefined) addRateState(exchange, code, status);
  exchange.code = code;
  const { type, message, system_message } = catalogued ?? describeStatus(status);
  const error = { code, status, type, message, system_message, details };
  return toErrorAnswer(exchange, { error, headers });
}

/** The texts of an error that has no code of the catalogue. */
function describeStatus(status: number) {
  if (status >= 500)
    return {
      type: "server_error",
      message: "The service is unavailable.",
      system_message: "The service could not answer; send the request again later.",
    } as const;
  const system_message = `The service answered with status ${status}.`;
  return { type: "client_error", message: "The request was refused.", system_message } as const;
}

/** Adds the rate headers of a refusal after authentication (G07), without counting the request. */
function addRateState(exchange: Exchange, code: string, status: number): void {
  const { identity, operation, sandbox, at } = exchange;
  if (identity === undefined || exchange.rate !== undefined) return;
  if (operation?.credentials === false || status === 401) return;
  const { key_id } = identity.principal;
  const limit = identity.requests_per_minute;
  const isExhausted = code === "RATE_LIMIT_EXCEEDED";
  exchange.rate = isExhausted
    ? sandbox.windows.getExhaustedState(key_id, limit, at)
    : sandbox.windows.getState(key_id, limit, at);
}
