import { parseDuration } from "../contract/duration.ts";
import type { DeclaredApi } from "../contract/event.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { toValidator } from "../contract/validator.ts";
import { checkDocument } from "../documents/check-document.ts";
import { glob } from "../documents/glob.ts";
import { inlineDocument, problemAt, throwProblems } from "../documents/read-document.ts";
import { checkRule } from "./check-rule.ts";
import { documentedCodes, isCatalogueCode, parseCode } from "./codes.ts";
import { toHeaders } from "./effects/answer.ts";
import type { AnswerPlan, EffectPlan } from "./effects/effect.ts";
import { EFFECTS, wirePlan } from "./effects/index.ts";
import {
  type Criterion,
  isDeliveryMatch,
  matchingOperations,
  OUTSIDE,
  servedBy,
  toCriteria,
} from "./match.ts";
import { RuleDocument } from "./rule-document.ts";

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
  /** The part that the body must contain; undefined: any body. */
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
    schedule: toSchedule(document),
    effect,
    lease: { ttl_ms: lease.ttl === undefined ? undefined : parseDuration(lease.ttl)!, hits: lease.hits },
    operations: delivery
      ? undefined
      : new Set([
          ...matchingOperations(match, all).filter((one) => answers(one, effect.answer)),
          ...(servedBy(document) === undefined ? [] : [OUTSIDE]),
        ]),
    principal: match.principal,
    criteria: delivery ? [] : toCriteria(match),
    body: match.body,
    delivers: delivery ? matchDeliveries(match.event, match.webhook) : () => false,
  };
}

/** interfaces 6: where the operation never answers the code, the rule passes, unless it is forced. */
export function answers(operation: AnyOperation, answer: AnswerPlan | undefined): boolean {
  return answer?.kind !== "code" || answer.forced || documentedCodes(operation).has(answer.code);
}

function toSchedule({ sequence, times, every, probability, effect }: RuleDocument): Schedule {
  if (times !== undefined) return { kind: "times", times };
  if (every !== undefined) return { kind: "every", every };
  if (probability !== undefined) return { kind: "probability", probability };
  if (sequence === undefined) return { kind: "always" };
  const headers = toHeaders(effect?.headers);
  return {
    kind: "sequence",
    words: sequence.map(String),
    entries: sequence.map((entry) => toAnswerPlan(entry, headers)),
  };
}

function toAnswerPlan(entry: string | number, headers: Record<string, string>): AnswerPlan | undefined {
  if (entry === "pass") return undefined;
  if (typeof entry === "number") return { kind: "status", status: entry, headers, body: undefined };
  const { code, forced } = parseCode(entry);
  if (!isCatalogueCode(code)) throw new Error(`unchecked code ${code}`);
  return { kind: "code", code, forced, details: {}, headers };
}

function matchDeliveries(event: string | undefined, webhook: string | undefined): Rule["delivers"] {
  const fits = event === undefined ? () => true : glob(event);
  return (name, id) => fits(name) && (webhook === undefined || webhook === id);
}

/**
 * One rule that arrived as a value.
 * @throws DocumentError naming the field at fault and the nearest right word
 */
export function readInlineRule(value: unknown, api: DeclaredApi, newId: () => string): Rule {
  const document = inlineDocument(value, { file: "rule" });
  throwProblems(document, checkDocument(document, toValidator(RuleDocument)));
  const rule = value as RuleDocument;
  throwProblems(
    document,
    checkRule(rule, [], api).map((problem) => problemAt(document, problem)),
  );
  return readRule(rule, rule.id ?? newId(), api.operations);
}
