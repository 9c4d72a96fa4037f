import { setTimeout as sleep } from "node:timers/promises";
import { CATALOGUE } from "../contract/errors.ts";
import { PROBLEM_TYPE, PROBLEMS } from "../contract/problems.ts";
import type { AnswerEffect, FaultFacts, InjectedEffect, Injection, Verdict } from "../sandbox/fault-gate.ts";
import { renderedAnswer } from "./answer.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { holdRequest, holdsOn, MAX_HELD_REQUESTS } from "./hold-request.ts";
import { RequestFacts } from "./request-facts.ts";

type WireEffect = Extract<InjectedEffect, { kind: "wire" }>;

/** A fault decided the answer; carries it past the rest of the line. */
export class EarlyResponse extends Error {
  readonly decision: string;
  readonly answer: Answer;
  readonly wire: WireEffect | undefined;

  constructor(decision: string, answer: Answer, wire?: WireEffect) {
    super(decision);
    this.decision = decision;
    this.answer = answer;
    this.wire = wire;
  }
}

/** interfaces 3: one request asks for its own fault. */
export function hasOverride(headers: Exchange["request"]["headers"]): boolean {
  return (
    headers["x-sandbox-fault"] !== undefined ||
    headers["x-sandbox-delay"] !== undefined ||
    (headers["prefer"] !== undefined && /\bcode\s*=/i.test(String(headers["prefer"])))
  );
}

/**
 * Lets the sandbox's faults strike. A delay alone only waits (on the wall clock, frozen or not). Returns
 * nothing to wait for where nothing strikes, which is the rule with a thousand faults armed.
 * @throws EarlyResponse when a fault answers in place of the operation
 */
export function injectFault(
  exchange: Exchange,
  phase: "before" | "after",
  answer?: Answer,
): Promise<void> | undefined {
  const facts: FaultFacts = new RequestFacts(exchange, exchange.sandbox.faults.outside);
  const verdict = exchange.sandbox.faults[phase](facts);
  if (verdict instanceof Promise) return verdict.then((found) => take(exchange, found, answer));
  return take(exchange, verdict, answer);
}

function take(exchange: Exchange, { injection: found, reasons }: Verdict, answer: Answer | undefined) {
  if (reasons.length > 0)
    exchange.reasons = exchange.reasons.length === 0 ? reasons : [...exchange.reasons, ...reasons];
  return found === undefined ? undefined : carryOut(exchange, found, answer);
}

async function carryOut(exchange: Exchange, found: Injection, answer: Answer | undefined): Promise<void> {
  if (found.delay_ms > 0) await wait(exchange, found.delay_ms);
  if (found.effect === undefined) {
    exchange.delayed_by = found.decision;
    return;
  }
  if (holdsOn(found.effect) && holdRequest(exchange, "closed") === undefined) throw tooManyHeld();
  throw earlyResponseOf(exchange, found.decision, { effect: found.effect, answer });
}

/** Rules wait for whoever armed them; what a request asks for itself is bounded. @throws EarlyResponse */
async function wait(exchange: Exchange, delay_ms: number): Promise<void> {
  const asked = exchange.request.headers["x-sandbox-delay"] !== undefined;
  const release = asked ? holdRequest(exchange, "released") : () => {};
  if (release === undefined) throw tooManyHeld();
  // Unreferenced: the client's connection keeps the server alive, a delay alone must not.
  await sleep(delay_ms, undefined, { ref: false });
  release();
}

/** Understudy's own refusal, as of a sandbox that is full: waiting helps here. */
function tooManyHeld(): EarlyResponse {
  const { title } = PROBLEMS["limit-reached"];
  const detail = `${MAX_HELD_REQUESTS} requests of this sandbox are held up already, by X-Sandbox-Delay or a fault that hangs. Send it again when some of them have ended.`;
  const body = JSON.stringify({
    ...{ type: `${PROBLEM_TYPE}limit-reached`, title, status: 503, detail },
    ...{ limit: "held_requests", allowed: MAX_HELD_REQUESTS, wanted: MAX_HELD_REQUESTS + 1 },
  });
  const answer = { status: 503, headers: {}, content_type: "application/problem+json", body };
  return new EarlyResponse("limit", answer);
}

/** What a fault answers; `answer` is the operation's own, where it has run. */
export function earlyResponseOf(
  exchange: Exchange,
  decision: string,
  { effect, answer }: { effect: InjectedEffect; answer: Answer | undefined },
): EarlyResponse {
  if (effect.kind === "refused") return new EarlyResponse(decision, refusal(effect));
  if (effect.kind !== "wire") return new EarlyResponse(decision, answerOf(exchange, effect));
  if (effect.answer !== undefined)
    return new EarlyResponse(decision, answerOf(exchange, effect.answer), effect);
  // What has no body cannot be cut short or spoilt, so it is a failure that the wire carries then.
  const bare = answer === undefined || (answer.body === undefined && answer.stream === undefined);
  return new EarlyResponse(decision, bare ? answerOf(exchange, UNAVAILABLE) : answer, effect);
}

const UNAVAILABLE: AnswerEffect = { kind: "error", code: "HTTP_503", status: 503, headers: {} };

/** Understudy's own refusal, never the emulated API's (interfaces 3). */
function refusal({ title, detail }: Extract<InjectedEffect, { kind: "refused" }>): Answer {
  return {
    status: 400,
    headers: {},
    content_type: "application/problem+json",
    body: JSON.stringify({ type: "urn:understudy:problem:override-refused", title, status: 400, detail }),
  };
}

/** A catalogue code in the operation's envelope; a bare 5xx is code `HTTP_503`, type `server_error` (interfaces 6). */
function answerOf(exchange: Exchange, effect: AnswerEffect): Answer {
  if (effect.kind === "raw") {
    const { status, headers, body, content_type } = effect;
    return { status, headers, body, content_type };
  }
  const { code, details = {}, headers } = effect;
  const known = Object.hasOwn(CATALOGUE, code) ? CATALOGUE[code as keyof typeof CATALOGUE] : undefined;
  const status = effect.status ?? known?.status ?? 503;
  if (known !== undefined) showRate(exchange, code, status);
  exchange.code = code;
  return renderedAnswer(exchange, {
    error: {
      code,
      status,
      type: known?.type ?? (status >= 500 ? "server_error" : "client_error"),
      message: known?.message ?? (status >= 500 ? "The service is unavailable." : "The request was refused."),
      system_message:
        known?.system_message ??
        (status >= 500
          ? "The service could not answer; send the request again later."
          : `The service answered with status ${status}.`),
      details,
    },
    headers,
  });
}

/** A refusal that comes after credentials carries rate headers (G07); a fault's counts nothing all the same. */
function showRate(exchange: Exchange, code: string, status: number): void {
  const { identity, operation, sandbox, at } = exchange;
  if (identity === undefined || exchange.rate !== undefined) return;
  if (operation?.credentials === false || status === 401) return;
  const { key_id } = identity.principal;
  const limit = identity.requests_per_minute;
  const spent = code === "RATE_LIMIT_EXCEEDED";
  exchange.rate = spent
    ? sandbox.windows.exhausted(key_id, limit, at)
    : sandbox.windows.peek(key_id, limit, at);
}
