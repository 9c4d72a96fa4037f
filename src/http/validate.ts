import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { TSchema } from "typebox";
import { invalidInput } from "../contract/errors.ts";
import { parseDateOrInstant } from "../contract/instant.ts";
import type { AnyOperation } from "../contract/operation.ts";

/**
 * One ajv for all declared schemas. Validators are compiled once, on first use, so that the start of
 * the server does not pay for operations that nobody calls.
 */
const ajv = new Ajv2020({
  strict: false,
  // Our own schemas are judged by test/contract/contract.test.ts; compiling the meta-schema would double the cold start.
  validateSchema: false,
});
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addFormat("date-or-instant", (text) => parseDateOrInstant(text) !== undefined);

const compiled = new WeakMap<object, ValidateFunction>();

export function validatorOf(schema: TSchema): ValidateFunction {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(withoutIds(schema));
    compiled.set(schema, validate);
  }
  return validate;
}

/**
 * `$id` names a schema for the OpenAPI document; to ajv it would be an address that only one schema may
 * have, and the same body is declared by several operations.
 */
function withoutIds(schema: TSchema): object {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === "$id" ? undefined : value))) as object;
}

interface ObjectSchema {
  properties: Record<
    string,
    { type?: string | string[]; default?: unknown; minimum?: number; maximum?: number; "x-page"?: boolean }
  >;
}

/** @throws ApiError INVALID_INPUT for the first path parameter that does not fit (G08) */
export function validateParams(operation: AnyOperation, params: Record<string, string>): void {
  if (operation.params !== undefined) requireValid(operation.params, params);
}

/**
 * Typed query values with their defaults. Numbers are read strictly: `month=` and `month=1.5` are
 * invalid, not zero and one.
 * @throws ApiError INVALID_INPUT
 */
export function validateQuery(
  operation: AnyOperation,
  search: string,
  outOfRange: "reject" | "clamp",
): Record<string, unknown> {
  if (operation.query === undefined) return {};
  const values: Record<string, unknown> = {};
  if (search !== "") {
    const { properties } = operation.query as unknown as ObjectSchema;
    for (const [name, text] of new URLSearchParams(search)) {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (schema === undefined) continue;
      const value =
        schema.type === "integer"
          ? integerOr(text, outOfRange === "clamp" && schema["x-page"] === true)
          : text;
      // A parameter sent twice is ambiguous; it fails as the list that it is.
      values[name] = name in values ? [values[name], value].flat() : value;
    }
  }
  return completed(operation.query, values, outOfRange);
}

/** What is no integer, or too long for one, stays the text it is, so that a refusal can show it as it was sent. */
function integerOr(text: string, clamped: boolean): number | string {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  if (!clamped || !/^-?\d+$/.test(text)) return text;
  return text.startsWith("-") ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

/** @throws ApiError INVALID_INPUT */
export function validateBody(schema: TSchema, body: unknown, outOfRange: "reject" | "clamp"): unknown {
  return completed(schema, body, outOfRange);
}

function completed<T>(schema: TSchema, value: T, outOfRange: "reject" | "clamp"): T {
  const { properties } = schema as unknown as Partial<ObjectSchema>;
  let result = value;
  if (properties !== undefined && typeof value === "object" && value !== null && !Array.isArray(value)) {
    const filled = { ...value } as Record<string, unknown>;
    for (const name in properties) {
      const property = properties[name]!;
      if (filled[name] === undefined && property.default !== undefined) filled[name] = property.default;
      if (outOfRange === "clamp" && property["x-page"] && Number.isInteger(filled[name])) {
        filled[name] = Math.min(
          property.maximum ?? Number.MAX_SAFE_INTEGER,
          Math.max(property.minimum ?? 0, filled[name] as number),
        );
      }
    }
    result = filled as T;
  }
  requireValid(schema, result);
  return result;
}

function requireValid(schema: TSchema, value: unknown): void {
  const validate = validatorOf(schema);
  if (validate(value)) return;
  const { field, message } = describe(validate.errors!);
  throw invalidInput(field, valueAt(value, field), `${field} ${message}`);
}

/** Where alternatives fail, the error that got deepest into the value says most. */
function describe(errors: readonly ErrorObject[]): { field: string; message: string } {
  let best = errors[0]!;
  for (const error of errors) {
    if (error.keyword !== "anyOf" && error.keyword !== "oneOf" && depthOf(error) > depthOf(best))
      best = error;
  }
  const missing = best.keyword === "required" ? `/${best.params["missingProperty"]}` : "";
  const extra = best.keyword === "additionalProperties" ? `/${best.params["additionalProperty"]}` : "";
  return { field: fieldName(best.instancePath + missing + extra), message: messageOf(best) };
}

function depthOf(error: ErrorObject): number {
  return error.instancePath.split("/").length + (error.keyword === "required" ? 1 : 0);
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  if (keyword === "required") return "is required";
  if (keyword === "enum") return `must be one of ${(params["allowedValues"] as unknown[]).join(", ")}`;
  if (keyword === "additionalProperties") return "is not known";
  return message ?? "is invalid";
}

/** `/inputs/0/role` becomes `inputs[0].role` (G08); an error of the whole document is `body`. */
export function fieldName(pointer: string): string {
  if (pointer === "") return "body";
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(
      (name, part) => (/^\d+$/.test(part) ? `${name}[${part}]` : name === "" ? part : `${name}.${part}`),
      "",
    );
}

function valueAt(value: unknown, field: string): unknown {
  if (field === "body") return value;
  let current = value;
  for (const part of field.split(/\.|\[(\d+)\]/).filter((part) => part !== undefined && part !== "")) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return null;
    current = (current as Record<string, unknown>)[part];
  }
  return current ?? null;
}

export interface UnknownField {
  /** With its path, as in `inputs[0].note`. */
  field: string;
  value: unknown;
}

type Branches = TSchema & { properties?: Record<string, TSchema>; items?: TSchema; anyOf?: TSchema[] };

/** Body fields that the contract does not know (G09). */
export function unknownFields(schema: TSchema, value: unknown, path = ""): UnknownField[] {
  const { properties, items, anyOf } = schema as Branches;
  if (typeof value !== "object" || value === null) return [];
  if (anyOf !== undefined) return unknownToAll(anyOf, value, path);
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.flatMap((item, i) => unknownFields(items, item, `${path}[${i}]`));
  }
  if (properties === undefined) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = path === "" ? name : `${path}.${name}`;
    if (!Object.hasOwn(properties, name)) return [{ field, value: inner as unknown }];
    return unknownFields(properties[name]!, inner, field);
  });
}

/** Of alternatives, the one that takes the value knows its fields; what fits none is refused before. */
function unknownToAll(branches: readonly TSchema[], value: object, path: string): UnknownField[] {
  const taking = branches.find((branch) => validatorOf(branch)(value));
  return taking === undefined ? [] : unknownFields(taking, value, path);
}
