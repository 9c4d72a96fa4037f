import { isDeepStrictEqual } from "node:util";
import type { ErrorObject } from "ajv";
import type { TSchema } from "typebox";
import { toMediaType } from "../../engine/contract/media-types.ts";
import { type AnyOperation, listSuccesses, type Success } from "../../engine/contract/operation.ts";
import {
  findEndpointAssumption,
  findPlaceAssumption,
  findStatusAssumption,
} from "../../engine/contract/provenance.ts";
import { hasType, type JsonSchema, listSpecifiedPrefixes } from "../../engine/contract/schema.ts";
import { clip } from "../../engine/contract/text.ts";
import { toValidator } from "../../engine/contract/validator.ts";
import { diagnose } from "../../engine/documents/check-document.ts";
import { explain } from "../../engine/documents/schema-message.ts";
import { MASK } from "../redact.ts";
import { parseJson } from "./exchange.ts";
import { findRecord } from "./own-operation.ts";
import type { Exchange } from "./target.ts";
import { isTimestamp, listTimestamps } from "./timestamps.ts";
import type { Verdict } from "./verdict.ts";

/** Headers that a success has only in some cases; the checks of their operations cover them. */
const OPTIONAL_HEADERS = new Set([
  "x-pii-redacted",
  "x-pii-policies",
  "x-provider-credits-consumed",
  "range",
]);

export function hasSucceeded({ status }: Exchange): boolean {
  return status >= 200 && status < 300;
}

/** Whether the declaration or the document has it as a success: an upload has 308 and 499 (G13), a document may have 302. */
export function isDeclaredSuccess({ operation, status }: Pick<Exchange, "operation" | "status">): boolean {
  if (status < 400 && operation!.openapi?.answer(status) !== undefined) return true;
  return listSuccesses(operation!).some((success) => success.status === status);
}

/** Checks what should be a success of its operation. Returns whether it is one whose body is right. */
export function checkSuccess(verdict: Verdict, exchange: Exchange): boolean {
  const operation = exchange.operation!;
  const { status, method, path, text } = exchange;
  if (!checkWellFormed(verdict, exchange)) return false;
  const request = `${method} ${path}`;
  if (!hasSucceeded(exchange) && !isDeclaredSuccess(exchange)) {
    const problem = `${request} answers ${status} instead of a success: ${toExcerpt(text)}`;
    return verdict.expect(false, problem, findEndpointAssumption(operation));
  }
  const documentedAnswer = operation.openapi?.answer(status);
  const successes = documentedAnswer === undefined ? listSuccesses(operation) : [documentedAnswer];
  const success = successes.find((one) => one.status === status);
  const statuses = successes.map((one) => one.status).join(" or ");
  verdict.expect(
    success !== undefined,
    `${request} answers ${status} instead of ${statuses}`,
    findStatusAssumption(operation),
  );
  const declared = success ?? successes[0]!;
  for (const name of declared.headers ?? []) {
    if (OPTIONAL_HEADERS.has(name.toLowerCase())) continue;
    const problem = `${path}: the header ${name} is missing`;
    verdict.expect(exchange.headers.has(name), problem, findEndpointAssumption(operation));
  }
  if (!checkContent(verdict, exchange, declared)) return false;
  return operation.sourceFile === undefined
    ? checkRepeatedValues(verdict, exchange)
    : checkRecord(verdict, exchange);
}

/** An own operation whose path ends with the id of a record answers that record. */
function checkRecord(verdict: Verdict, { operation, method, path, json, sent }: Exchange): boolean {
  const [, name] = /\/\{([^{}]+)\}$/.exec(operation!.path) ?? [];
  const found = name === undefined || method !== "GET" ? undefined : findRecord(json, name);
  if (found === undefined) return true;
  const id = found.record[found.field];
  const problem = `GET ${path} answers ${found.field} ${toExcerpt(id)}`;
  return verdict.expect(isMasked(id) || String(id) === sent.params[name!], problem);
}

/** Checks the content of an answer by its declaration, or by the document. */
export function checkContent(verdict: Verdict, exchange: Exchange, declared: Success): boolean {
  const { headers, path, json, text, status } = exchange;
  const operation = exchange.operation as AnyOperation;
  const assumption = findPlaceAssumption(operation, "");
  const { schema, content_types = [], events } = declared;
  const isWhole = exchange.recorded?.hasWholeBodies ?? true;
  // Documents often leave out what an answer contains.
  if (operation.openapi !== undefined && content_types.length === 0) return true;
  if (schema === undefined && content_types.length === 0)
    return verdict.expect(text === "", `${path}: ${status} has a body: ${toExcerpt(text)}`, assumption);
  const type = toMediaType(headers.get("content-type") ?? "");
  const jsonTypes = schema === undefined || operation.openapi !== undefined ? [] : ["application/json"];
  const allowed = [...content_types, ...jsonTypes];
  const isAllowed = allowed.some((one) => one.includes("*") || toMediaType(one) === type);
  const problem = `${path}: the content type is ${toExcerpt(type)}, not ${allowed.join(" or ")}`;
  if (!verdict.expect(isAllowed, problem, assumption)) return false;
  if (events !== undefined) checkEvents(verdict, exchange, events);
  if (schema === undefined || !type.includes("json") || !isWhole) return true;
  return checkBody(verdict, operation, schema, json, { masked: exchange.recorded !== undefined });
}

