import { findUnsendableHeader } from "../../engine/contract/header-fields.ts";
import type { AnyOperation, Call } from "../../engine/contract/operation.ts";
import { RawBody, Reply } from "../../engine/contract/reply.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { parseIfJson } from "../../engine/pipeline/form-parts.ts";
import { hash32 } from "../../engine/state/random.ts";
import { getAction, type OperationBinding } from "./binding-schema.ts";
import { declareSuccess, findSuccess } from "./declare-answer.ts";
import { declareOperation } from "./declare-operation.ts";
import type { UnsupportedFeature } from "./document-report.ts";
import { findExample, generateValue } from "./generate-value.ts";
import type { DescribedOperation, OpenApiReading } from "./list-operations.ts";

/** An operation without a binding: it answers its example, else a value that its schema describes. */
export function answerUnbound(described: DescribedOperation, reading: OpenApiReading): AnyOperation {
  const { schemas } = reading;
  const success = findSuccess(described);
  const { status, json, media, node } = success;
  const toHeaders = createHeaderGenerator(node, reading);
  const example = media && findExample(media.node, reading);
  const types = schemas.listTypes(media?.schema?.node);
  // Some documents write an example of JSON as a text.
  const mayBeText = json === undefined || types.size === 0 || types.has("string");
  const handle = ({ world, params }: Call) => {
    // The same path always has the same answer.
    const seed = hash32(`${world.seed} ${described.id} ${JSON.stringify(params)}`);
    const reply = (body: unknown, decision: string) => new Reply(status, body, toHeaders(seed), decision);
    if (media === undefined) return reply(undefined, "generated");
    const toBody = (value: unknown) => (json === undefined ? toTextBody(value, media.type) : value);
    if (example !== undefined)
      return reply(toBody(mayBeText ? example.value : parseIfJson(example.value)), "example");
    const value = media.schema === undefined ? {} : generateValue(schemas, media.schema.node, seed);
    return reply(toBody(value), "generated");
  };
  return {
    ...declareOperation(described, reading),
    success: declareSuccess(success, status, schemas),
    // An example is the author's, and may not fit its own schema.
    checksAnswers: false,
    reads: true,
    handle,
  } as AnyOperation;
}

/** A body of a type that is not JSON; empty for an object or a list. */
export function toTextBody(value: unknown, type: string): RawBody {
  return new RawBody(
    type.includes("*") ? "application/octet-stream" : type,
    isScalar(value) ? String(value) : "",
  );
}

/** Whether a value can be the body of an answer that is not JSON. */
export const isScalar = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);
const SCALAR_TYPES = ["string", "integer", "number", "boolean"];

/** The answer of an operation without a binding, with its place, if its body is empty although the document describes one. */
export function* listEmptyAnswers(
  described: DescribedOperation,
  reading: OpenApiReading,
): Generator<UnsupportedFeature> {
  const { json, media, status } = findSuccess(described);
  if (json !== undefined || media === undefined || status >= 300) return;
  const example = findExample(media.node, reading);
  const types = reading.schemas.listTypes(media.schema?.node);
  if (example === undefined ? SCALAR_TYPES.some((one) => types.has(one)) : isScalar(example.value)) return;
  yield {
    feature: `an answer in ${media.type} without a text as its example (its body is empty)`,
    path: media.schema?.path.slice(0, -1) ?? [...described.place, "responses"],
  };
}

/** The answer of a bound operation, with its place, if it is sent otherwise than the document describes it. */
export function* listAnswersInOtherFormats(
  described: DescribedOperation,
  binding: OperationBinding,
): Generator<UnsupportedFeature> {
  const { json, media, status } = findSuccess(described, binding);
  const action = getAction(binding)?.action;
  if (json !== undefined || media === undefined || status >= 300 || action === "download") return;
  if (action === undefined && isScalar(binding.answer)) return;
  const sent = action === undefined || action === "list" ? "it is JSON" : "its body is empty";
  yield {
    feature: `an answer in ${media.type} of a bound operation (${sent})`,
    path: media.schema?.path.slice(0, -1) ?? [...described.place, "responses"],
  };
}

/** Headers that the server or the body decides. */
const SERVER_HEADER =
  /^(connection|keep-alive|transfer-encoding|trailer|upgrade|date|vary|content-(type|length|encoding)|access-control-.*|x-ratelimit-.*|x-request-id|service-.*|x-sandbox-.*)$/i;

/** Returns a function that gives each described header its example or default, else a value that fits its schema. */
export function createHeaderGenerator(
  { headers }: JsonObject,
  reading: OpenApiReading,
): (seed: number) => Record<string, string> {
  const { references, schemas } = reading;
  const described = Object.entries((headers ?? {}) as JsonObject).flatMap(([name, header]) => {
    if (SERVER_HEADER.test(name) || !isJsonObject(header)) return [];
    const { node } = references.follow({ node: header, path: [] });
    const keywords = schemas.mergeKeywords(node["schema"]);
    const value = findExample(node, reading)?.value ?? keywords["default"];
    const schema = toHeaderSchema(name, node, keywords);
    return value === undefined && schema === undefined ? [] : [{ name, value, schema }];
  });
  return (seed) => {
    const values: Record<string, string> = {};
    for (const { name, value, schema } of described) {
      const headerValue = value ?? generateValue(schemas, schema, hash32(`${seed} ${name}`));
      const text = Array.isArray(headerValue) ? headerValue.join(",") : String(headerValue);
      if (typeof headerValue !== "object" || Array.isArray(headerValue)) values[name] = text;
      // The headers before this one were checked, so the unsendable one is this one.
      if (findUnsendableHeader(values) !== undefined) delete values[name];
    }
    return values;
  };
}

/** Undefined for an optional standard header without a format, such as `Link`: a generated text would not fit its grammar. */
function toHeaderSchema(name: string, { schema, required }: JsonObject, keywords: JsonObject): unknown {
  const isPlain =
    keywords["type"] === "string" &&
    !["enum", "const", "format", "pattern"].some((one) => keywords[one] !== undefined);
  if (!isPlain) return schema;
  if (/^(content-)?location$/i.test(name)) return { ...keywords, format: "uri-reference" };
  return required === true || /^x-/i.test(name) ? schema : undefined;
}
