import { fromLooseBase64, fromUtf8 } from "../../engine/bytes.ts";
import { invalidInput } from "../../engine/contract/errors.ts";
import {
  appendStep,
  findInvalidFieldOfTexts,
  getValue,
  parseNumber,
  toFieldName,
} from "../../engine/contract/invalid-field.ts";
import type { RequestHeaders } from "../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { getOrAdd, mapValues, toPairs } from "../../engine/maps.ts";
import type { DescribedOperation, DescribedParameter } from "./list-operations.ts";
import type { Schemas } from "./schemas.ts";

/**
 * Returns the headers with the credential that the schemes of a document have in the query, in a cookie, in a header of
 * their own or as a password; undefined if `api-key` or `x-api-key` has one, or none was sent.
 */
export function readCredential(
  { headers, search }: { headers: RequestHeaders; search: string },
  schemes: readonly JsonObject[],
): RequestHeaders | undefined {
  if ((headers["api-key"] ?? headers["x-api-key"]) !== undefined) return undefined;
  for (const scheme of schemes) {
    const credential = findCredential(scheme, headers, search);
    if (credential) return { ...headers, authorization: `Bearer ${credential}` };
  }
  return undefined;
}

function findCredential(
  { type, in: place, name, scheme }: JsonObject,
  headers: RequestHeaders,
  search: string,
): string | undefined {
  const authorization = String(headers["authorization"] ?? "");
  if (type === "http" && /^basic$/i.test(String(scheme))) {
    const [, encoded] = /^Basic +(\S+) *$/i.exec(authorization) ?? [];
    const parts = encoded === undefined ? [] : fromUtf8(fromLooseBase64(encoded)).split(":");
    return parts.find((part) => part.startsWith("ak_"));
  }
  if (type !== "apiKey" || typeof name !== "string") return undefined;
  if (place === "query") return new URLSearchParams(search).get(name) ?? undefined;
  if (place === "cookie") return decodeCookie(readCookies(headers).get(name));
  // `Token ak_...` as well as the key alone.
  return String(headers[name.toLowerCase()] ?? "")
    .split(" ")
    .at(-1);
}

function readCookies(headers: RequestHeaders): Map<string, string | undefined> {
  const pairs = String(headers["cookie"] ?? "").split(/;\s*/);
  return new Map(pairs.map((pair) => splitAtEquals(pair)));
}

const DELIMITERS: Readonly<Record<string, string>> = { spaceDelimited: " ", pipeDelimited: "|" };
/** The sign before a value of these styles, and between the parts of one. */
const PREFIXES: Readonly<Record<string, string>> = { label: ".", matrix: ";" };

/** Reads parameters by the styles of a document, and validates them by their schemas. */
export class ParameterReader {
  private readonly schemas: Schemas;
  private readonly parameters: readonly DescribedParameter[];
  private readonly places: ReadonlySet<string>;
  private readonly queryNames: ReadonlySet<string>;

  constructor(schemas: Schemas, { parameters }: Pick<DescribedOperation, "parameters">) {
    this.schemas = schemas;
    this.parameters = parameters;
    this.places = new Set(parameters.map((one) => one.in));
    this.queryNames = new Set(parameters.filter((one) => one.in === "query").map(({ name }) => name));
  }

  /** Path parameters as their schemas type them. @throws ApiError INVALID_INPUT */
  readPath(texts: Readonly<Record<string, string>>): JsonObject {
    return this.read("path", (parameter) => this.unpack(parameter, texts[parameter.name]));
  }

