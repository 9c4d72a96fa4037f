import type { ErrorObject } from "ajv";
import { nearest } from "./nearest.ts";

/** One branch of an `anyOf` or `oneOf` and what it had against the value; no errors: it fits. */
export interface Branch {
  schema: unknown;
  errors: readonly ErrorObject[];
}

export interface Place {
  data: unknown;
  instancePath: string;
}

/**
 * The errors that explain why none (or more than one) of the branches fits: those of the branch that was most
 * likely meant, or one that names all the choices when the value is too plain to tell.
 */
export function explainAlternatives(branches: readonly Branch[], place: Place): ErrorObject[] {
  const passing = branches.filter((branch) => branch.errors.length === 0);
  if (passing.length > 1) return [made("severalForms", { keys: keysOfForms(passing, place.data) }, place)];
  return wrongKind(branches, place) ?? choices(branches, place) ?? closest(branches, place);
}

// A property such as `type` tells the branches apart; when it fits none of them, nothing else is worth saying.
function wrongKind(branches: readonly Branch[], place: Place): ErrorObject[] | undefined {
  if (typeof place.data !== "object" || place.data === null) return undefined;
  const candidates = branches.filter((branch) => !refusesShape(branch, place));
  const tags = candidates.map((branch) => branch.errors.filter((error) => isTag(error, place)));
  const shared = tags[0]?.find((tag) =>
    tags.every((others) => others.some((other) => other.instancePath === tag.instancePath)),
  );
  if (shared === undefined || candidates.length < 2) return undefined;
  const values = tags.flatMap((errors) =>
    errors
      .filter((error) => error.instancePath === shared.instancePath)
      .map((error) => error.params.allowedValue),
  );
  return [{ ...shared, keyword: "enum", params: { allowedValues: [...new Set(values)] } }];
}

// A plain value, or one of the wrong shape for every branch: name what may stand here.
function choices(branches: readonly Branch[], place: Place): ErrorObject[] | undefined {
  const { instancePath, data } = place;
  const plain = typeof data !== "object" || data === null;
  const simple = branches.every(
    (branch) =>
      branch.errors.every((error) => error.instancePath === instancePath) &&
      (plain || refusesShape(branch, place)),
  );
  if (!simple) return undefined;
  const firsts = branches.flatMap((branch) => {
    const valued = branch.errors.find((error) => error.keyword === "const" || error.keyword === "enum");
    const nested = branch.errors.find((error) => error.keyword === "choices");
    return nested !== undefined ? (nested.params.errors as ErrorObject[]) : [valued ?? branch.errors[0]!];
  });
  return [made("choices", { errors: firsts }, place)];
}

function closest(branches: readonly Branch[], place: Place): ErrorObject[] {
  const scored = branches.map((branch) => ({ branch, score: score(branch, place) }));
  const best = Math.min(...scored.map((entry) => entry.score));
  const ties = scored.filter((entry) => entry.score === best).map((entry) => entry.branch);
  const missing = ties.map((branch) => onlyMissing(branch, place));
  if (ties.length > 1 && missing.every((key) => key !== undefined))
    return [made("requiredOneOf", { keys: [...new Set(missing)] }, place)];
  return [...ties[0]!.errors];
}

/** However much is wrong in a list of a million records, it was not meant as a number. */
const ANOTHER_KIND = 1e12;

// How far a value is from a branch. The weights only order the branches: another shape is furthest away, then
// another kind, then foreign and missing keys; a wrong value under the right key is the nearest.
function score(branch: Branch, place: Place): number {
  let sum = 0;
  for (const error of branch.errors) {
    if (error.instancePath !== place.instancePath) sum += isTag(error, place) ? 100 : 2;
    else if (error.keyword === "type") sum += ANOTHER_KIND;
    else if (error.keyword === "required") sum += 4;
    else if (error.keyword === "additionalProperties") sum += isSlip(error) ? 3 : 6;
    else sum += 2;
  }
  return sum;
}

function isSlip(error: ErrorObject): boolean {
  return nearest(String(error.params.additionalProperty), allowedKeys(error)) !== undefined;
}

function isTag(error: ErrorObject, place: Place): boolean {
  if (error.keyword !== "const" || !error.instancePath.startsWith(place.instancePath + "/")) return false;
  return !error.instancePath.slice(place.instancePath.length + 1).includes("/");
}

function refusesShape(branch: Branch, place: Place): boolean {
  return branch.errors.some((error) => error.keyword === "type" && error.instancePath === place.instancePath);
}

function onlyMissing(branch: Branch, place: Place): string | undefined {
  const [error, ...others] = branch.errors;
  if (error?.keyword !== "required" || others.length > 0) return undefined;
  return error.instancePath === place.instancePath ? String(error.params.missingProperty) : undefined;
}

/** The keys that the map at fault may have, as its schema declares them. */
export function allowedKeys(error: ErrorObject): string[] {
  const properties = (error.parentSchema as { properties?: object } | undefined)?.properties;
  return properties === undefined ? [] : Object.keys(properties);
}

function keysOfForms(passing: readonly Branch[], data: unknown): string[] {
  if (typeof data !== "object" || data === null) return [];
  const keys = passing.flatMap(({ schema }) => (schema as { required?: string[] }).required ?? []);
  return [...new Set(keys)].filter((key) => Object.hasOwn(data, key));
}

function made(keyword: string, params: Record<string, unknown>, place: Place): ErrorObject {
  return { keyword, params, instancePath: place.instancePath, schemaPath: "", data: place.data };
}
