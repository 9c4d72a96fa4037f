import type { TObject, TSchema } from "typebox";
import type { ErrorCode } from "../../engine/contract/errors.ts";
import {
  type AnyOperation,
  type BodySpec,
  type DescribedAnswer,
  type FileSpec,
  isBodyless,
  type Success,
} from "../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { getJsonLimit } from "../../engine/contract/settings.ts";
import { getOrAdd, getOwn, mapValues } from "../../engine/maps.ts";
import { parseIfJson } from "../../engine/pipeline/form-parts.ts";
import type { OperationBinding } from "./binding-schema.ts";
import type { UnsupportedFeature } from "./document-report.ts";
import { findResponse, renderByDocument } from "./error-body.ts";
import { findExample, generateValue } from "./generate-value.ts";
import {
  type DescribedOperation,
  findJsonType,
  type Media,
  mayBeJson,
  type OpenApiReading,
} from "./list-operations.ts";
import { KEYS_OF_OBJECTS } from "./list-records.ts";
import { coerce, ParameterReader, readCredential, readNested, unpackText } from "./read-parameters.ts";
import type { Schemas } from "./schemas.ts";

/** The answer of a success that the document describes. */
export interface DescribedSuccess {
  status: number;
  /** The answer's JSON; undefined if the document describes none. */
  json: Media | undefined;
  /** `json`, else the first media type of the answer. */
  media: Media | undefined;
  node: JsonObject;
}

/** The answer with the binding's status, else the lowest success, else a redirection, else the default answer. */
export function findSuccess(
  { responses }: DescribedOperation,
  binding: Pick<OperationBinding, "status"> = {},
): DescribedSuccess {
  const keys = [...responses.keys()];
  const key =
    keys.find((one) => one === String(binding.status)) ??
    keys.filter((one) => /^2/.test(one)).sort()[0] ??
    keys.filter((one) => /^3/.test(one)).sort()[0] ??
    keys.find((one) => one === "default");
  const response = key === undefined ? undefined : responses.get(key);
  const json = response?.media.find(({ type }) => mayBeJson(type));
  const isEmpty = response !== undefined && response.media.length === 0 && key !== "default";
  const defaultStatus = isEmpty ? 204 : 200;
  const status = key !== undefined && /^\d{3}$/.test(key) ? Number(key) : defaultStatus;
  return { status, json, media: json ?? response?.media[0], node: response?.node ?? {} };
}

/** The answer of a success, as operations declare it. */
export function declareSuccess({ json }: DescribedSuccess, status: number, schemas: Schemas): Success {
  if (isBodyless(status)) return { status };
  const type = json && findJsonType(json.type);
  return {
    status,
    ...(json?.schema && { schema: schemas.toOperationSchema(json.schema.node, "answer") as TSchema }),
    ...(type !== undefined && type !== "application/json" && { json_type: type }),
  };
}

/** The parts of a request's body that are files, by name. */
export function listFileParts(body: DescribedOperation["body"], schemas: Schemas): Map<string, unknown> {
  const parts = new Map<string, unknown>();
  for (const [name, node] of schemas.listProperties(findForm(body)?.schema?.node))
    if (isFile(node, schemas)) parts.set(name, node);
  return parts;
}

function isFile(node: unknown, schemas: Schemas): boolean {
  const { format, contentMediaType, contentEncoding, items } = schemas.mergeKeywords(node);
  if (items !== undefined && schemas.listTypes(node).has("array")) return isFile(items, schemas);
  if (format === "binary" || contentEncoding === "binary") return true;
  return contentMediaType !== undefined && contentEncoding === undefined;
}

/** The media type that is read: JSON, but not a JSON patch; else a JSON patch, else a form, else the first. */
export function chooseMedia<M extends Pick<Media, "type">>(media: readonly M[]): M | undefined {
  return (
    media.find(({ type }) => mayBeJson(type) && !type.startsWith(JSON_PATCH)) ??
    media.find(({ type }) => mayBeJson(type)) ??
    media.find(({ type }) => type.startsWith("multipart/")) ??
    media.find(({ type }) => type.startsWith(FORM)) ??
    media[0]
  );
}

const TEXT_JSON = "text/json";
const JSON_PATCH = "application/json-patch+json";
const FORM = "application/x-www-form-urlencoded";
export const findForm = (body: DescribedOperation["body"]) =>
  body?.media.find(({ type }) => type.startsWith("multipart/"));
const isUrlEncoded = ({ type }: Media) => type.startsWith(FORM);

/** A media type without parameters. */
const getBareType = ({ type }: Media) => type.split(";", 1)[0]!.trim();

