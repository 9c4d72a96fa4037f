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
import type { WorldReader } from "../state/transaction.ts";
import { type InstantSchema, Nullable, Timestamp } from "./schema.ts";

/** A field in its public form: an instant is an ISO 8601 text. */
export type PublicFieldSchema<S> = S extends { "x-instant": true }
  ? S extends InstantSchema<infer T>
    ? null extends T
      ? TUnion<[TString, TNull]>
      : TString
    : never
  : S;

type PublicFieldSchemas<P extends TProperties, Omitted> = {
  [K in keyof P as P[K] extends { "x-internal": true } ? never : Exclude<K, Omitted>]: PublicFieldSchema<
    P[K]
  > extends infer S extends TSchema
    ? S
    : never;
};

type Instants<P> = { [K in keyof P]: P[K] extends { "x-instant": true } ? K : never }[keyof P];

/** Only a body with timestamps needs a world, which converts them. */
type WorldArgument<P, Omitted> = [Instants<Omit<P, Omitted & keyof P>>] extends [never]
  ? unknown[]
  : [world: Pick<WorldReader, "toIso">];

interface PublicViewOptions<P, Omitted extends keyof P> {
  /** Names the schema in the OpenAPI document. */
  $id: string;
  /** Fields to leave out, in addition to the internal ones. */
  omit?: readonly Omitted[];
  description?: string;
}

interface PublicView<P extends TProperties, Omitted extends keyof P> {
  schema: TObject<PublicFieldSchemas<P, Omitted>>;
  /** The record as this body: instants become timestamps, other values stay. */
  render(
    record: Static<TObject<P>>,
    ...rest: WorldArgument<P, Omitted>
  ): Static<TObject<PublicFieldSchemas<P, Omitted>>>;
}

/**
 * The API's view of a stored record, and the function that renders one. Both follow from the stored schema, so that a
 * new field is added in one place.
 */
export function publicView<P extends TProperties, const Omitted extends keyof P & string = never>(
  stored: TObject<P>,
  { $id, omit = [], ...options }: PublicViewOptions<P, Omitted>,
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
  return { schema: Type.Object(fields, { $id, ...options }), render } as unknown as PublicView<P, Omitted>;
}

/** A stored schema without its internal fields. */
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

/** A stored field's schema in its public form. */
export function toPublicField(field: TSchema): TSchema {
  if (!isInstant(field)) return field;
  const { type, format: _, "x-instant": _instant, ...options } = field as TSchema & Record<string, unknown>;
  return Array.isArray(type) ? Nullable(Timestamp(options)) : Timestamp(options);
}

export function isInstant(field: TSchema): boolean {
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