/** Fields of answers whose values need not be those that the request sent under the same names. */
const NOT_REPEATED = new Set(["limit", "offset", "skip", "take", "refresh_token"]);
/** By operation and field of its answer: the name of the request's field that it repeats, if the names differ. */
const SENT_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "departments.reparent": { id: "department_id", parent_id: "new_parent_id" },
  "users.set_current_organization": { current_organization_id: "organization_id" },
  "threads.delete": { threadId: "thread_id" },
};

/** Parameters, query and body of a request, by name. Services ignore fields that the operation does not have (G09). */
export function getSentFields({ operation, sent }: Exchange): Record<string, unknown> {
  const { body, query } = operation!;
  const bodySchema = body?.kind === "json" ? (body.schema as JsonSchema) : undefined;
  return {
    ...sent.params,
    ...pickDeclared(bodySchema, sent.body as object | undefined),
    ...pickDeclared(query as JsonSchema | undefined, sent.query),
  };
}

function pickDeclared({ properties = {} }: JsonSchema = {}, fields: object = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(properties, name)));
}

/** An answer must repeat values of its request unchanged. */
function checkRepeatedValues(verdict: Verdict, exchange: Exchange): boolean {
  const operation = exchange.operation!;
  const { json } = exchange;
  if (json === undefined) return true;
  const sent = getSentFields(exchange);
  let ok = true;
  for (const [place, fields] of [
    ["", json],
    ["/data", json.data],
  ]) {
    for (const [name, value] of Object.entries((fields ?? {}) as object)) {
      const expected = sent[SENT_NAMES[operation.id]?.[name] ?? name];
      if (expected === undefined || NOT_REPEATED.has(name) || isMasked(value) || isMasked(expected)) continue;
      if (typeof value === "object" && !isNullOrTexts(value)) continue;
      const fits = isDeepStrictEqual(value, expected) || String(value) === expected;
      const problem = `${operation.id}: ${name} is ${toExcerpt(value)} instead of ${toExcerpt(expected)}`;
      ok = verdict.expect(fits, problem, findPlaceAssumption(operation, `${place}/${name}`)) && ok;
    }
  }
  // A test notification may have failed, and then answers `success: false`.
  if (typeof json.success === "boolean" && operation.id !== "connector_notifications.test")
    verdict.expect(
      json.success,
      `${operation.id}: success is false`,
      findPlaceAssumption(operation, "/success"),
    );
  if (operation.id === "departments.reparent") checkPath(verdict, json);
  if (operation.id === "users.set_current_organization") {
    const { current_organization_id, organization } = json;
    const problem = `organization.id is ${organization.id}, and current_organization_id ${current_organization_id}`;
    verdict.expect(organization.id === current_organization_id, problem);
  }
  return ok;
}

/** Checks a department's path, which lists the ids above it, then its own (section 2.2). */
function checkPath(verdict: Verdict, { id, parent_id, path, depth }: Exchange["json"]): void {
  const chain = String(path).split("/");
  const fits = chain.at(-1) === id && (chain.at(-2) ?? null) === parent_id;
  verdict.expect(fits, `the path of ${id} under ${parent_id} is ${toExcerpt(path)}`);
  verdict.expect(depth === chain.length - 1, `the depth of ${path} is ${depth}`, "G10");
}

function isNullOrTexts(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.every((one) => typeof one === "string"));
}

/** Checks the events of a stream that were read: their data, and that ids increase. */
function checkEvents(verdict: Verdict, { operation, text, path }: Exchange, schema: TSchema): void {
  const events = text.split(/\r?\n\r?\n/).slice(0, -1);
  const readField = (event: string, field: string) =>
    event
      .split(/\r?\n/)
      .flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).trim()] : []));
  const dataEvents = events.filter((event) => readField(event, "data").length > 0);
  const ids = dataEvents.map((event) => Number(readField(event, "id")[0] ?? Number.NaN));
  const areIdsIncreasing = ids.every((id, i) => id > (ids[i - 1] ?? Number.NEGATIVE_INFINITY));
  verdict.expect(
    areIdsIncreasing,
    `${path}: the ids of events are ${ids.join(", ")}`,
    findPlaceAssumption(operation!, ""),
  );
  for (const event of dataEvents) {
    const { json, broken } = parseJson(readField(event, "data").join("\n"));
    if (broken) verdict.expect(false, `${path}: an event is not JSON`, findPlaceAssumption(operation!, ""));
    else checkBody(verdict, operation!, schema, json, { masked: true });
  }
}

/** Limits of values that the declarations state, and the reference does not. */
const ASSUMED_LIMITS = new Set(["minLength", "maxLength", "minItems", "maxItems", "uniqueItems"]);
const MAX_PROBLEMS = 5;

