import type { ErrorObject } from "ajv";
import { describeFormat } from "../contract/invalid-field.ts";
import { clip, findNearest, joinWords, pluralize } from "../contract/text.ts";

/** An error of a schema, in words for the author of the document. */
interface Explanation {
  /** Comes after the path of the value: `must be an integer, not the text "abc"`. */
  message: string;
  hint?: string | undefined;
  /** The key at fault, if it is not the value as a whole. */
  key?: string;
}

type Explain = (error: ErrorObject) => Explanation;

const EXPLANATIONS: Readonly<Record<string, Explain>> = {
  type: (error) => explainExpected(getNoun(error) ?? describeType(error.params.type), error),
  const: (error) => explainChoices([error], error),
  enum: (error) => explainChoices([error], error),
  choices: (error) => explainChoices(error.params.errors, error),
  required: (error) => ({ message: `needs \`${error.params.missingProperty}\`` }),
  requiredOneOf: (error) => ({ message: `needs ${joinWords(error.params.keys.map(quoteKey), "or")}` }),
  severalForms: (error) => ({
    message:
      error.params.keys.length > 1
        ? `may have only one of ${joinWords(error.params.keys.map(quoteKey), "and")}`
        : "fits more than one of its forms; leave out what belongs to the other",
  }),
  additionalProperties: (error) => explainUnknownKey(error, error.params.additionalProperty),
  unevaluatedProperties: (error) => explainUnknownKey(error, error.params.unevaluatedProperty),
  propertyNames: (error) => {
    const { propertyName: key } = error.params;
    const { enum: knownKeys = [], title } = (error.schema ?? {}) as { enum?: string[]; title?: string };
    const form = title === undefined ? "" : `; a key is ${title}`;
    return {
      message: `may not have the key ${quoteKey(key)}${form}`,
      hint: findNearest(key, knownKeys),
      key,
    };
  },
  dependentRequired: explainDependentKey,
  dependencies: explainDependentKey,
  minimum: (error) => explainExpected(`at least ${error.params.limit}`, error),
  maximum: (error) => explainExpected(`at most ${error.params.limit}`, error),
  exclusiveMinimum: (error) => explainExpected(`more than ${error.params.limit}`, error),
  exclusiveMaximum: (error) => explainExpected(`less than ${error.params.limit}`, error),
  multipleOf: (error) => explainExpected(`a multiple of ${error.params.multipleOf}`, error),
  minLength: (error) => explainExpected(`at least ${pluralize(error.params.limit, "character")} long`, error),
  maxLength: (error) => explainExpected(`at most ${pluralize(error.params.limit, "character")} long`, error),
  minItems: (error) => ({ message: `must have at least ${pluralize(error.params.limit, "item")}` }),
  maxItems: (error) => ({ message: `may have at most ${pluralize(error.params.limit, "item")}` }),
  minProperties: (error) => ({ message: `must have at least ${pluralize(error.params.limit, "key")}` }),
  maxProperties: (error) => ({ message: `may have at most ${pluralize(error.params.limit, "key")}` }),
  uniqueItems: (error) => ({
    message: `may have each item once; items ${error.params.j} and ${error.params.i} are the same`,
  }),
  pattern: (error) =>
    explainExpected(
      getTitle(error) ?? describeExample(error) ?? `a text that matches ${error.params.pattern}`,
      error,
    ),
  format: (error) =>
    explainExpected(getTitle(error) ?? describeFormat(error.params.format, error.data), error),
  not: (error) => explainForbidden(error),
  "false schema": () => ({ message: "is not allowed here" }),
};

/** The message for one error of ajv (run with `verbose`); by default ajv's own. */
export function explain(error: ErrorObject): Explanation {
  const explainKeyword = EXPLANATIONS[error.keyword];
  return explainKeyword ? explainKeyword(error) : { message: error.message ?? "is not valid" };
}

function explainExpected(expected: string, error: ErrorObject): Explanation {
  return { message: `must be ${expected}${describeMismatch(error)}` };
}

// Without `verbose` ajv does not report the value.
function describeMismatch(error: ErrorObject): string {
  return "data" in error ? `, not ${describeGivenValue(error.data)}` : "";
}

