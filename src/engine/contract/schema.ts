import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";
import { getOwn } from "../maps.ts";

export type JsonObject = Record<string, unknown>;

/** A plain JSON Schema, as far as the product looks into one. */
export interface JsonSchema {
  $ref?: string;
  $id?: string;
  type?: string | string[];
  nullable?: boolean;
  const?: unknown;
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  title?: string;
  description?: string;
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, JsonSchema>;
  patternProperties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  required?: string[];
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  readOnly?: boolean;
  writeOnly?: boolean;
  /** In the schema of a user's own record: the name of the field with its id. */
  "x-id"?: string;
  /** Whether an id, which is stored as a text, may be given as a number. */
  "x-number"?: boolean;
  [keyword: string]: unknown;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param type a type of JSON Schema */
export function hasType(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

/** The schemas of an object's field: that of its name, else those of all patterns that the name matches. */
export function listFieldSchemas(
  { properties = {}, patternProperties = {} }: JsonSchema,
  name: string,
): readonly JsonSchema[] {
  if (Object.hasOwn(properties, name)) return [properties[name]!];
  const matching = Object.entries(patternProperties).filter(([pattern]) => new RegExp(pattern).test(name));
  return matching.map(([, schema]) => schema);
}

/** Makes texts of the ids that are given as numbers, in place. */
export function replaceNumericIds(fields: JsonObject, schemas: Readonly<Record<string, object>>): void {
  for (const [name, value] of Object.entries(fields))
    if (Number.isSafeInteger(value) && (getOwn(schemas, name) as JsonSchema | undefined)?.["x-number"])
      fields[name] = String(value);
}

/** A field whose stored value is an instant; the API, state calls and fixtures have a timestamp instead. */
export type InstantSchema<T extends number | null = number> = TUnsafe<T> & { "x-instant": true };

/**
 * An instant of a record. Its type is a number, since records hold milliseconds relative to the sandbox's origin; in
 * the API it is an ISO 8601 string.
 */
export const Instant = (options: object = {}) =>
  Type.Unsafe<number>({
    type: "string",
    format: "date-time",
    "x-instant": true,
    ...options,
  }) as InstantSchema;

export const NullableInstant = (options: object = {}) =>
  Type.Unsafe<number | null>({
    type: ["string", "null"],
    format: "date-time",
    "x-instant": true,
    ...options,
  }) as InstantSchema<number | null>;

/** A field that only the server reads: the API, state calls and fixtures neither show nor accept it. */
export const internal = <T extends TSchema>(schema: T) =>
  Object.assign(schema, { "x-internal": true } as const);

/**
 * Sets a value's type in the generated types of the client library, where JSON Schema is less exact: a type that
 * scripts/generate/files.ts names, or an expression of TypeScript.
 */
export const withLibraryType = <S extends TSchema>(type: string, schema: S): S =>
  Object.assign(schema, { "x-type": type });

/** A duration as `parseDuration` reads it. @param title with an example, for messages */
export const Duration = (title = "a duration such as 200ms", options: object = {}) =>
  withLibraryType(
    "Duration",
    Type.Unsafe<string | number>({ type: ["string", "number"], title, ...options }),
  );

/** A timestamp in an answer, such as that of a record's `Instant`. */
export const Timestamp = (options: object = {}) => Type.String({ format: "date-time", ...options });

/** The prefixes of section 2.1; those of other ids are ours. */
const SPECIFIED_PREFIXES = `
  org_ dept_ usr_ uid_ file_ vs_ mbsess_ mbtrans_ trans_ mcoll_ mtrack_ dsh_ slink_ asst_ log_ thread_ wh_ whsec_ del_
  apikey_ conn_
`
  .trim()
  .split(/\s+/);

/** An identifier in the form of section 2.1, such as `Id("dept_")`. */
export const Id = (prefix: string, options: object = {}) =>
  Type.String({ pattern: `^${prefix}[A-Za-z0-9_-]{1,120}$`, examples: [`${prefix}example`], ...options });

export const URL_PATTERN = "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\]+$";
export const MIME_TYPE = "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+\\s*(;.*)?$";

/** The prefix of the ids that fit a schema of `Id`. */
export function getPrefix({ pattern }: { pattern?: unknown }): string | undefined {
  return /^\^([a-z]+_)/.exec(String(pattern))?.[1];
}

/** The prefixes of section 2.1 that ids of this pattern have; none if the prefix is ours. */
export function listSpecifiedPrefixes(pattern: string): string[] {
  const [, alternatives] = /^\^\(([a-z|]+)\)_/.exec(pattern) ?? [];
  const prefixes = alternatives?.split("|").map((word) => `${word}_`) ?? [getPrefix({ pattern }) ?? ""];
  return prefixes.filter((prefix) => SPECIFIED_PREFIXES.includes(prefix));
}

/** The id of a user, which may begin with `usr_` or `uid_` (G08). */
export const UserId = (options: object = {}) =>
  Type.String({ pattern: "^(usr|uid)_[A-Za-z0-9_-]{1,120}$", examples: ["usr_dan"], ...options });

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Free text (G38). */
export const Description = () => Type.String({ maxLength: 10_000 });

/** A page size or offset; `out_of_range_limits: clamp` moves it into its bounds (G08). */
export const PageParameter = (options: { minimum: number; maximum?: number; default?: number }) =>
  Type.Integer({ "x-page": true, ...options });

export const StringEnum = <const T extends readonly string[]>(words: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...words], ...options });

/** An ISO 8601 date or date-time in a query or body (G28). */
export const DateOrInstant = () => Type.String({ format: "date-or-instant", examples: ["2026-03-15"] });

/** An object of these fields and no others, as every body of the control API is. */
export const ClosedObject = <T extends TProperties>(properties: T, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/**
 * An object with any keys, or keys of this pattern. `Type.Record` would load the part of typebox that computes types,
 * 10 KB more in a page.
 */
export const MapOf = <T extends TSchema>(value: T, options: object = {}, keys = "^.*$") =>
  Type.Unsafe<Record<string, Static<T>>>({
    type: "object",
    patternProperties: { [keys]: value },
    ...options,
  });

/** The body of a list in the control API, with the example of its items. */
export const ListOf = <T extends TSchema>(items: T) =>
  ClosedObject(
    { items: Type.Array(items), total: Type.Integer({ minimum: 0 }) },
    { examples: [{ items: getExamples(items), total: 1 }] },
  );

/**
 * A schema as plain JSON without `$id`, which names it in the OpenAPI document: ajv would treat it as an address that
 * only one schema may have, and several operations declare the same body.
 */
export function toPlainSchema(schema: object): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (key === "$id" ? undefined : value)),
  ) as JsonSchema;
}

export function getExamples(schema: TSchema): unknown[] {
  return (schema as { examples?: unknown[] }).examples ?? [];
}
