import type { AnyOperation } from "../../contract/operation.ts";
import type { ProblemDetails } from "../../documents/read-document.ts";
import { isCatalogueCode, nearestCode } from "../codes.ts";
import { globProblem, patternProblem } from "../rules/check-match.ts";
import type { ExpectDocument } from "../rules/rule-schema.ts";

/**
 * What is wrong with a well-formed expectation. A word that no journal can hold would make `count: 0` true for
 * ever, so it is refused; `at` is the expectation's place in the document.
 */
export function checkExpectation(
  { match, count }: ExpectDocument,
  at: readonly (string | number)[],
  operations: readonly AnyOperation[],
): ProblemDetails[] {
  const { operation, path, code } = match;
  const found: ProblemDetails[] = [];
  const ids = operations.map(({ id }) => id);
  const ofOperation = operation === undefined ? undefined : patternProblem(operation, "operation", ids);
  if (ofOperation !== undefined) found.push({ path: [...at, "match", "operation"], ...ofOperation });
  const ofPath = path === undefined ? undefined : globProblem(path);
  if (ofPath !== undefined) found.push({ path: [...at, "match", "path"], ...ofPath });
  // A bare status of a rule stands in the journal as HTTP_503 and the like (interfaces 6).
  if (code !== undefined && !isCatalogueCode(code) && !/^HTTP_[1-5]\d\d$/.test(code)) {
    const message = `${JSON.stringify(code.slice(0, 80))} is no code of the catalogue`;
    found.push({ path: [...at, "match", "code"], message, hint: nearestCode(code, operations) });
  }
  if (typeof count === "object" && (count.min ?? 0) > (count.max ?? Number.POSITIVE_INFINITY)) {
    found.push({ path: [...at, "count"], message: "`count.min` must not be above `count.max`" });
  }
  return found;
}