  /** Headers and cookies, without those whose name a query parameter has too. @throws ApiError INVALID_INPUT */
  readHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): JsonObject {
    if (!this.places.has("header") && !this.places.has("cookie")) return {};
    const headerValues = this.read("header", (parameter) => {
      const text = headers[parameter.name.toLowerCase()];
      return this.unpack(parameter, Array.isArray(text) ? text.join(",") : text);
    });
    const cookies = readCookies(headers);
    const readCookie = ({ name }: DescribedParameter) => decodeCookie(cookies.get(name));
    const cookieValues = this.read("cookie", (parameter) => this.unpack(parameter, readCookie(parameter)));
    const values = Object.entries({ ...cookieValues, ...headerValues });
    return Object.fromEntries(values.filter(([name]) => !this.queryNames.has(name)));
  }

  /** The text, list or object that the style of a parameter packs into one text. */
  private unpack(parameter: DescribedParameter, text: string | undefined): unknown {
    if (text === undefined || parameter.isJson) return text;
    const { name, in: place, node } = parameter;
    const defaultStyle = place === "query" || place === "cookie" ? "form" : "simple";
    const { style = defaultStyle, explode = style === "form" } = node;
    const types = this.schemas.listTypes(parameter.schema?.node);
    return unpackText(text, { name, style, explode, types });
  }

  /** @returns the values with their defaults, and the names that the document does not have @throws ApiError */
  readQuery(search: string): { values: JsonObject; unknown: string[] } {
    if (search === "" && !this.places.has("query")) return { values: {}, unknown: [] };
    const textsByName = new Map<string, string[]>();
    for (const [name, text] of new URLSearchParams(search)) getOrAdd(textsByName, name, () => []).push(text);
    const readNames = new Set<string>();
    const values = this.read("query", (parameter) => this.collect(parameter, textsByName, readNames));
    return { values, unknown: [...textsByName.keys()].filter((name) => !readNames.has(name)) };
  }

  private collect(
    parameter: DescribedParameter,
    textsByName: ReadonlyMap<string, string[]>,
    readNames: Set<string>,
  ): unknown {
    const { name, node, schema, isJson } = parameter;
    const readTexts = (key: string) => {
      const texts = textsByName.get(key);
      if (texts !== undefined) readNames.add(key);
      return texts;
    };
    const { style = "form", explode = style === "form" } = node;
    const types = this.schemas.listTypes(schema?.node);
    if (!isJson && (types.has("object") || style === "deepObject")) {
      const nested = readNested(name, [...textsByName.keys()], (key) => readTexts(key)!);
      if (nested !== undefined) return nested;
      if (style === "form" && explode === true) {
        const properties = [...this.schemas.listProperties(schema?.node).keys()];
        const parts = properties.flatMap((key) => {
          const texts = readTexts(key) ?? [];
          return texts.length === 0 ? [] : [[key, texts.length === 1 ? texts[0] : texts] as const];
        });
        // A required map of which nothing is sent is an empty one; an optional one is absent.
        const isEmpty = parameter.required && !textsByName.has(name);
        if (parts.length > 0 || isEmpty) return Object.fromEntries(parts);
      }
    }
    const texts = readTexts(name) ?? readTexts(`${name}[]`);
    if (texts === undefined) return undefined;
    if (types.has("array")) {
      const delimiter = DELIMITERS[String(style)] ?? ",";
      return explode === true ? texts : texts.flatMap((text) => text.split(delimiter));
    }
    if (texts.length > 1 && types.size > 0) throw invalidInput(name, texts, `${name} was sent twice`);
    if (texts.length > 1) return texts;
    return explode === true ? texts[0] : this.unpack(parameter, texts[0]);
  }

  private read(
    place: DescribedParameter["in"],
    find: (parameter: DescribedParameter) => unknown,
  ): JsonObject {
    const values: JsonObject = {};
    for (const parameter of this.parameters) {
      if (parameter.in !== place || (place === "header" && IGNORED.test(parameter.name))) continue;
      const { name, required, schema, isJson, node } = parameter;
      const sent = find(parameter);
      if (sent === undefined) {
        const defaultValue = isJsonObject(schema?.node)
          ? this.schemas.mergeKeywords(schema.node)["default"]
          : undefined;
        if (defaultValue !== undefined) values[name] = defaultValue;
        else if (required) throw invalidInput(name, null, `${name} is required`);
        continue;
      }
      if (place === "query" && node["allowEmptyValue"] === true && [sent].flat().join() === "") {
        values[name] = Array.isArray(sent) ? [] : "";
        continue;
      }
      const value = isJson ? parseJson(name, sent) : coerce(sent, schema?.node, this.schemas);
      if (schema !== undefined) {
        const validate = this.schemas.compileValidator(schema.node, "request");
        if (!validate(value)) {
          const { pointer, message } = findInvalidFieldOfTexts(value, validate.errors!);
          const field = toFieldName(appendStep("", name) + pointer);
          throw invalidInput(field, getValue(isJson ? value : sent, pointer), `${field} ${message}`);
        }
      }
      values[name] = value;
    }
    return values;
  }
}

/** OpenAPI ignores header parameters of these names, which other parts of a document describe. */
const IGNORED = /^(accept|content-type|authorization)$/i;

function parseJson(name: string, text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    throw invalidInput(name, text, `${name} must be JSON`);
  }
}

