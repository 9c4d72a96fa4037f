import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { ApiError } from "../contract/errors.ts";
import type { Identity } from "../contract/operation.ts";
import type { FaultGate, Verdict } from "../sandbox/fault-gate.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { toAnswer } from "./answer.ts";
import { type Answer, Exchange } from "./exchange.ts";
import { EarlyResponse, earlyResponseOf } from "./inject-fault.ts";
import { noteRefusal, type PipelineParts } from "./pipeline.ts";
import { RequestFacts } from "./request-facts.ts";
import * as step from "./steps.ts";

/** A request that is not sent. */
export interface RehearsedRequest {
  method: string;
  /** Without sandbox prefix and query. */
  path: string;
  /** Without its question mark. */
  query: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Why its path is not yet a whole one; what depends on it is not judged then. */
  incomplete: string | undefined;
}

const STEPS = [
  "route",
  "fault",
  "auth",
  "rate-limit",
  "validation",
  "access",
  "spending",
  "rule",
  "fault-after",
] as const;
export type StepName = (typeof STEPS)[number];

export interface StepWord {
  step: StepName;
  /** `decides` ends the line; `not judged`: it depends on what a rehearsal does not have. */
  outcome: "passes" | "decides" | "not judged" | "not reached";
  says: string;
}

/** What would come of a request. */
export interface Rehearsal {
  operation: string | null;
  /** As in X-Sandbox-Decision; null where it cannot be told. */
  decision: string | null;
  /** 0 where the client would see none. */
  status: number | null;
  code: string | null;
  principal: string | null;
  steps: StepWord[];
}

export type RehearsalParts = Pick<
  PipelineParts,
  "router" | "identify" | "requireBudget" | "refusal" | "formSpace" | "explainCredentials"
>;

/** Cut short where the rest depends on what a rehearsal does not have. */
class Unjudged extends Error {}

/**
 * The pipeline's line (pipeline.ts), gone along without anything happening: what is changed is changed in a look at
 * the world that is thrown away, rules count in copies, windows are looked at, and neither journal nor request
 * numbers notice. Faults do not wait.
 */
export async function rehearse(
  parts: RehearsalParts,
  { sandbox, faults }: { sandbox: Sandbox; faults: Pick<FaultGate, "before" | "after"> },
  request: RehearsedRequest,
): Promise<Rehearsal> {
  sandbox.world.catchUp();
  const exchange = exchangeOf(sandbox, request);
  const rehearsal = new Rehearsing(parts, exchange, { request, faults });
  let status: number | null;
  try {
    status = (await rehearsal.run()).status;
    exchange.decision ||= exchange.delayed_by ?? "ok";
  } catch (error) {
    status = await rehearsal.ended(error);
  }
  return {
    operation: exchange.operation?.id ?? null,
    decision: exchange.decision === "" ? null : exchange.decision,
    status,
    code: exchange.code,
    principal: exchange.identity?.principal.user_id ?? null,
    steps: rehearsal.words(),
  };
}

class Rehearsing {
  private readonly parts: RehearsalParts;
  private readonly exchange: Exchange;
  private readonly request: RehearsedRequest;
  private readonly faults: Pick<FaultGate, "before" | "after">;
  private readonly said = new Map<StepName, Pick<StepWord, "outcome" | "says">>();
  private at: StepName = "route";

  constructor(
    parts: RehearsalParts,
    exchange: Exchange,
    { request, faults }: { request: RehearsedRequest; faults: Pick<FaultGate, "before" | "after"> },
  ) {
    this.parts = parts;
    this.exchange = exchange;
    this.request = request;
    this.faults = faults;
  }

