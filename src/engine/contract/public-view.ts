import {
  type Static,
  type TNull,
  type TObject,
  type TProperties,
  type TSchema,
  type TString,
  type TUnion,
  Type,
} from "typebox";
import { getOrAdd } from "../maps.ts";
import type { WorldReader } from "../state/transaction.ts";
import {
  type InstantSchema,
  isJsonObject,
  type JsonSchema,
  listFieldSchemas,
  Nullable,
  Timestamp,
} from "./schema.ts";

/** A field in its public form: an instant is an ISO 8601 text. */
export type PublicFieldSchema<S> =
  S extends InstantSchema<infer T> ? (null extends T ? TUnion<[TString, TNull]> : TString) : S;

type PublicFieldSchemas<P extends TProperties, Omitted> = {
  [K in keyof P as P[K] extends { "x-internal": true } ? never : Exclude<K, Omitted>]: PublicFieldSchema<
    P[K]
  > extends infer S extends TSchema
    ? S
    : never;
};

interface PublicViewOptions<P, Omitted extends keyof P> {
  /** Names the schema in the OpenAPI document. */
  $id: string;
  /** Fields to leave out, in addition to the internal ones. */
  omit?: readonly Omitted[];
}

interface PublicView<P extends TProperties, Omitted extends keyof P> {
  schema: TObject<PublicFieldSchemas<P, Omitted>>;
  /** The record without hidden fields, and with instants as timestamps. */
  render(
    record: Static<TObject<P>>,
    world: Pick<WorldReader, "toIso">,
  ): Static<TObject<PublicFieldSchemas<P, Omitted>>>;
}

/**
 * The API's view of a stored record, and the function that renders one. Both follow from the stored schema, so that a
 * new field is added in one place.
 */
export function publicView<P extends TProperties, const Omitted extends keyof P & string = never>(
  stored: TObject<P>,
  { $id, omit = [] }: PublicViewOptions<P, Omitted>,
): PublicView<P, Omitted> {
  const hidden = new Set<string>(omit);
  for (const [name, field] of Object.entries(stored.properties)) if (isInternal(field)) hidden.add(name);
  const names = Object.keys(stored.properties).filter((name) => !hidden.has(name));
  const instants = names.filter((name) => isInstant(stored.properties[name]!));
  const fields = Object.fromEntries(names.map((name) => [name, toPublicField(stored.properties[name]!)]));
  type Fields = Record<string, unknown>;
  const render = (record: Fields, world: Pick<WorldReader, "toIso">): Fields => {
    // Copying the whole record is much faster than copying field by field.
    const body: Fields = hidden.size === 0 ? { ...record } : pickFields(record, names);
    for (const name of instants) {
      const instant = body[name];
      if (typeof instant === "number") body[name] = world.toIso(instant);
    }
    return body;
  };
  return { schema: Type.Object(fields, { $id }), render } as unknown as PublicView<P, Omitted>;
}

export function removeInternalFields(stored: TSchema): TObject {
  const { properties, required = [] } = stored as TObject & { required?: string[] };
  const isPublic = (name: string) => !isInternal(properties[name]!);
  if (Object.keys(properties).every(isPublic)) return stored as TObject;
  return {
    ...stored,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isPublic(name))),
    required: required.filter(isPublic),
  } as unknown as TObject;
}

export function toPublicField(field: TSchema): TSchema {
  if (!isInstant(field)) return field;
  const { type, format: _, "x-instant": _instant, ...options } = field as TSchema & Record<string, unknown>;
  return Array.isArray(type) ? Nullable(Timestamp(options)) : Timestamp(options);
}

export function isInstant(field: object): boolean {
  return (field as { "x-instant"?: boolean })["x-instant"] === true;
}

export function isInternal(field: TSchema): boolean {
  return (field as { "x-internal"?: boolean })["x-internal"] === true;
}

function pickFields(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of names) fields[name] = record[name];
  return fields;
}

/** Converts the instants in a value. Objects whose schema declares instants are copied, others are shared. */
export function convertInstants(
  schema: object,
  value: unknown,
  convert: (instant: unknown) => unknown,
): unknown {
  if (isInstant(schema)) return convert(value);
  if (!hasInstants(schema)) return value;
  const { anyOf = [], oneOf = [], allOf = [], items } = schema as JsonSchema;
  let converted = value;
  // At most one alternative converts the value: `convert` returns a value of another type as it is.
  for (const part of [...anyOf, ...oneOf, ...allOf]) converted = convertInstants(part, converted, convert);
  if (Array.isArray(converted))
    return items === undefined ? converted : converted.map((item) => convertInstants(items, item, convert));
  if (!isJsonObject(converted)) return converted;
  const copy = { ...converted };
  for (const name of Object.keys(copy))
    for (const field of listFieldSchemas(schema as JsonSchema, name))
      copy[name] = convertInstants(field, copy[name], convert);
  return copy;
}

const withInstants = new WeakMap<object, boolean>();

/** Whether a schema declares an instant at any depth. */
export function hasInstants(schema: object): boolean {
  return getOrAdd(withInstants, schema, () => JSON.stringify(schema).includes('"x-instant":true'));
}

/** The schema of a collection's records as the API shows them. */
export function toPublicSchema({ schema }: { schema: object }): TObject {
  const { $id: _id, ...recordSchema } = removeInternalFields(schema as TObject) as TObject & { $id?: string };
  const properties = Object.entries(recordSchema.properties).map(([name, field]) => [
    name,
    toPublicField(field),
  ]);
  return { ...recordSchema, properties: Object.fromEntries(properties) } as unknown as TObject;
}
