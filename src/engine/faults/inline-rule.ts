import type { AnyOperation } from "../contract/operation.ts";
import { toValidator } from "../contract/validator.ts";
import { checkDocument } from "../documents/check-document.ts";
import {
  createInlineDocument,
  locateProblem,
  type ProblemDetails,
  throwProblems,
} from "../documents/user-document.ts";
import { checkRule, type RuleApi } from "./check-rule.ts";
import type { EffectDocument, EffectPlan } from "./effects/effect.ts";
import { type Rule, readRule } from "./rule.ts";
import { RuleDocument } from "./rule-document.ts";

/**
 * Reads one rule that was given as a value.
 * @throws DocumentError naming the field at fault and the nearest right word
 */
export function readInlineRule(value: unknown, api: RuleApi, newId: () => string): Rule {
  const rule = checkInlineRule(value, (one) => checkRule(one, [], api));
  return readRule(rule, rule.id ?? newId(), api.operations);
}

/**
 * Reads a rule that was valid once. Operations and events that it names may be gone; then it applies to none.
 * @throws DocumentError for anything else that is wrong
 */
export function readSavedRule(value: object, id: string, { operations }: RuleApi): Rule {
  const rule = checkInlineRule({ ...value, id }, (one) =>
    checkRule(one, [], { operations: [], events: [] }).filter(({ path }) => path[0] !== "match"),
  );
  return readRule(rule, id, operations);
}

function checkInlineRule(
  value: unknown,
  listProblems: (rule: RuleDocument) => ProblemDetails[],
): RuleDocument {
  const document = createInlineDocument(value, { file: "rule" });
  throwProblems(document, checkDocument(document, toValidator(RuleDocument)));
  const rule = value as RuleDocument;
  throwProblems(
    document,
    listProblems(rule).map((problem) => locateProblem(document, problem)),
  );
  return rule;
}

/** The input of a release (interfaces 20); empty: the request continues. */
export interface ReleaseDocument extends Pick<EffectDocument, "error" | "details" | "wire" | "over"> {
  answer?: Pick<EffectDocument, "status" | "headers" | "body">;
}

/**
 * Reads a release as the effect of a rule that hits only the held request or delivery. Undefined if the release is
 * empty.
 * @param operation that of the held request; undefined for a delivery
 * @throws DocumentError
 */
export function readRelease(
  { answer, ...rest }: ReleaseDocument,
  operation: AnyOperation | undefined,
): EffectPlan | undefined {
  const effect = { ...answer, ...rest };
  if (Object.keys(effect).length === 0) return undefined;
  const match = operation === undefined ? { webhook: "*" } : {};
  const api = { operations: operation === undefined ? [] : [operation], events: [] };
  return readInlineRule({ match, effect }, api, () => "release").effect;
}
