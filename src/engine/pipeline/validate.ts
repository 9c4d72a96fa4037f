import type { TObject, TSchema } from "typebox";
import { invalidInput } from "../contract/errors.ts";
import { findInvalidField, getValue, type InvalidField } from "../contract/invalid-field.ts";
import type { AnyOperation } from "../contract/operation.ts";
import type { Settings } from "../contract/settings.ts";
import { toValidator } from "../contract/validator.ts";
import type { ReceivedForm } from "./engine-parts.ts";
import { tryJson } from "./form-parts.ts";
import { findInexactNumber, findWrittenNumber } from "./json-numbers.ts";
import { findRepeated, readQuery, readTexts, withDefaults } from "./read-query.ts";
import { describeIgnored, findUnknownFields } from "./unknown-fields.ts";

/** The part of an exchange that validation uses. */
export interface ValidatedExchange {
  readonly sandbox: { readonly settings: Pick<Settings, "out_of_range_limits" | "unknown_fields"> };
  warn(warning: string): void;
}

/** Returns the value as it was sent, which may have been read as another: `"13"` as 13, `1.50` as 1.5. */
type ReadSent = (place: Pick<InvalidField, "pointer" | "value">) => unknown;

/** Typed path parameters. @throws ApiError INVALID_INPUT for the first that does not fit (G08) */
export function validateParams(
  { params: schema }: AnyOperation,
  texts: Record<string, string>,
): Record<string, unknown> {
  if (schema === undefined) return texts;
  const params = readTexts(schema, texts);
  requireValid(schema, params, ({ pointer, value }) => texts[pointer.split("/")[1]!] ?? value);
  return params;
}

const NO_QUERY: TObject = { type: "object", properties: {} } as unknown as TObject;

/** Typed query values with their defaults. @throws ApiError INVALID_INPUT */
export function validateQuery(
  operation: AnyOperation,
  search: string,
  exchange: ValidatedExchange,
): Record<string, unknown> {
  if (search === "" && operation.query === undefined) return {};
  const schema: TObject = operation.query ?? NO_QUERY;
  if (search === "") return addDefaults(schema, {}, { exchange, sent: () => null });
  const { out_of_range_limits: outOfRange } = exchange.sandbox.settings;
  const texts = new URLSearchParams(search);
  const unknown = [...new Set(texts.keys())].filter((name) => !Object.hasOwn(schema.properties, name));
  checkUnknown(unknown, search, exchange);
  const values = readQuery(schema, search, { unknown: "drop", outOfRange });
  const twice = findRepeated(schema, values);
  if (twice !== undefined) throw invalidInput(twice, findSentText(texts, twice), `${twice} was sent twice`);
  return addDefaults(schema, values, {
    exchange,
    sent: ({ pointer }) => findSentText(texts, pointer.split("/")[1]!),
  });
}

/** Query parameters that the operation does not have. @throws ApiError INVALID_INPUT if they are refused (G09) */
export function checkUnknown(
  [first, ...others]: readonly string[],
  search: string,
  exchange: ValidatedExchange,
): void {
  if (first === undefined) return;
  if (exchange.sandbox.settings.unknown_fields === "reject")
    throw unknownInput(first, findSentText(new URLSearchParams(search), first));
  exchange.warn(describeIgnored("query parameter", [first, ...others]));
}

/** The parameter as it was sent: a text, a list if it was sent several times, null if it was not sent. */
function findSentText(texts: URLSearchParams, name: string): string | string[] | null {
  const all = texts.getAll(name);
  return all.length > 1 ? all : (all[0] ?? null);
}

/** @param text the text of `body` @throws ApiError INVALID_INPUT */
export function validateJson(
  schema: TSchema,
  { value, text }: { value: unknown; text: string },
  exchange: ValidatedExchange,
): unknown {
  const beyond = findInexactNumber(text);
  if (beyond !== undefined) {
    throw invalidInput(beyond.field, beyond.value, `${beyond.field} is too large to be represented exactly`);
  }
  const sent: ReadSent = (place) =>
    (typeof place.value === "number" ? findWrittenNumber(text, place.pointer) : undefined) ?? place.value;
  return checkFields(schema, value, { exchange, sent });
}

/** The text fields of a form, typed, beside the texts that were sent. @throws ApiError INVALID_INPUT */
export function validateForm(
  schema: TSchema,
  { fields, texts }: Pick<ReceivedForm, "fields" | "texts">,
  exchange: ValidatedExchange,
): unknown {
  const sent: ReadSent = ({ pointer, value }) => {
    const [, name = "", ...rest] = pointer.split("/");
    const text = texts[name];
    if (rest.length === 0) return text ?? value;
    return getValue(tryJson(text), `/${rest.join("/")}`);
  };
  return checkFields(schema, fields, { exchange, sent });
}

interface ValidationContext {
  exchange: ValidatedExchange;
  sent: ReadSent;
}

function checkFields(schema: TSchema, body: unknown, { exchange, sent }: ValidationContext): unknown {
  const checked = addDefaults(schema, body, { exchange, sent });
  const unknown = findUnknownFields(schema, body);
  const [first] = unknown;
  if (first === undefined) return checked;
  if (exchange.sandbox.settings.unknown_fields === "reject") throw unknownInput(first.field, sent(first));
  const fields = unknown.map(({ field }) => field);
  exchange.warn(describeIgnored("body field", fields));
  return checked;
}

function unknownInput(field: string, value: unknown): Error {
  return invalidInput(field, value, `${field} is not known`);
}

function addDefaults<T>(schema: TSchema, value: T, { exchange, sent }: ValidationContext): T {
  const result = withDefaults(schema, value, exchange.sandbox.settings.out_of_range_limits);
  requireValid(schema, result, sent);
  return result;
}

function requireValid(schema: TSchema, value: unknown, sent: ReadSent): void {
  const validate = toValidator(schema);
  if (validate(value)) return;
  const invalid = findInvalidField(value, validate.errors!);
  throw invalidInput(invalid.field, sent(invalid), `${invalid.field} ${invalid.message}`);
}