function explainChoices(errors: readonly ErrorObject[], place: ErrorObject): Explanation {
  const values = errors.flatMap(listAllowedValues);
  const kinds = errors.filter((error) => listAllowedValues(error).length === 0).map(describeKind);
  const all = [...new Set([...shortenList(values.map(quoteValue)), ...kinds])];
  return {
    ...explainExpected(joinWords(all, "or"), place),
    hint: findHint(values, place.data),
  };
}

export function listAllowedValues(error: ErrorObject): unknown[] {
  if (error.keyword === "const") return [error.params.allowedValue];
  return error.keyword === "enum" ? error.params.allowedValues : [];
}

function describeKind(error: ErrorObject): string {
  const noun = getNoun(error);
  if (noun !== undefined) return noun;
  if (error.keyword === "type") return describeType(error.params.type);
  return explain(error)
    .message.replace(/^must be /, "")
    .replace(describeMismatch(error), "");
}

function findHint(values: readonly unknown[], data: unknown): string | undefined {
  if (typeof data !== "string") return undefined;
  return findNearest(
    data,
    values.filter((value) => typeof value === "string"),
  );
}

function explainUnknownKey(error: ErrorObject, key: string): Explanation {
  const allowed = listAllowedKeys(error);
  const hint = findNearest(key, allowed);
  const list =
    hint === undefined && allowed.length > 0
      ? `; it may have ${joinWords(shortenList(allowed.map(quoteKey)), "and")}`
      : "";
  return { message: `may not have the key ${quoteKey(key)}${list}`, hint, key };
}

function explainDependentKey({ params }: ErrorObject): Explanation {
  return { message: `needs ${quoteKey(params.missingProperty)} beside ${quoteKey(params.property)}` };
}

function explainForbidden(error: ErrorObject): Explanation {
  const keys = (error.schema as { required?: string[] } | undefined)?.required;
  if (keys === undefined || keys.length === 0) return { message: "is not allowed like this" };
  if (keys.length === 1) return { message: `may not have the key ${quoteKey(keys[0]!)} here`, key: keys[0]! };
  return { message: `may not have ${joinWords(keys.map(quoteKey), "and")} together` };
}

// The title of a schema with a pattern says more than the pattern ("a duration such as 90s").
function getTitle({ parentSchema }: ErrorObject): string | undefined {
  return (parentSchema as { title?: string } | undefined)?.title;
}

/** The title of a schema if it describes a value: it may also be the name of a document. */
function getNoun(error: ErrorObject): string | undefined {
  const title = getTitle(error);
  return title !== undefined && /^an? /.test(title) ? title : undefined;
}

/** Describes ids of the API, which have an example in place of a title. */
function describeExample({ parentSchema }: ErrorObject): string | undefined {
  const [example] = (parentSchema as { examples?: unknown[] } | undefined)?.examples ?? [];
  return typeof example === "string" ? `a text such as ${example}` : undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  null: "null",
};

function describeType(type: string | readonly string[]): string {
  const types = typeof type === "string" ? type.split(",") : type;
  return joinWords(
    types.map((name) => TYPES[name] ?? name),
    "or",
  );
}

function describeGivenValue(value: unknown): string {
  if (typeof value === "string") return value === "" ? "an empty text" : `the text ${quoteValue(value)}`;
  if (typeof value === "number") return `the number ${value}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return typeof value === "object" && value !== null ? "a map" : String(value);
}

function quoteValue(value: unknown): string {
  return clip(JSON.stringify(value) ?? String(value), 60);
}

function quoteKey(key: string): string {
  return `\`${clip(key, 60)}\``;
}

const MAX_LISTED_WORDS = 12;

function shortenList(words: readonly string[]): string[] {
  if (words.length <= MAX_LISTED_WORDS) return [...words];
  return [...words.slice(0, MAX_LISTED_WORDS), `${words.length - MAX_LISTED_WORDS} others`];
}

/** The keys that the schema declares for this map. */
export function listAllowedKeys(error: ErrorObject): string[] {
  const properties = (error.parentSchema as { properties?: object } | undefined)?.properties;
  return properties === undefined ? [] : Object.keys(properties);
}