  /** @throws EarlyResponse, Unjudged, ApiError: what ends the line */
  async run(): Promise<Answer> {
    const { parts, exchange, request } = this;
    const { sandbox } = exchange;
    try {
      step.matchOperation(parts.router, exchange);
    } catch (error) {
      if (sandbox.faults.outside !== undefined) await this.askOutside();
      throw error;
    }
    const operation = exchange.operation!;
    this.passes(`${operation.method} ${operation.path} is ${operation.id}`);
    exchange.identity = await parts.identify(sandbox.world.read(), exchange.request.headers);
    exchange.organization = step.organizationOf(exchange);

    this.at = "fault";
    await this.askFaults("before", "no rule strikes before the change");

    this.enter("auth");
    step.judgeCredentials(exchange);
    if (operation.credentials === false) this.passes("the operation asks for no credential in a header");
    else
      this.passes(
        `${exchange.identity!.principal.user_id} calls, with ${exchange.identity!.principal.key_id}`,
      );
    this.enter("rate-limit");
    if (exchange.identity && operation.credentials !== false) this.countRequest(exchange.identity);
    else this.passes("nothing is counted for this operation before its body is read");

    this.enter("validation");
    if (request.incomplete !== undefined) throw new Unjudged(request.incomplete);
    if (operation.body?.kind === "multipart")
      throw new Unjudged("the operation takes a form, and what follows depends on its files");
    const call = await step.validateCall(exchange, parts.formSpace);
    if (operation.identify) {
      this.at = exchange.stage = "auth";
      exchange.identity = operation.identify(call.in(sandbox.world.read()));
      call.principal = exchange.identity.principal;
      exchange.organization = step.organizationOf(exchange);
      this.passes(`${call.principal.user_id} calls, with ${call.principal.key_id}, as the body says`);
      this.enter("rate-limit");
      this.countRequest(exchange.identity);
      this.at = "validation";
    }
    const { warnings } = exchange;
    this.passes(warnings.length === 0 ? "path, query and body are well-formed" : warnings.join("; "));

    const tx = sandbox.world.read();
    this.enter("access");
    const bound = call.in(tx);
    const loaded = operation.access?.(bound);
    this.passes(
      operation.access ? "what it names is there, and the caller may" : "the operation asks for no more",
    );
    if (operation.billable) {
      this.enter("spending");
      parts.requireBudget(tx, call.principal);
      this.passes("no spending limit is reached");
    } else this.say("spending", "passes", "the operation costs nothing");

    this.enter("rule");
    if (operation.prepare)
      throw new Unjudged(
        "the operation works on what it is sent before it answers, which a rehearsal does not do",
      );
    const value = operation.handle(bound, loaded, undefined);
    const full = parts.refusal?.(sandbox.world, tx);
    if (full !== undefined) throw new EarlyResponse("limit", full);
    const answer = toAnswer(operation, value);
    const then = operation.finish ? ", and then waits for what it sets in motion" : "";
    this.passes(`the operation answers ${answer.status}${then}`);

    this.at = "fault-after";
    await this.askFaults("after", "no rule strikes after the change", answer);
    return answer;
  }

  /** The status of what ended the line; undefined steps stay unreached. @throws what is a defect of ours */
  async ended(error: unknown): Promise<number | null> {
    const { exchange, at } = this;
    if (error instanceof Unjudged) {
      this.say(at, "not judged", error.message);
      return null;
    }
    if (error instanceof EarlyResponse) {
      exchange.decision = error.decision;
      if (error.decision === "limit") this.say(at, "decides", "the sandbox would grow beyond its limits");
      if (error.wire === undefined || error.wire.wire.shows_status) return error.answer.status;
      exchange.code = null;
      return 0;
    }
    if (!(error instanceof ApiError)) throw error;
    exchange.decision = exchange.stage;
    exchange.code = error.code;
    await noteRefusal(this.parts, exchange, error);
    this.say(at, "decides", exchange.reasons.at(-1)!);
    return error.status;
  }

  words(): StepWord[] {
    return STEPS.map((name) => ({
      step: name,
      ...(this.said.get(name) ?? { outcome: "not reached", says: "" }),
    }));
  }

  private enter(stage: Exchange["stage"]): void {
    this.exchange.stage = stage;
    this.at = stage;
  }

  private passes(says: string): void {
    this.say(this.at, "passes", says);
  }

  private say(name: StepName, outcome: StepWord["outcome"], says: string): void {
    this.said.set(name, { outcome, says });
  }

  /** @throws EarlyResponse */
  private async askFaults(phase: "before" | "after", otherwise: string, answer?: Answer): Promise<void> {
    const { exchange } = this;
    const { injection, reasons }: Verdict = await this.faults[phase](
      new RequestFacts(exchange, exchange.sandbox.faults.outside),
    );
    const why = reasons.join("; ");
    if (injection === undefined) return this.passes(why === "" ? otherwise : why);
    if (injection.effect === undefined) {
      exchange.delayed_by = injection.decision;
      return this.passes(`${why}; it only waits`);
    }
    this.say(this.at, "decides", why);
    throw earlyResponseOf(exchange, injection.decision, { effect: injection.effect, answer });
  }

  /** A path of no operation, where rules may answer by themselves. @throws EarlyResponse */
  private async askOutside(): Promise<void> {
    const { exchange, parts } = this;
    exchange.identity = await parts.identify(exchange.sandbox.world.read(), exchange.request.headers);
    exchange.organization = step.organizationOf(exchange);
    this.passes("no operation has the path; rules that answer by themselves are asked");
    this.at = "fault";
    await this.askFaults("before", "no rule answers there");
    this.at = "route";
  }

  /** Looks at the window, counting nothing. @throws ApiError RATE_LIMIT_EXCEEDED */
  private countRequest({ principal, requests_per_minute }: Identity): void {
    const { sandbox, at } = this.exchange;
    const rate = sandbox.windows.peek(principal.key_id, requests_per_minute, at);
    step.requireRate(this.exchange, principal, rate);
    this.passes(`${rate.remaining} of ${rate.limit} requests of this minute are left`);
  }
}

function exchangeOf(sandbox: Sandbox, { method, path, query, headers, body }: RehearsedRequest): Exchange {
  const request = new IncomingMessage(new Socket());
  request.method = method;
  request.url = query === "" ? path : `${path}?${query}`;
  request.headers = { ...headers };
  if (body.length > 0) request.push(body);
  request.push(null);
  const arrival = { request, response: new ServerResponse(request), path, query, prefixed: false };
  const exchange = new Exchange(sandbox, arrival);
  // The number that it took is the next request's again.
  sandbox.world.requests = exchange.number;
  return exchange;
}
