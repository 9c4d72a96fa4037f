import type { TSchema } from "typebox";
import { invalidInput } from "../contract/errors.ts";
import { invalidField } from "../contract/invalid-field.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { validatorOf } from "../contract/validator.ts";
import { type OutOfRange, readQuery, withDefaults } from "./read-query.ts";

/** @throws ApiError INVALID_INPUT for the first path parameter that does not fit (G08) */
export function validateParams(operation: AnyOperation, params: Record<string, string>): void {
  if (operation.params !== undefined) requireValid(operation.params, params);
}

/** Typed query values with their defaults. @throws ApiError INVALID_INPUT */
export function validateQuery(
  operation: AnyOperation,
  search: string,
  outOfRange: OutOfRange,
): Record<string, unknown> {
  if (operation.query === undefined) return {};
  const values = readQuery(operation.query, search, { unknown: "drop", outOfRange });
  return completed(operation.query, values, outOfRange);
}

/** @throws ApiError INVALID_INPUT */
export function validateBody(schema: TSchema, body: unknown, outOfRange: OutOfRange): unknown {
  return completed(schema, body, outOfRange);
}

function completed<T>(schema: TSchema, value: T, outOfRange: OutOfRange): T {
  const result = withDefaults(schema, value, outOfRange);
  requireValid(schema, result);
  return result;
}

function requireValid(schema: TSchema, value: unknown): void {
  const validate = validatorOf(schema);
  if (validate(value)) return;
  const { field, value: sent, message } = invalidField(value, validate.errors!);
  throw invalidInput(field, sent, `${field} ${message}`);
}