/** How the body of an operation is read; undefined if it has none, or is a GET. */
function toBodySpec({ body, method }: DescribedOperation, schemas: Schemas): BodySpec | undefined {
  const media = body && chooseMedia(body.media);
  if (body === undefined || media === undefined || method === "GET") return undefined;
  const optional = !body.required;
  const form = findForm(body);
  const urlEncoded = body.media.find(isUrlEncoded);
  if (media === form && urlEncoded === undefined) return { ...toForm(media, schemas), optional };
  const isJson = mayBeJson(media.type);
  const isText = media.type.startsWith("text/");
  if (!isJson && !isText && urlEncoded === undefined) return { kind: "stream", optional };
  const schema = declareBody(body.media, media, schemas);
  if (!isJson && urlEncoded === undefined)
    return { kind: "json", schema, optional, text: { types: [getBareType(media)], read: (sent) => sent } };
  const otherSchemas = declareOtherBodies(body.media, media, schemas);
  return {
    kind: "json",
    schema,
    optional,
    ...(otherSchemas.length > 0 && { schemas_by_type: Object.fromEntries(otherSchemas) }),
    ...(body.media.some(({ type }) => type.startsWith(TEXT_JSON)) && { json_types: [TEXT_JSON] }),
    ...(urlEncoded && {
      text: { types: [FORM], read: (sent) => parseForm(sent, urlEncoded, schemas), isBesideJson: isJson },
    }),
    ...(form && { form: toForm(form, schemas) }),
  };
}

/** The schema of the chosen type, in place of a form with files that of the url-encoded one; also that of a JSON patch. */
function declareBody(all: readonly Media[], chosen: Media, schemas: Schemas): TSchema {
  const patch = findPatch(all, chosen);
  const isForm = chosen.type.startsWith("multipart/");
  const plainNode = (isForm ? all.find(isUrlEncoded) : chosen)?.schema?.node ?? true;
  // A JSON patch is a list, and no other body of an update is.
  const node = patch
    ? // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: { type: "array" }, then: patch.schema?.node ?? true, else: plainNode }
    : plainNode;
  return schemas.toOperationSchema(node, "request") as TSchema;
}

const findPatch = (all: readonly Media[], chosen: Media) =>
  all.find(({ type }) => type.startsWith(JSON_PATCH) && type !== chosen.type);

/** The schemas of the other types of JSON and of the url-encoded form, by type. */
function declareOtherBodies(all: readonly Media[], chosen: Media, schemas: Schemas): [string, TSchema][] {
  const urlEncoded = all.find(isUrlEncoded);
  return all
    .filter((one) => (mayBeJson(one.type) || one === urlEncoded) && one !== findPatch(all, chosen))
    .filter((one) => getBareType(one) !== getBareType(chosen))
    .flatMap((one) =>
      one.schema
        ? [[getBareType(one), schemas.toOperationSchema(one.schema.node, "request") as TSchema]]
        : [],
    );
}

/** The bodies of an operation that are not read as the document describes them, each with its place. */
export function* listUnreadBodies(
  { body, method, place }: DescribedOperation,
  schemas: Schemas,
): Generator<UnsupportedFeature> {
  const readMedia = body && chooseMedia(body.media);
  if (body === undefined || readMedia === undefined) return;
  const bodyPath = [...place, "requestBody"];
  if (method === "GET") return yield { feature: "a body of GET (it is not read)", path: bodyPath };
  for (const { type, schema } of body.media)
    if (type !== readMedia.type && !(isReadBeside(type) && isReadBeside(readMedia.type)))
      yield {
        feature: `a body in ${type} beside ${readMedia.type} (only the latter is read)`,
        path: schema?.path.slice(0, -1) ?? bodyPath,
      };
  const path = readMedia.schema?.path.slice(0, -1) ?? bodyPath;
  const isMultipart = readMedia.type.startsWith("multipart/");
  if (isMultipart && !readMedia.type.startsWith("multipart/form-data"))
    yield { feature: `a body in ${readMedia.type} (only multipart/form-data is read)`, path };
  else if (isMultipart && schemas.listProperties(readMedia.schema?.node).size === 0)
    yield { feature: "a form without named fields (its files are not read)", path };
  else if (!isMultipart && !mayBeJson(readMedia.type) && !EXPECTED_TYPES.test(readMedia.type))
    yield { feature: `a body in ${readMedia.type} (any bytes are accepted)`, path };
}

/** Whether bodies of this type are read also if the document has other such types. */
const isReadBeside = (type: string) =>
  mayBeJson(type) || type.startsWith(FORM) || type.startsWith("multipart/form-data");

