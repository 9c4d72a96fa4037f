import { isJson, type Json } from "./open-document.ts";

/** A problem of one schema, or a feature that is not supported, with the key that it is about. */
export interface SchemaProblem {
  key: string;
  message: string;
}

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const COUNTS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const NUMBERS = ["minimum", "maximum", "multipleOf"];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS = ["properties", "patternProperties", "$defs", "dependentSchemas"];
const ONES = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
const BOUNDS = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
  ["minProperties", "maxProperties"],
] as const;

/** Finds keywords that cannot be read, or that no value satisfies. Only the schema's own keys: walks visit the rest. */
export function* checkSchema(schema: Json): Generator<SchemaProblem> {
  const { type, required } = schema;
  const wrong = [type ?? []].flat().find((one) => !TYPES.includes(one as string));
  if (wrong !== undefined)
    yield {
      key: "type",
      message: `${JSON.stringify(wrong)} is not a type; the types are ${TYPES.join(", ")}`,
    };
  for (const key of COUNTS)
    if (schema[key] !== undefined && !(Number.isInteger(schema[key]) && (schema[key] as number) >= 0))
      yield { key, message: `${key} must be a whole number from 0 on` };
  for (const key of NUMBERS)
    if (schema[key] !== undefined && typeof schema[key] !== "number")
      yield { key, message: `${key} must be a number` };
  if (typeof schema["multipleOf"] === "number" && schema["multipleOf"] <= 0)
    yield { key: "multipleOf", message: "multipleOf must be greater than 0" };
  for (const [low, high] of BOUNDS)
    if ((schema[low] as number) > (schema[high] as number))
      yield { key: high, message: `${high} is less than ${low}, so no value fits` };
  if (schema["enum"] !== undefined && !Array.isArray(schema["enum"]))
    yield { key: "enum", message: "enum must be a list of values" };
  yield* checkParts(schema);
  if (required !== undefined && !isTexts(required))
    yield { key: "required", message: "required must be a list of the names of properties" };
  else yield* checkRequired(schema);
}

function* checkParts(schema: Json): Generator<SchemaProblem> {
  for (const key of LISTS) {
    const list = schema[key];
    if (list === undefined) continue;
    if (!Array.isArray(list) || !list.every(isSchema))
      yield { key, message: `${key} must be a list of schemas` };
    else if (list.length === 0 && key !== "prefixItems")
      yield { key, message: `${key} must contain at least one schema` };
  }
  for (const key of MAPS) {
    const map = schema[key];
    if (map === undefined) continue;
    if (!isJson(map) || !Object.values(map).every(isSchema))
      yield { key, message: `${key} must be a map from names to schemas` };
  }
  for (const key of ONES)
    if (schema[key] !== undefined && !isSchema(schema[key]))
      yield { key, message: `${key} must be a schema` };
}

function* checkRequired({
  required = [],
  properties = {},
  additionalProperties,
  ...rest
}: Json): Generator<SchemaProblem> {
  if (additionalProperties !== false || rest["patternProperties"] !== undefined) return;
  const missing = (required as string[]).find((name) => !Object.hasOwn(properties as object, name));
  if (missing !== undefined)
    yield {
      key: "required",
      message: `${missing} is required, but additionalProperties: false forbids it, and properties lacks it`,
    };
}

/** Whether the list of values has none of the schema's type; generated documents have such lists. */
export function isEmptyEnum({ enum: values, type, nullable }: Json): boolean {
  if (!Array.isArray(values)) return false;
  const types = [type ?? []].flat() as string[];
  const fits = (value: unknown) =>
    types.length === 0 || types.some((one) => hasType(one, value)) || (value === null && nullable === true);
  return !values.some(fits);
}

function hasType(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJson(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

const isSchema = (value: unknown) => isJson(value) || typeof value === "boolean";
const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === "string");
