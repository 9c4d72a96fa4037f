import type { DeclaredApi } from "../../contract/declared-api.ts";
import { validatorOf } from "../../contract/validator.ts";
import { checkDocument } from "../../documents/check-document.ts";
import {
  inlineDocument,
  problemAt,
  throwProblems,
  type UserDocument,
} from "../../documents/read-document.ts";
import { checkRule } from "./check-rule.ts";
import { type Rule, readRule } from "./rule.ts";
import { RuleDocument } from "./rule-schema.ts";

/**
 * One rule that arrived as a value.
 * @throws DocumentError naming the field at fault and the nearest right word
 */
export function readInlineRule(value: unknown, api: DeclaredApi, newId: () => string): Rule {
  const document: UserDocument = inlineDocument(value, { file: "rule" });
  throwProblems(document, checkDocument(document, validatorOf(RuleDocument)));
  const rule = value as RuleDocument;
  throwProblems(
    document,
    checkRule(rule, [], api).map((problem) => problemAt(document, problem)),
  );
  return readRule(rule, rule.id ?? newId(), api.operations);
}
