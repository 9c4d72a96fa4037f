import { toValidator } from "../contract/validator.ts";
import { checkDocument } from "../documents/check-document.ts";
import {
  createInlineDocument,
  locateProblem,
  type ProblemDetails,
  throwProblems,
} from "../documents/user-document.ts";
import { checkRule, type RuleApi } from "./check-rule.ts";
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
