import type { TSchema } from "typebox";
import { invalidInput } from "../contract/errors.ts";
import { invalidField } from "../contract/invalid-field.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { validatorOf } from "../contract/validator.ts";

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
  const { field, value: sent, message } = invalidField(value, validate.errors!);
  throw invalidInput(field, sent, `${field} ${message}`);
}