/** `filter[status]=open`, `filter[range][from]=1`, `filter[tags][]=a` as an object; undefined without such keys. */
export function readNested(
  name: string,
  keys: readonly string[],
  readTexts: (key: string) => string[],
): unknown {
  let nested: JsonObject | undefined;
  for (const key of keys) {
    if (!key.startsWith(`${name}[`)) continue;
    const steps = [...key.slice(name.length).matchAll(/\[([^\]]*)\]/g)].map(([, step]) => step!);
    if (
      steps.length === 0 ||
      steps.some((step) => step === "__proto__") ||
      (steps.length === 1 && steps[0] === "")
    )
      continue;
    nested ??= {};
    const texts = readTexts(key);
    putAt(nested, steps, steps.at(-1) === "" || texts.length > 1 ? texts : texts[0]);
  }
  return nested;
}

/** Puts a value at a place within an object; missing objects on the way are created. */
export function putAt(target: JsonObject, steps: readonly string[], value: unknown): void {
  let parent = target;
  for (const step of steps.slice(0, -1)) {
    if (!isJsonObject(parent[step])) parent[step] = {};
    parent = parent[step] as JsonObject;
  }
  parent[steps.at(-1)!] = value;
}

/**
 * Converts texts to the types that a schema asks for. A text that cannot be converted stays, so that validation refuses
 * it as it was sent.
 */
export function coerce(value: unknown, schema: unknown, schemas: Schemas, depth = 0): unknown {
  if (depth > 20) return value;
  const types = schemas.listTypes(schema);
  if (Array.isArray(value) && types.has("array"))
    return value.map((one) => coerce(one, schemas.mergeKeywords(schema)["items"], schemas, depth + 1));
  if (isJsonObject(value)) {
    // A list as `items[0][price]=x`.
    const positions = Object.keys(value);
    if (types.has("array") && positions.every((key) => /^\d*$/.test(key)))
      return coerce(Object.values(value).flat(), schema, schemas, depth);
    const properties = schemas.listPossibleFields(schema);
    const { additionalProperties } = schemas.mergeKeywords(schema);
    return mapValues(value, (one, key) =>
      coerce(one, properties.get(key) ?? additionalProperties, schemas, depth + 1),
    );
  }
  if (typeof value !== "string") return value;
  if (types.has("array") && !types.has("string"))
    return [coerce(value, schemas.mergeKeywords(schema)["items"], schemas, depth + 1)];
  const number = types.has("integer") || types.has("number") ? parseNumber(value) : undefined;
  if (number !== undefined && (types.has("number") || Number.isInteger(number))) return number;
  if (types.has("boolean") && (value === "true" || value === "false")) return value === "true";
  return types.has("null") && !types.has("string") && (value === "" || value === "null") ? null : value;
}

interface PackedText {
  name: string;
  style: unknown;
  explode: unknown;
  /** Types of the value, by its schema. */
  types: ReadonlySet<string>;
}

/** The text, list or object that a style packs into one text. */
export function unpackText(text: string, { name, style, explode, types }: PackedText): unknown {
  const prefix = PREFIXES[String(style)];
  const withoutPrefix = prefix !== undefined && text.startsWith(prefix) ? text.slice(1) : text;
  if (!types.has("array") && !types.has("object"))
    return removeName(withoutPrefix, prefix === ";" ? name : "");
  if (types.has("array") && style === "form" && explode === true) return withoutPrefix;
  const delimiter =
    prefix !== undefined && (explode === true || !withoutPrefix.includes(","))
      ? prefix
      : (DELIMITERS[String(style)] ?? ",");
  const parts = withoutPrefix
    .split(delimiter)
    .map((part) => removeName(part.trim(), prefix === ";" ? name : ""));
  if (types.has("array")) return parts.length === 1 && types.has("string") ? parts[0] : parts;
  const pairs = explode === true ? parts.map((part) => splitAtEquals(part)) : toPairs(parts);
  return pairs.length > 0 && pairs.every(([, value]) => value !== undefined)
    ? Object.fromEntries(pairs)
    : text;
}

function splitAtEquals(text: string): [string, string | undefined] {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

const removeName = (text: string, name: string) =>
  name !== "" && text.startsWith(`${name}=`) ? text.slice(name.length + 1) : text;

/** Browsers and frameworks quote or escape what a cookie cannot hold. */
function decodeCookie(text: string | undefined): string | undefined {
  const unquoted = text?.replace(/^"(.*)"$/, "$1");
  try {
    return unquoted && decodeURIComponent(unquoted);
  } catch {
    return unquoted;
  }
}
