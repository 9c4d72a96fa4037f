import type { ErrorObject } from "ajv";
import { DATE_FORM, describeInstantForms, describeTimeForms } from "./instant.ts";
import { MIME_TYPE, URL_PATTERN } from "./schema.ts";

/** The field that a schema refuses, for the client of an API (G08). */
export interface InvalidField {
  field: string;
  /** The same as a JSON pointer. */
  pointer: string;
  /** As it was sent; null if it is missing. */
  value: unknown;
  /** Follows the field: `is required`. */
  message: string;
}

/**
 * If all alternatives fail, the error at the deepest place explains most; of several errors there, that of an
 * alternative whose type fits.
 */
export function findInvalidField(value: unknown, errors: readonly ErrorObject[]): InvalidField {
  let best = errors[0]!;
  for (const error of errors) {
    if (error.keyword === "anyOf" || error.keyword === "oneOf") continue;
    const extraDepth = getDepth(error) - getDepth(best);
    const hasBetterType = best.keyword === "type" && error.keyword !== "type";
    if (extraDepth > 0 || (extraDepth === 0 && hasBetterType)) best = error;
  }
  const pointer = findPointer(best);
  const fieldValue = getValue(value, pointer);
  const message =
    best.keyword === "type" ? `must be ${listTypes(errors, best.instancePath)}` : toMessage(best, fieldValue);
  return { field: toFieldName(pointer), pointer, value: fieldValue, message };
}

export const TOO_LARGE = "is too large to be represented exactly";

/**
 * The same for values that were read from texts: an integer that JavaScript would round is refused as in JSON (G08).
 */
export function findInvalidFieldOfTexts(value: unknown, errors: readonly ErrorObject[]): InvalidField {
  const invalid = findInvalidField(value, errors);
  const asksForNumber = errors.some(
    ({ keyword, instancePath, params }) =>
      keyword === "type" &&
      instancePath === invalid.pointer &&
      [params["type"]].flat().some((type) => type === "integer" || type === "number"),
  );
  const { value: sent } = invalid;
  const isNumber = typeof sent === "number" || (typeof sent === "string" && DECIMAL.test(sent));
  return asksForNumber && isNumber && isInexact(Number(sent)) ? { ...invalid, message: TOO_LARGE } : invalid;
}

const DECIMAL = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** The number that a text writes; undefined for any other text, and for an integer beyond 2^53 (G08). */
export function parseNumber(text: string): number | undefined {
  const value = Number(text);
  return DECIMAL.test(text) && !isInexact(value) ? value : undefined;
}

/** Whether a number is an integer beyond 2^53, which JavaScript may have rounded, or infinite. */
export function isInexact(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

function getDepth(error: ErrorObject): number {
  return error.instancePath.split("/").length + (error.keyword === "required" ? 1 : 0);
}

/** The types that the alternatives at a place ask for. */
function listTypes(errors: readonly ErrorObject[], place: string): string {
  const failed = errors.filter(({ keyword, instancePath }) => keyword === "type" && instancePath === place);
  return [...new Set(failed.flatMap(({ params }) => params["type"] as string | string[]))].join(" or ");
}

function toMessage({ keyword, params, message }: ErrorObject, value: unknown): string {
  if (keyword === "format") return `must be ${describeFormat(params["format"], value)}`;
  if (keyword === "pattern") return `must ${describePattern(String(params["pattern"]))}`;
  if (keyword === "required") return "is required";
  if (keyword === "enum") return `must be one of ${(params["allowedValues"] as unknown[]).join(", ")}`;
  if (keyword === "const") return `must be ${JSON.stringify(params["allowedValue"])}`;
  if (keyword === "additionalProperties") return "is not known";
  if (keyword === "contains" && params["minContains"] === 0)
    return `must NOT have more than ${params["maxContains"]} items of one kind`;
  return message ?? "is invalid";
}

/** The name of an ajv format in messages. */
export function describeFormat(format: string, value: unknown): string {
  if (format === "email") return "an e-mail address such as ada@example.test";
  if (format === "uri") return "an absolute URL such as https://app.example.test";
  if (format === "date-time") return describeTimeForms(value);
  if (format === "date") return DATE_FORM;
  return format === "date-or-instant" ? describeInstantForms(value) : `a text in the format ${format}`;
}

/** A pattern in words, if it is one of ours. */
function describePattern(pattern: string): string {
  if (pattern === URL_PATTERN) return "be an absolute http or https URL";
  if (pattern === MIME_TYPE) return "be a media type such as text/plain";
  const [, prefixes, length] =
    /^\^(?:\(?([a-z|]+|\[a-z\]\+)\)?_)?\[A-Za-z0-9_-\]\{1,(\d+)\}\$$/.exec(pattern) ?? [];
  if (length === undefined) return `match pattern "${pattern}"`;
  const characters = `1 to ${length} letters, digits, hyphens or underscores`;
  if (prefixes === undefined) return `be ${characters}`;
  const begins =
    prefixes === "[a-z]+" ? ["a prefix such as usr_"] : prefixes.split("|").map((one) => `${one}_`);
  return `be ${begins.join(" or ")} and ${characters}`;
}

/** A JSON pointer to the place of an error, even if the value is missing. */
function findPointer({ instancePath, keyword, params }: ErrorObject): string {
  if (keyword === "required") return appendStep(instancePath, params["missingProperty"]);
  if (keyword === "additionalProperties") return appendStep(instancePath, params["additionalProperty"]);
  return instancePath;
}

/** A JSON pointer one step deeper. */
export function appendStep(pointer: string, key: string): string {
  return `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Writes a path as a JSON pointer. */
export function toPointer(path: readonly (string | number)[]): string {
  return path.reduce<string>((above, step) => appendStep(above, String(step)), "");
}

/** @param decode for a pointer that is part of a URL */
export function toSteps(pointer: string, decode = (step: string) => step): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => decode(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** `/inputs/0/role` becomes `inputs[0].role` (G08); an error of the whole document is `body`. */
export function toFieldName(pointer: string): string {
  if (pointer === "") return "body";
  return toSteps(pointer).reduce(
    (name, part) => (/^\d+$/.test(part) ? `${name}[${part}]` : name === "" ? part : `${name}.${part}`),
    "",
  );
}

/** The value that a JSON pointer names; null if it is missing. */
export function getValue(document: unknown, pointer: string): unknown {
  let value = document;
  for (const step of toSteps(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return null;
    value = (value as Record<string, unknown>)[step];
  }
  return value ?? null;
}