/** The part of a body that has the fields of a record: the whole, or the only property that has some of them. */
export function findRecordPart(
  body: DescribedOperation["body"],
  fieldNames: ReadonlySet<string>,
  schemas: Schemas,
): { node: unknown; property?: string } {
  const node = body && chooseMedia(body.media)?.schema?.node;
  const properties = [...schemas.listProperties(node)];
  if (properties.some(([name]) => fieldNames.has(name))) return { node };
  const hasFields = ([, inner]: [string, unknown]) =>
    [...schemas.listPossibleFields(inner).keys()].some((name) => fieldNames.has(name));
  const [wrapper, ...others] = properties.filter(hasFields);
  if (wrapper === undefined || others.length > 0) return { node };
  return { node: wrapper[1], property: wrapper[0] };
}

/** The property that a body sends in place of a record's object, such as its `id`; undefined if it sends no such value. */
export function findKeyOfObject(sent: unknown, field: unknown, schemas: Schemas): string | undefined {
  const [sentTypes, types] = [schemas.listTypes(sent), schemas.listTypes(field)];
  const isPlain = ["string", "number", "integer"].some((type) => sentTypes.has(type));
  if (!isPlain || !types.has("object") || schemas.doTypesOverlap(sent, field)) return undefined;
  const properties = schemas.listProperties(field);
  return KEYS_OF_OBJECTS.find(
    (key) => properties.has(key) && schemas.doTypesOverlap(sent, properties.get(key)),
  );
}

/**
 * The names of a body's fields that a record cannot store, as their types there are others. Numbers are stored as texts;
 * with an inferred binding, also a value alone as a part of an object.
 */
export function listUnstorableFields(
  body: unknown,
  record: unknown,
  { schemas, isInferred }: { schemas: Schemas; isInferred: boolean },
): string[] {
  const ownFields = schemas.listPossibleFields(record);
  const isTextOrNumber = (node: unknown) =>
    [...schemas.listTypes(node)].every((type) => ["string", "number", "integer", "null"].includes(type));
  const isUnstorable = ([name, node]: [string, unknown]) => {
    const field = ownFields.get(name);
    if (schemas.doTypesOverlap(node, field) || (isTextOrNumber(node) && isTextOrNumber(field))) return false;
    return !isInferred || findKeyOfObject(node, field, schemas) === undefined;
  };
  return [...schemas.listPossibleFields(body)].filter(isUnstorable).map(([name]) => name);
}

const EXPECTED_TYPES =
  /^(text|image|audio|video)\/|^application\/(x-www-form-urlencoded|octet-stream|pdf|zip|gzip)/;

/** The number of files that a list field may have, unless its schema says otherwise. */
const MAX_FILES = 100;

function toForm(media: Media, schemas: Schemas): Extract<BodySpec, { kind: "multipart" }> {
  const node = media.schema?.node;
  const parts = [...schemas.listProperties(node)];
  const required = schemas.listRequired(node);
  const isText = ([, schema]: readonly [string, unknown]) => !isFile(schema, schemas);
  const properties = Object.fromEntries(parts.filter(isText));
  const requiredTexts = [...required].filter((name) => name in properties);
  const textNode = { type: "object", properties, required: requiredTexts };
  const schema = schemas.toFormSchema(textNode, (value) =>
    coerceForm(unpackForm(value, media, schemas), textNode, schemas),
  );
  const files = parts
    .filter((part) => !isText(part))
    .map(([name, schema]): [string, FileSpec] => {
      const { maxItems = MAX_FILES } = schemas.mergeKeywords(schema);
      return [
        name,
        {
          required: required.has(name),
          ...(schemas.listTypes(schema).has("array") && { maxCount: maxItems as number }),
          limit: getJsonLimit,
        },
      ];
    });
  return { kind: "multipart", fields: schema as TObject, files: Object.fromEntries(files) };
}

/** Unpacks the texts of a form whose style the document describes. */
function unpackForm(value: unknown, { node, schema }: Media, schemas: Schemas): unknown {
  const { encoding } = node;
  if (!isJsonObject(value) || !isJsonObject(encoding)) return value;
  const properties = schemas.listProperties(schema?.node);
  return mapValues(value, (sent, name) => {
    const described = getOwn(encoding, name);
    if (!isJsonObject(described) || typeof sent !== "string") return sent;
    const { style, explode = style === "form", contentType } = described;
    const types = schemas.listTypes(properties.get(name));
    if (typeof style === "string") return unpackText(sent, { name, style, explode, types });
    return mayBeJson(String(contentType)) ? parseIfJson(sent) : sent;
  });
}

