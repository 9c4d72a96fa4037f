import type { JsonSchema } from "../../engine/contract/schema.ts";

/** A request has no `readOnly` fields, an answer no `writeOnly` ones. */
export type Purpose = "request" | "answer";

/** The place of a schema, on which its type depends. */
export interface TypeScope {
  purpose: Purpose;
  /** Whether `nullable`, a keyword of OpenAPI 3.0, allows null. */
  readsNullable: boolean;
  has(schema: JsonSchema, keyword: "readOnly" | "writeOnly"): boolean;
  refer(ref: string): string;
}

export const hasKeyword = (schema: JsonSchema, keyword: "readOnly" | "writeOnly") => schema[keyword] === true;

/** The scope of declarations, which have no references. */
export const DECLARED_SCOPE: TypeScope = {
  purpose: "answer",
  readsNullable: false,
  has: hasKeyword,
  refer: () => "unknown",
};

/** The TypeScript type of the values that fit a schema, where TypeScript can say it. */
export function toType(schema: JsonSchema | boolean, scope: TypeScope): string {
  if (typeof schema !== "object" || schema === null) return schema === false ? "never" : "unknown";
  const parts = listParts(schema, scope);
  const type = parts.length === 1 ? parts[0]! : parts.map(addParentheses).join(" & ") || "unknown";
  return scope.readsNullable && schema.nullable === true ? toUnion([type, "null"]) : type;
}

/** The types that a value has at the same time. */
function listParts(schema: JsonSchema, scope: TypeScope): string[] {
  const { $ref, anyOf, oneOf, allOf, enum: values } = schema;
  if (schema.const !== undefined) return [toLiteral(schema.const)];
  if (Array.isArray(values) && values.length > 0) return [toUnion(values.map(toLiteral))];
  const parts: string[] = [];
  if ($ref !== undefined) parts.push(scope.refer($ref));
  for (const one of allOf ?? []) parts.push(toType(one, scope));
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) parts.push(toUnion(choices.map((one) => toType(one, scope))));
  // Beside other parts, a type without properties adds nothing.
  const basicType =
    schema.properties === undefined && parts.length > 0 ? "unknown" : toBasicType(schema, scope);
  if (basicType !== "unknown") parts.push(basicType);
  return parts.filter((part) => part !== "unknown");
}

function toBasicType(schema: JsonSchema, scope: TypeScope): string {
  const { type, format, items, prefixItems, contentMediaType } = schema;
  if (Array.isArray(type)) return toUnion(type.map((one) => toBasicType({ ...schema, type: one }, scope)));
  switch (type) {
    case "integer":
    case "number":
      return "number";
    case "string":
      return format === "binary" || contentMediaType === "application/octet-stream" ? "Blob" : "string";
    case "boolean":
    case "null":
      return type;
    case "array": {
      const rest = items === undefined ? "unknown" : toType(items, scope);
      if (prefixItems === undefined) return `${addParentheses(rest)}[]`;
      return `[${[...prefixItems.map((one) => toType(one, scope)), `...${addParentheses(rest)}[]`].join(", ")}]`;
    }
    default:
      return type === "object" || schema.properties !== undefined ? toObject(schema, scope) : "unknown";
  }
}

function toObject(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  scope: TypeScope,
): string {
  const hidden = scope.purpose === "request" ? "readOnly" : "writeOnly";
  const fields = Object.entries(properties)
    .filter(([, one]) => !scope.has(one, hidden))
    .map(([name, one]) => toField(name, toType(one, scope), !required.includes(name)));
  if (fields.length > 0) return writeBlock(fields);
  const values = typeof additionalProperties === "object" ? toType(additionalProperties, scope) : "unknown";
  return `Record<string, ${additionalProperties === false ? "never" : values}>`;
}

export function writeBlock(fields: readonly string[]): string {
  return fields.length === 0 ? "{}" : `{\n${fields.join("\n").replaceAll(/^/gm, "  ")}\n}`;
}

export function toField(name: string, type: string, optional = false): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
  return `${key}${optional ? "?" : ""}: ${type};`;
}

/** Escapes the line ends that JSON does not escape, since `writeBlock` indents each line. */
const quote = (value: unknown) =>
  JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

function toUnion(types: readonly string[]): string {
  const parts = new Set(types.flatMap((type) => type.split(/ \| (null)$/).filter(Boolean)));
  // Last, where the next union finds it.
  if (parts.delete("null")) parts.add("null");
  return [...parts].join(" | ");
}

const addParentheses = (type: string) => (/ [|&] /.test(type) ? `(${type})` : type);

function toLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toLiteral).join(", ")}]`;
  if (typeof value !== "object" || value === null) return quote(value);
  return `{ ${Object.entries(value)
    .map(([name, one]) => toField(name, toLiteral(one)))
    .join(" ")} }`;
}
