import { OwnOperationError } from "../contract/errors.ts";
import { findNearest } from "../contract/text.ts";

type Schema = Record<string, unknown>;

const BOUNDS = [
  ["minLength", "maxLength"],
  ["minimum", "maximum"],
  ["minItems", "maxItems"],
] as const;

const KEYWORDS = `
  type enum const default examples example title description deprecated readOnly writeOnly nullable
  minLength maxLength pattern format contentEncoding contentMediaType contentSchema
  minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
  items prefixItems additionalItems contains minItems maxItems minContains maxContains uniqueItems unevaluatedItems
  properties required additionalProperties patternProperties propertyNames minProperties maxProperties
  dependentRequired dependentSchemas dependencies unevaluatedProperties definitions
  anyOf oneOf allOf not if then else
`
  .trim()
  .split(/\s+/);
/** Options of the functions that make schemas, where they are not keywords. */
const OPTIONS = ["min", "max", "belongsTo", "mentions"];
/** `$ref` and its like, extensions, and what TypeBox adds. */
const OTHER_KEY = /^([$~]|x-)/;
const MAX_LEVELS = 100;

/** Refuses keys that a declaration does not have, as a compiler would. @throws OwnOperationError */
export function checkKeys(
  value: object,
  keys: readonly string[],
  declaration: { noun: string; name: string },
): void {
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown === undefined) return;
  const nearest = findNearest(unknown, keys);
  const hint = nearest === undefined ? `; there are ${keys.join(", ")}` : ` (did you mean ${nearest}?)`;
  throw new OwnOperationError(
    `${declaration.noun} ${declaration.name} has the unknown key ${unknown}${hint}`,
    { subject: declaration.name },
  );
}

/**
 * Refuses declared fields that are not schemas, or that no value fits.
 * @param declaration for the message
 * @throws OwnOperationError
 */
export function checkFields(fields: object, declaration: { noun: string; name: string }): void {
  for (const [name, field] of Object.entries(fields)) checkField(field, name, declaration);
}

function checkField(
  field: unknown,
  name: string,
  declaration: { noun: string; name: string },
  level = 0,
): void {
  const { noun, name: subject } = declaration;
  const createError = (problem: string) =>
    new OwnOperationError(`${noun} ${subject}: ${name} ${problem}`, { subject });
  if (typeof field !== "object" || field === null || Array.isArray(field))
    throw createError(`is ${JSON.stringify(field) ?? typeof field}, not a schema such as string()`);
  if (level > MAX_LEVELS)
    throw new OwnOperationError(`${noun} ${subject} has more than ${MAX_LEVELS} levels`, { subject });
  const schema = field as Schema;
  const unknown = Object.keys(schema).find((key) => !KEYWORDS.includes(key) && !OTHER_KEY.test(key));
  if (unknown !== undefined) {
    const nearest = findNearest(unknown, [...OPTIONS, ...KEYWORDS]);
    throw createError(
      `has the unknown option ${unknown}${nearest === undefined ? "" : ` (did you mean ${nearest}?)`}`,
    );
  }
  for (const [low, high] of BOUNDS)
    if ((schema[low] as number) > (schema[high] as number))
      throw createError(`fits no value: its minimum is ${schema[low]}, and its maximum ${schema[high]}`);
  if (Array.isArray(schema["enum"]) && schema["enum"].length === 0)
    throw createError("fits no value: it lists none");
  const { properties, items, anyOf, pattern = "" } = schema;
  try {
    new RegExp(String(pattern), "u");
  } catch {
    throw createError(`has the pattern ${JSON.stringify(pattern)}, which JavaScript cannot read`);
  }
  const checkPart = (part: unknown, partName: string) => checkField(part, partName, declaration, level + 1);
  if (typeof properties === "object" && properties !== null)
    for (const [propertyName, property] of Object.entries(properties))
      checkPart(property, `${name}.${propertyName}`);
  if (items !== undefined) checkPart(items, `${name}[]`);
  if (Array.isArray(anyOf)) for (const part of anyOf) checkPart(part, name);
}

/** Refuses parameters whose values a text cannot express. @throws OwnOperationError */
export function checkParameters(
  parameters: object,
  { allowsLists }: { allowsLists: boolean },
  { noun, name: subject }: { noun: string; name: string },
): void {
  for (const [name, field] of Object.entries(parameters)) {
    const { type, items = {} } = field as { type?: unknown; items?: { type?: unknown } };
    const valueType = type === "array" && allowsLists ? items.type : type;
    if (valueType !== "object" && valueType !== "array") continue;
    const problem = valueType === "array" && !allowsLists ? "is a list" : "has objects or lists in it";
    throw new OwnOperationError(
      `${noun} ${subject}: ${name} ${problem}, which its place in the URL cannot carry`,
      { subject },
    );
  }
}