/** Converts a form's texts to their schemas' types. Objects and lists are JSON, or a list has a part for each value. */
export function coerceForm(value: unknown, node: unknown, schemas: Schemas): unknown {
  if (!isJsonObject(value)) return value;
  const properties = schemas.listProperties(node);
  return mapValues(value, (sent, name) => {
    const schema = properties.get(name);
    const types = schemas.listTypes(schema);
    if (!types.has("array")) return coerce(types.has("object") ? parseIfJson(sent) : sent, schema, schemas);
    const parsed = parseIfJson(sent);
    const isJsonList = !Array.isArray(sent) && Array.isArray(parsed);
    const list = isJsonList ? parsed : [sent].flat().map(parseItem);
    return coerce(list, schema, schemas);
  });
}

const parseItem = (sent: unknown) =>
  typeof sent === "string" && sent.startsWith("{") ? parseIfJson(sent) : sent;

/** A url-encoded form, also with nested names such as `items[0][price]`. */
function parseForm(text: string, media: Media, schemas: Schemas): unknown {
  const valuesByName = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) getOrAdd(valuesByName, name, () => []).push(value);
  const form: JsonObject = {};
  for (const [name, values] of valuesByName) {
    const [, outer] = /^([^[]+)\[/.exec(name) ?? [];
    if (outer === undefined) form[name] = values.length === 1 ? values[0] : values;
    else if (!Object.hasOwn(form, outer))
      form[outer] =
        valuesByName.get(`${outer}[]`) ??
        readNested(outer, [...valuesByName.keys()], (key) => valuesByName.get(key)!);
  }
  return coerce(unpackForm(form, media, schemas), media.schema?.node, schemas);
}

/** The part of an operation's declaration that does not depend on a binding. */
export function declareOperation(
  described: DescribedOperation,
  reading: OpenApiReading,
): Omit<AnyOperation, "handle" | "success" | "errors"> & { errors: ErrorCode[] } {
  const { schemas, root } = reading;
  const { id, method, path, node, isPublic } = described;
  const reader = new ParameterReader(schemas, described);
  const keyNames = new Set(described.securitySchemes.map(({ name }) => name));
  const body = toBodySpec(described, schemas);
  const description = toText(node["description"]);
  return {
    id,
    method,
    path,
    section: "own",
    errors: [],
    summary: toText(node["summary"]) ?? `${method} ${path}`,
    ...(description !== undefined && { description }),
    ...(body && { body }),
    ...(isPublic && { credentials: false }),
    ...(described.securitySchemes.length > 0 && {
      readCredential: (sent) => readCredential(sent, described.securitySchemes),
    }),
    readInput({ params, search, headers }) {
      const pathParams = reader.readPath(params);
      const { values, unknown: others } = reader.readQuery(search);
      const unknown = others.filter((name) => !keyNames.has(name));
      return { params: pathParams, query: { ...reader.readHeaders(headers), ...values }, unknown };
    },
    renderError: (error, context) => renderByDocument(error, context, { operation: described, schemas }),
    openapi: {
      operation: { ...node, parameters: described.parameters.map((one) => one.node) },
      document: root,
      answer: (status) => describeAnswer(described, status, reading),
    },
  };
}

/** The answer that the document describes for a status. A `default` beside a described success is for errors only. */
function describeAnswer(
  described: DescribedOperation,
  status: number,
  reading: OpenApiReading,
): DescribedAnswer | undefined {
  const response = findResponse(described, status);
  if (response === undefined) return undefined;
  const isDefault = response === described.responses.get("default");
  if (isDefault && status < 400 && findSuccess(described).node !== response.node) return undefined;
  const { schemas } = reading;
  const json = response.media.find(({ type }) => mayBeJson(type));
  const media = json ?? response.media[0];
  return {
    status,
    content_types: response.media.map(({ type }) => type),
    ...(json?.schema && { schema: schemas.toOperationSchema(json.schema.node, "answer") as TSchema }),
    createReply(): ReturnType<DescribedAnswer["createReply"]> {
      const generate = () =>
        status < 400 && json?.schema ? generateValue(schemas, json.schema.node, status) : undefined;
      const example = media && findExample(media.node, reading);
      const body = example ? example.value : generate();
      const type = json ? findJsonType(json.type) : media?.type;
      const isDefaultType = type === undefined || type === "application/json" || type.includes("*");
      if (isBodyless(status) || body === undefined) return { body: undefined, headers: {} };
      return { body, headers: isDefaultType ? {} : { "Content-Type": type } };
    },
  };
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
