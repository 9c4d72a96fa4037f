import type { ErrorObject } from "ajv";
import { findNearest } from "../contract/text.ts";
import { listAllowedKeys, listAllowedValues } from "./schema-message.ts";

/** One branch of an `anyOf` or `oneOf` with its errors; a branch that fits has none. */
interface Branch {
  schema: unknown;
  errors: readonly ErrorObject[];
}

/**
 * The errors that explain why none (or more than one) of the branches fits: those of the branch that was most
 * likely meant, or one error that names all choices if the value does not show which branch was meant. `union` is the error
 * of the `anyOf` or `oneOf`.
 */
export function explainAlternatives(branches: readonly Branch[], union: ErrorObject): ErrorObject[] {
  const fitting = branches.filter((branch) => branch.errors.length === 0);
  if (fitting.length > 1)
    return [createError("severalForms", { keys: listFormKeys(fitting, union.data) }, union)];
  return (
    explainWrongTag(branches, union) ?? explainChoices(branches, union) ?? explainClosest(branches, union)
  );
}

// A tag is a property such as `type`, which selects the branch. If its value fits no branch, only that is reported.
function explainWrongTag(branches: readonly Branch[], union: ErrorObject): ErrorObject[] | undefined {
  if (isScalar(union.data)) return undefined;
  const candidates = branches.filter((branch) => !hasWrongType(branch, union));
  const tagErrors = candidates.map((branch) => branch.errors.filter((error) => isTag(error, union)));
  const commonTagError = tagErrors[0]?.find(({ instancePath }) =>
    tagErrors.every((errors) => errors.some((error) => error.instancePath === instancePath)),
  );
  if (commonTagError === undefined || candidates.length < 2) return undefined;
  const values = tagErrors
    .flat()
    .filter((error) => error.instancePath === commonTagError.instancePath)
    .map((error) => error.params.allowedValue);
  return [{ ...commonTagError, keyword: "enum", params: { allowedValues: [...new Set(values)] } }];
}

// A scalar, or a value of the wrong type for every branch, whose errors are all about the value as a whole: lists the allowed
// values.
function explainChoices(branches: readonly Branch[], union: ErrorObject): ErrorObject[] | undefined {
  const { instancePath, data } = union;
  const concernsWholeValue = branches.every(
    (branch) =>
      branch.errors.every((error) => error.instancePath === instancePath) &&
      (isScalar(data) || hasWrongType(branch, union)),
  );
  if (!concernsWholeValue) return undefined;
  const mainErrors = branches.flatMap((branch) => {
    const choicesError = branch.errors.find((error) => error.keyword === "choices");
    if (choicesError !== undefined) return choicesError.params.errors as ErrorObject[];
    return (
      branch.errors.find(({ keyword }) => keyword === "const" || keyword === "enum") ?? branch.errors[0]!
    );
  });
  return [createError("choices", { errors: mainErrors }, union)];
}

function explainClosest(branches: readonly Branch[], union: ErrorObject): ErrorObject[] {
  const scored = branches.map((branch) => ({ branch, score: scoreBranch(branch, union) }));
  const best = Math.min(...scored.map((entry) => entry.score));
  const ties = scored.filter((entry) => entry.score === best).map((entry) => entry.branch);
  const missing = ties.map((branch) => findOnlyMissingKey(branch, union));
  if (ties.length > 1 && missing.every((key) => key !== undefined))
    return [createError("requiredOneOf", { keys: [...new Set(missing)] }, union)];
  return [...ties[0]!.errors];
}

/** Outweighs all other errors: a list with many errors is still nearer to a list than to a number. */
const WRONG_TYPE_SCORE = 1e12;

// Scores how far a value is from a branch. The weights only order the branches: a wrong type is furthest away, then a
// wrong tag, then unknown and missing keys; a wrong value under a known key is nearest.
function scoreBranch(branch: Branch, union: ErrorObject): number {
  let sum = 0;
  for (const error of branch.errors) {
    if (error.instancePath !== union.instancePath) sum += isTag(error, union) ? 100 : 2;
    else if (isWrongType(error)) sum += WRONG_TYPE_SCORE;
    else if (error.keyword === "required") sum += 4;
    else if (error.keyword === "additionalProperties") sum += isMistypedKey(error) ? 3 : 6;
    else sum += 2;
  }
  return sum;
}

function isMistypedKey(error: ErrorObject): boolean {
  return findNearest(String(error.params.additionalProperty), listAllowedKeys(error)) !== undefined;
}

function isTag(error: ErrorObject, union: ErrorObject): boolean {
  if (error.keyword !== "const" || !error.instancePath.startsWith(union.instancePath + "/")) return false;
  return !error.instancePath.slice(union.instancePath.length + 1).includes("/");
}

function hasWrongType(branch: Branch, union: ErrorObject): boolean {
  return branch.errors.some((error) => error.instancePath === union.instancePath && isWrongType(error));
}

// Whether the value has another type than the branch. A schema that allows only `true` refuses a map just as
// `type: boolean` does.
function isWrongType(error: ErrorObject): boolean {
  if (error.keyword === "choices") return (error.params.errors as ErrorObject[]).every(isWrongType);
  const values = listAllowedValues(error);
  return (
    error.keyword === "type" ||
    (values.length > 0 && values.every((value) => isScalar(value) !== isScalar(error.data)))
  );
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function findOnlyMissingKey(branch: Branch, union: ErrorObject): string | undefined {
  const [error, ...others] = branch.errors;
  if (error?.keyword !== "required" || others.length > 0) return undefined;
  return error.instancePath === union.instancePath ? String(error.params.missingProperty) : undefined;
}

function listFormKeys(fitting: readonly Branch[], data: unknown): string[] {
  if (typeof data !== "object" || data === null) return [];
  const keys = fitting.flatMap(({ schema }) => (schema as { required?: string[] }).required ?? []);
  return [...new Set(keys)].filter((key) => Object.hasOwn(data, key));
}

/** An error with a keyword of our own, which schema-message.ts explains. */
function createError(
  keyword: string,
  params: Record<string, unknown>,
  { data, instancePath, schemaPath }: ErrorObject,
): ErrorObject {
  return { keyword, params, data, instancePath, schemaPath };
}
