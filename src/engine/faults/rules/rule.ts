import { parseDuration } from "../../contract/duration.ts";
import type { AnyOperation } from "../../contract/operation.ts";
import { glob } from "../../documents/glob.ts";
import { codesOf, isCatalogueCode, parseCode } from "../codes.ts";
import { headersOf } from "../effects/answer-headers.ts";
import type { AnswerPlan, EffectPlan } from "../effects/effect.ts";
import { EFFECTS, wirePlan } from "../effects/index.ts";
import { type Criterion, criteriaOf, isDeliveryMatch, OUTSIDE, operationsOf, servedBy } from "./match.ts";
import type { RuleDocument } from "./rule-schema.ts";

/** When a rule that matches strikes; a sequence's `undefined` is `pass`. */
export type Schedule =
  | { kind: "always" }
  | { kind: "times"; times: number }
  | { kind: "every"; every: number }
  | { kind: "probability"; probability: number }
  | { kind: "sequence"; entries: readonly (AnswerPlan | undefined)[]; words: readonly string[] };

/** A checked rule, read once and shared by all sandboxes in which it is armed. */
export interface Rule {
  id: string;
  /** As it was written. */
  document: RuleDocument;
  phase: "before" | "after";
  schedule: Schedule;
  effect: EffectPlan;
  lease: { ttl_ms: number | undefined; hits: number | undefined };
  /** Undefined: a rule about deliveries. */
  operations: ReadonlySet<AnyOperation> | undefined;
  principal: string | undefined;
  criteria: readonly Criterion[];
  /** What the body must at least hold; undefined: it does not matter. */
  body: object | undefined;
  delivers: (event: string, webhook_id: string) => boolean;
}

/** A rule that can never strike is off; it costs a request nothing (interfaces 6: probability 0). */
export function isOff({ schedule }: Rule): boolean {
  return schedule.kind === "probability" && schedule.probability === 0;
}

/** Reads a rule that `checkRule` found nothing wrong with. */
export function readRule(document: RuleDocument, id: string, all: readonly AnyOperation[]): Rule {
  const { match = {}, effect: written = {}, lease = {}, phase = "before" } = document;
  const effect: EffectPlan = Object.assign({}, ...EFFECTS.map(({ read }) => read(written)));
  const wire = wirePlan(written);
  if (wire !== undefined) effect.wire = wire;
  const delivery = isDeliveryMatch(match);
  return {
    id,
    document,
    phase,
    schedule: scheduleOf(document),
    effect,
    lease: { ttl_ms: lease.ttl === undefined ? undefined : parseDuration(lease.ttl)!, hits: lease.hits },
    operations: delivery
      ? undefined
      : new Set([
          ...operationsOf(match, all).filter((one) => answers(one, effect.answer)),
          ...(servedBy(document) === undefined ? [] : [OUTSIDE]),
        ]),
    principal: match.principal,
    criteria: delivery ? [] : criteriaOf(match),
    body: match.body,
    delivers: delivery ? deliveriesOf(match.event, match.webhook) : () => false,
  };
}

/** interfaces 6: where the operation never answers the code, the rule passes, unless it is forced. */
export function answers(operation: AnyOperation, answer: AnswerPlan | undefined): boolean {
  return answer?.kind !== "code" || answer.forced || codesOf(operation).has(answer.code);
}

function scheduleOf({ sequence, times, every, probability, effect }: RuleDocument): Schedule {
  if (times !== undefined) return { kind: "times", times };
  if (every !== undefined) return { kind: "every", every };
  if (probability !== undefined) return { kind: "probability", probability };
  if (sequence === undefined) return { kind: "always" };
  const headers = headersOf(effect?.headers);
  return {
    kind: "sequence",
    words: sequence.map(String),
    entries: sequence.map((entry) => planOfEntry(entry, headers)),
  };
}

function planOfEntry(entry: string | number, headers: Record<string, string>): AnswerPlan | undefined {
  if (entry === "pass") return undefined;
  if (typeof entry === "number") return { kind: "status", status: entry, headers, body: undefined };
  const { code, forced } = parseCode(entry);
  if (!isCatalogueCode(code)) throw new Error(`unchecked code ${code}`);
  return { kind: "code", code, forced, details: {}, headers };
}

function deliveriesOf(event: string | undefined, webhook: string | undefined): Rule["delivers"] {
  const fits = event === undefined ? () => true : glob(event);
  return (name, id) => fits(name) && (webhook === undefined || webhook === id);
}
