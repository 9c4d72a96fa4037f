import { hasType, isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { SUBSCHEMAS } from "./walk.ts";

/** A problem of one schema, with the key that it is about. */
interface SchemaProblem {
  key: string;
  message: string;
}

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
/** Says why the value of a keyword cannot be read; undefined if it can. */
type Check = (value: unknown, key: string, schema: JsonObject) => string | undefined;

const CHECKS = new Map<string, Check>([
  ["type", checkType],
  ...toChecks(
    [
      ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
      ...["minContains", "maxContains"],
    ],
    checkCount,
  ),
  ...toChecks(["minimum", "maximum", "multipleOf"], checkNumber),
  ...toChecks(["exclusiveMinimum", "exclusiveMaximum"], checkExclusiveBound),
  ["uniqueItems", (value) => (typeof value === "boolean" ? undefined : "uniqueItems must be true or false")],
  ["enum", (value) => (Array.isArray(value) ? undefined : "enum must be a list of values")],
  ...toChecks(SUBSCHEMAS.list, checkList),
  ...toChecks(SUBSCHEMAS.map, checkMap),
  ...toChecks(SUBSCHEMAS.one, (value, key) => (isSchema(value) ? undefined : `${key} must be a schema`)),
  ["required", checkRequired],
  ["dependentRequired", checkDependentRequired],
]);

function toChecks(keys: readonly string[], check: Check) {
  return keys.map((key) => [key, check] as const);
}

/** Finds keywords that cannot be read, or that no value satisfies. Checks only the schema's own
 * keywords: the caller visits its subschemas (walk.ts). */
export function checkSchema(schema: JsonObject): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const key in schema) {
    const message = schema[key] === undefined ? undefined : CHECKS.get(key)?.(schema[key], key, schema);
    if (message !== undefined) problems.push({ key, message });
  }
  return problems;
}

/** The types that a schema names; YAML reads an unquoted `type: null` as null. */
export function listOwnTypes({ type }: JsonObject): string[] {
  return type === undefined ? [] : [type].flat().map((one) => (one === null ? "null" : (one as string)));
}

function checkType(type: unknown): string | undefined {
  const unknownType = listOwnTypes({ type }).find((one) => !TYPES.includes(one));
  if (unknownType === undefined) return undefined;
  return `${JSON.stringify(unknownType)} is not a type; the types are ${TYPES.join(", ")}`;
}

function checkCount(value: unknown, key: string, schema: JsonObject): string | undefined {
  if (!Number.isInteger(value) || (value as number) < 0) return `${key} must be a whole number from 0 on`;
  return checkBound(key, schema);
}

function checkNumber(value: unknown, key: string, schema: JsonObject): string | undefined {
  if (typeof value !== "number") return `${key} must be a number`;
  if (key === "multipleOf") return value > 0 ? undefined : "multipleOf must be greater than 0";
  return checkBound(key, schema);
}

function checkExclusiveBound(value: unknown, key: string): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return undefined;
  return `${key} must be a number, or in OpenAPI 3.0 true or false`;
}

/** Compares an upper bound, such as `maxLength`, with its lower bound. Does nothing for a lower bound. */
function checkBound(key: string, schema: JsonObject): string | undefined {
  const lowerKey = key.replace(/^max/, "min");
  return (schema[lowerKey] as number) > (schema[key] as number)
    ? `${key} is less than ${lowerKey}, so no value fits`
    : undefined;
}

function checkList(value: unknown, key: string): string | undefined {
  return Array.isArray(value) && value.every(isSchema) ? undefined : `${key} must be a list of schemas`;
}

function checkMap(value: unknown, key: string): string | undefined {
  return isJsonObject(value) && Object.values(value).every(isSchema)
    ? undefined
    : `${key} must be a map from names to schemas`;
}

function checkRequired(required: unknown, _key: string, schema: JsonObject): string | undefined {
  if (!isNameList(required)) return "required must be a list of the names of properties";
  const { properties, additionalProperties, patternProperties } = schema;
  if (additionalProperties !== false || patternProperties !== undefined) return undefined;
  const missing = required.find((name) => !Object.hasOwn(properties ?? {}, name));
  if (missing === undefined) return undefined;
  return `${missing} is required, but additionalProperties: false forbids it, and properties lacks it`;
}

function checkDependentRequired(value: unknown): string | undefined {
  return isJsonObject(value) && Object.values(value).every(isNameList)
    ? undefined
    : "dependentRequired must be a map from names to lists of names";
}

/** Whether no value of `enum` has one of the schema's types; generated documents have such lists. */
export function hasUselessEnum(schema: JsonObject): boolean {
  const { enum: values, nullable } = schema;
  if (!Array.isArray(values)) return false;
  const types = listOwnTypes(schema);
  const fits = (value: unknown) =>
    types.length === 0 || types.some((one) => hasType(one, value)) || (value === null && nullable === true);
  return !values.some(fits);
}

export const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

function isNameList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isSchema(value: unknown): boolean {
  return isJsonObject(value) || typeof value === "boolean";
}
