import type { TObject, TSchema } from "typebox";
import { invalidInput } from "../contract/errors.ts";
import {
  findInvalidField,
  findInvalidFieldOfTexts,
  getValue,
  type InvalidField,
  TOO_LARGE,
} from "../contract/invalid-field.ts";
import type { AnyOperation, RequestHeaders } from "../contract/operation.ts";
import type { Settings } from "../contract/settings.ts";
import { toValidator } from "../contract/validator.ts";
import type { ReceivedForm } from "./engine-parts.ts";
import { parseIfJson } from "./form-parts.ts";
import { findInexactNumber, findWrittenNumber } from "./json-numbers.ts";
import { addDefaults, findRepeatedName, isClamped, readQuery, readTexts } from "./read-query.ts";
import { describeIgnored, findUnknownFields, omitFields } from "./unknown-fields.ts";

interface ValidatedExchange {
  readonly sandbox: { readonly settings: Pick<Settings, "out_of_range_limits" | "unknown_fields"> };
  warn(warning: string): void;
}

/** Returns the value as it was sent, before it was converted: the text `13`, the number `1.50`. */
type ReadSent = (field: Pick<InvalidField, "pointer" | "value">) => unknown;

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
  if (search === "") return completeAndValidate(schema, {}, { exchange, readSent: () => null });
  const { out_of_range_limits: outOfRange } = exchange.sandbox.settings;
  const texts = new URLSearchParams(search);
  const unknownNames = [...new Set(texts.keys())].filter((name) => !Object.hasOwn(schema.properties, name));
  checkUnknownParameters(unknownNames, search, exchange);
  const values = readQuery(schema, search, { unknown: "drop", outOfRange });
  const repeated = findRepeatedName(schema, values);
  if (repeated !== undefined)
    throw invalidInput(repeated, getSentText(texts, repeated), `${repeated} was sent twice`);
  return completeAndValidate(schema, values, {
    exchange,
    readSent({ pointer }) {
      const [, name, index] = pointer.split("/");
      const sent = getSentText(texts, name!);
      return Array.isArray(sent) && index !== undefined ? sent[Number(index)] : sent;
    },
  });
}

/** Warns of query parameters that the operation does not have. @throws ApiError INVALID_INPUT if the setting refuses them (G09) */
export function checkUnknownParameters(
  [first, ...others]: readonly string[],
  search: string,
  exchange: ValidatedExchange,
): void {
  if (first === undefined) return;
  if (exchange.sandbox.settings.unknown_fields === "reject")
    throw invalidInput(first, getSentText(new URLSearchParams(search), first), `${first} is not known`);
  exchange.warn(describeIgnored("query parameter", [first, ...others]));
}

/** The same for a body that the operation does not take. */
export function checkSurplusBody(
  { "content-length": length = "0", "transfer-encoding": encoding }: RequestHeaders,
  exchange: ValidatedExchange,
): void {
  if (Number(length) === 0 && encoding === undefined) return;
  const message = "the operation takes no body";
  if (exchange.sandbox.settings.unknown_fields === "reject") throw invalidInput("body", null, message);
  exchange.warn(`${message}; the one that was sent was ignored`);
}

/** The parameter as it was sent: a text, a list if it was sent several times, null if it was not sent. */
function getSentText(texts: URLSearchParams, name: string): string | string[] | null {
  const all = texts.getAll(name);
  return all.length > 1 ? all : (all[0] ?? null);
}

/** @param text the JSON text of `value`; empty if the body has another format @throws ApiError INVALID_INPUT */
export function validateJson(
  schema: TSchema,
  { value, text }: { value: unknown; text: string },
  exchange: ValidatedExchange,
): unknown {
  const { out_of_range_limits: outOfRange } = exchange.sandbox.settings;
  const inexact = findInexactNumber(text, (field) => isClamped(schema, field, outOfRange));
  if (inexact !== undefined)
    throw invalidInput(inexact.field, inexact.value, `${inexact.field} ${TOO_LARGE}`);
  const readSent: ReadSent = (field) =>
    (typeof field.value === "number" ? findWrittenNumber(text, field.pointer) : undefined) ?? field.value;
  // A body in another format, such as a url-encoded form, has no JSON text.
  const findInvalid = text === "" ? findInvalidFieldOfTexts : findInvalidField;
  return validateFields(schema, value, { exchange, readSent, findInvalid });
}

/** Validates the text fields of a form. @throws ApiError INVALID_INPUT */
export function validateForm(
  schema: TSchema,
  { fields, sentTexts }: Pick<ReceivedForm, "fields" | "sentTexts">,
  exchange: ValidatedExchange,
): unknown {
  const readSent: ReadSent = ({ pointer, value }) => {
    const [, name = "", ...steps] = pointer.split("/");
    return findSentPart(sentTexts[name], steps) ?? value;
  };
  return validateFields(schema, fields, { exchange, readSent });
}

/** A value within a field of a form. A field is JSON, or a list with a part for each value. */
function findSentPart(sent: unknown, [step, ...deeper]: readonly string[]): unknown {
  if (step === undefined) return sent;
  const parsed = parseIfJson(sent);
  const isListOfOne = /^\d+$/.test(step) && !Array.isArray(parsed);
  return findSentPart(getValue(isListOfOne ? [sent] : parsed, `/${step}`), deeper);
}

interface ValidationContext {
  exchange: ValidatedExchange;
  readSent: ReadSent;
  findInvalid?: typeof findInvalidField;
}

function validateFields(schema: TSchema, body: unknown, context: ValidationContext): unknown {
  const { exchange, readSent } = context;
  const completeBody = completeAndValidate(schema, body, context);
  const unknownFields = findUnknownFields(schema, body);
  const [first] = unknownFields;
  if (first === undefined) return completeBody;
  if (exchange.sandbox.settings.unknown_fields === "reject")
    throw invalidInput(first.field, readSent(first), `${first.field} is not known`);
  const fields = unknownFields.map(({ field }) => field);
  exchange.warn(describeIgnored("body field", fields));
  return omitFields(completeBody, unknownFields);
}

function completeAndValidate<T>(
  schema: TSchema,
  value: T,
  { exchange, readSent, findInvalid }: ValidationContext,
): T {
  const result = addDefaults(schema, value, exchange.sandbox.settings.out_of_range_limits);
  requireValid(schema, result, readSent, findInvalid);
  return result;
}

function requireValid(
  schema: TSchema,
  value: unknown,
  readSent: ReadSent,
  findInvalid = findInvalidFieldOfTexts,
): void {
  const validate = toValidator(schema);
  if (validate(value)) return;
  const invalid = findInvalid(value, validate.errors!);
  throw invalidInput(invalid.field, readSent(invalid), `${invalid.field} ${invalid.message}`);
}