/**
 * Checks a success's JSON by the declared schema. A departure from the reference is a failure; one from an
 * assumption is reported as `differs`. `masked`: values that replace secrets are not checked.
 */
export function checkBody(
  verdict: Verdict,
  operation: AnyOperation,
  schema: TSchema,
  body: unknown,
  { masked = false } = {},
): boolean {
  const validate = toValidator(schema);
  if (validate(body)) {
    // Undeclared fields are allowed.
    const unknown = [...new Set(listUnknownFields(schema as JsonSchema, body, ""))];
    if (unknown.length > 0) verdict.note(`also answers ${unknown.slice(0, 12).join(", ")}`);
    return checkTimestamps(verdict, operation, schema as JsonSchema, body);
  }
  let ok = true;
  const problems = diagnose(body, validate).filter((error) => !(masked && isMasked(error.data)));
  for (const error of problems.slice(0, MAX_PROBLEMS)) {
    const assumption = findAssumption(operation, error);
    ok = verdict.expect(false, describeProblem(operation, error), assumption) && ok;
  }
  return ok;
}

/** Checks that every declared timestamp is in UTC; the format `date-time` also allows offsets. */
function checkTimestamps(
  verdict: Verdict,
  operation: AnyOperation,
  schema: JsonSchema,
  body: unknown,
): boolean {
  // A document describes its timestamps itself.
  const timestamps = operation.sourceFile === undefined ? listTimestamps(schema, body) : [];
  const wrong = timestamps.filter(([, value]) => !isTimestamp(value));
  for (const [place, value] of wrong.slice(0, MAX_PROBLEMS)) {
    const problem = `${operation.id}: ${place} is ${toExcerpt(value)}, not a timestamp in UTC such as 2026-03-15T10:00:00Z`;
    verdict.expect(false, problem, findPlaceAssumption(operation, place));
  }
  if (wrong.length > 0) return false;
  verdict.confirm(findPlaceAssumption(operation, ""));
  return true;
}

/** Whether the value was a secret before it was recorded. */
export function isMasked(value: unknown): boolean {
  return typeof value === "string" && value.includes(MASK);
}

function findAssumption(operation: AnyOperation, error: ErrorObject): string | undefined {
  if (operation.sourceFile !== undefined) return undefined;
  const missing = error.keyword === "required";
  const place = missing ? `${error.instancePath}/${error.params["missingProperty"]}` : error.instancePath;
  const problem = isOfType(error) ? "value" : "type";
  const assumed = findPlaceAssumption(operation, place, missing ? "presence" : problem);
  if (assumed !== undefined) return assumed;
  // The reference states types and prefixes; further limits of values are assumptions.
  const assumptionOfLimits = operation.assumptions?.[0] ?? "G08";
  if (ASSUMED_LIMITS.has(error.keyword)) return assumptionOfLimits;
  // For alternatives, such as an id or null: the first assumption behind one of their errors.
  if (error.keyword === "choices")
    return (error.params["errors"] as ErrorObject[])
      .map((inner) => findAssumption(operation, inner))
      .find((one) => one !== undefined);
  if (error.keyword !== "pattern") return undefined;
  const prefixes = listSpecifiedPrefixes(String(error.schema));
  if (prefixes.length === 0) return assumptionOfLimits;
  return prefixes.some((prefix) => String(error.data).startsWith(prefix)) ? "G08" : undefined;
}

/** Whether the type of the refused value is allowed, so that only the value is wrong. */
function isOfType({ keyword, parentSchema, schema, data, params }: ErrorObject): boolean {
  if (keyword === "choices") return (params["errors"] as ErrorObject[]).some(isOfType);
  if (keyword === "type") return false;
  const { type } = (parentSchema ?? schema ?? {}) as { type?: string };
  return type === undefined || hasType(type, data);
}

function describeProblem({ id }: AnyOperation, error: ErrorObject): string {
  const { instancePath, keyword, params } = error;
  const place = instancePath === "" ? "the body" : instancePath;
  if (keyword === "required") return `${id}: ${place} has no "${params["missingProperty"]}"`;
  return `${id}: ${place} ${explain(error).message}`;
}

export function toExcerpt(value: unknown): string {
  return clip(JSON.stringify(value) ?? "absent", 120);
}

/** The places of the fields of a value that its schema does not declare. */
function listUnknownFields(schema: JsonSchema, value: unknown, place: string): string[] {
  const { items, anyOf } = schema;
  if (Array.isArray(value))
    return items ? value.slice(0, 20).flatMap((item) => listUnknownFields(items, item, `${place}/*`)) : [];
  const properties = schema.properties ?? anyOf?.find((one) => one.properties)?.properties;
  if (typeof value !== "object" || value === null || properties === undefined) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const fieldPlace = `${place}/${name}`;
    return property === undefined ? [fieldPlace] : listUnknownFields(property, inner, fieldPlace);
  });
}

/** Checks that there is an answer, and that an answer declared as JSON is JSON. */
export function checkWellFormed(verdict: Verdict, { method, path, problem }: Exchange): boolean {
  return verdict.expect(problem === undefined, `${method} ${path}: ${problem}`);
}
