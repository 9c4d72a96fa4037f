import type { TObject } from "typebox";
import type { BodySpec, FileSpec } from "../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { getJsonLimit } from "../../engine/contract/settings.ts";
import { getOrAdd, getOwn, mapValues } from "../../engine/maps.ts";
import { parseIfJson } from "../../engine/pipeline/form-parts.ts";
import { type DescribedOperation, type Media, mayBeJson } from "./list-operations.ts";
import { coerce, readNested, unpackText } from "./read-parameters.ts";
import type { Schemas } from "./schemas.ts";

export const findForm = (body: DescribedOperation["body"]) =>
  body?.media.find(({ type }) => type.startsWith("multipart/"));

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

/** The number of files that a list field may have, unless its schema says otherwise. */
const MAX_FILES = 100;

/** How a form with files is read, by the names of its parts. */
export function toForm(media: Media, schemas: Schemas): Extract<BodySpec, { kind: "multipart" }> {
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
export function parseForm(text: string, media: Media, schemas: Schemas): unknown {
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
