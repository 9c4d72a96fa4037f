import { toSingular } from "../engine/contract/text.ts";
import { isObject, showValue } from "./options.ts";
import type { CollectionName, ErrorCode, EventName, ShownRecords } from "./types.ts";

/*
 * Declarations of a user's own operations. Everything here is plain data: a file may import it from another copy of the
 * package than the server that loads the file.
 */

/** A JSON Schema of values of type T. */
export interface Schema<T = unknown> {
  readonly [keyword: string]: unknown;
  /** Only for the compiler. */
  readonly "~value": T;
}
/** A field that may be left out. */
export type OptionalSchema<T = unknown> = Schema<T> & { readonly "x-optional": true };
export type Fields = Readonly<Record<string, Schema>>;

/** The type of the values that a schema accepts. */
export type Infer<S> = S extends { readonly "~value": infer T } ? T : unknown;
type OptionalKeys<F> = { [K in keyof F]: F[K] extends { "x-optional": true } ? K : never }[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };
export type InferFields<F> = Flat<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: Infer<F[K]> } & { [K in OptionalKeys<F>]?: Infer<F[K]> }
>;

interface FieldOptions<T> {
  description?: string;
  /** The value if the request, or the new record, leaves the field out. */
  default?: T;
  examples?: readonly T[];
}
/** The bounds of a number, or of the length of a text or list. */
interface Bounds {
  min?: number;
  max?: number;
}
interface TextOptions extends FieldOptions<string>, Bounds {
  pattern?: string;
  /** Such as `email`, `uri`, `uuid` or `date`. */
  format?: string;
}
/** The record that a field names. */
interface Reference {
  /** The record with the field is deleted with the record that it names. */
  belongsTo?: CollectionName | (string & {});
  /** The record with the field stays when the record that it names, such as an author, is deleted. */
  mentions?: CollectionName | (string & {});
  description?: string;
}

/** Leaves out keywords without a value. */
const toSchema = <T>(keywords: object): Schema<T> =>
  Object.fromEntries(Object.entries(keywords).filter(([, value]) => value !== undefined)) as never;
const toNumberSchema = (
  type: "integer" | "number",
  { min: minimum, max: maximum, ...rest }: FieldOptions<number> & Bounds,
): Schema<number> => toSchema({ type, ...rest, minimum, maximum });
const toReference = ({ belongsTo, mentions, ...rest }: Reference) => {
  const collection = belongsTo ?? mentions;
  return { ...rest, "x-refers-to": collection && { collection, owned: belongsTo !== undefined } };
};

export const integer = (options: FieldOptions<number> & Bounds = {}): Schema<number> =>
  toNumberSchema("integer", options);
export const number = (options: FieldOptions<number> & Bounds = {}): Schema<number> =>
  toNumberSchema("number", options);
export const boolean = (options: FieldOptions<boolean> = {}): Schema<boolean> =>
  toSchema({ type: "boolean", ...options });
export const string = ({ min: minLength, max: maxLength, ...rest }: TextOptions = {}): Schema<string> =>
  toSchema({ type: "string", ...rest, minLength, maxLength });
/** One of these words. */
export const words = <const W extends string>(list: readonly W[], options: FieldOptions<W> = {}): Schema<W> =>
  toSchema({ type: "string", enum: list, ...options });
/** An id such as `note_k3v9`. With a reference, the id of that record. */
export const id = (prefix: string, reference: Reference = {}): Schema<string> =>
  toSchema({ type: "string", pattern: `^${prefix}[A-Za-z0-9_-]{1,120}$`, ...toReference(reference) });
/** The id of a user, `usr_` or `uid_`, which it mentions unless it belongs to the user. */
export const userId = (reference: Reference = {}): Schema<string> =>
  toSchema({
    type: "string",
    pattern: "^(usr|uid)_[A-Za-z0-9_-]{1,120}$",
    ...toReference({ mentions: "users", ...reference }),
  });
/** An ISO 8601 timestamp. */
export const instant = (options: { description?: string } = {}): Schema<string> =>
  toSchema({ type: "string", format: "date-time", "x-instant": true, ...options });
export const unknown = (options: { description?: string } = {}): Schema<unknown> => toSchema(options);
export const array = <S extends Schema>(
  items: S,
  { min: minItems, max: maxItems, ...rest }: FieldOptions<never[]> & Bounds = {},
): Schema<Infer<S>[]> => toSchema({ type: "array", items, ...rest, minItems, maxItems });
export const object = <F extends Fields>(
  fields: F,
  options: { description?: string; additionalProperties?: boolean } = {},
): Schema<InferFields<F>> =>
  toSchema({
    type: "object",
    properties: fields,
    required: Object.keys(fields).filter((name) => fields[name]?.["x-optional"] !== true),
    ...options,
  });
export const optional = <T>(schema: Schema<T>): OptionalSchema<T> =>
  ({ ...schema, "x-optional": true }) as OptionalSchema<T>;
export const nullable = <T>(schema: Schema<T>): Schema<T | null> =>
  toSchema(
    schema["x-instant"] === true
      ? { ...schema, type: ["string", "null"] }
      : { anyOf: [schema, { type: "null" }], default: schema["default"] },
  );
/** The records of a collection of the reference, as the API shows them. */
export const record = <C extends CollectionName>(collection: C): Schema<ShownRecords[C]> =>
  toSchema({ "x-record": collection });

export interface OwnCollection<R = Record<string, unknown>> {
  readonly kind: "collection";
  readonly name: string;
  /** The schema of its records. */
  readonly record: Schema<R>;
  readonly prefix: string;
  readonly emits: { insert?: string; update?: string; remove?: string };
}

/**
 * Declares a table of the world. State calls, fixtures and the World view have it too. `fields` are those of a record;
 * an `id` is added if there is none.
 */
export function defineCollection<const F extends Fields>(declaration: {
  /** In the plural, such as `notes`. */
  name: string;
  /** The beginning of its ids. Default: that of the field `id`, else the name in the singular, such as `note_`. */
  prefix?: string;
  fields: F;
  /** The events that report its changes, by name. */
  emits?: { insert?: string; update?: string; remove?: string };
}): OwnCollection<InferFields<F & (F extends { id: Schema } ? unknown : { id: Schema<string> })>> {
  if (typeof declaration?.name !== "string" || !isObject(declaration.fields))
    throw new TypeError(`defineCollection takes a name and fields; it was given ${showValue(declaration)}`);
  const { name, fields, emits = {}, prefix: givenPrefix, ...unknownKeys } = declaration;
  const prefix = givenPrefix ?? `${toSingular(name).replaceAll(/[^a-z]/g, "")}_`;
  return {
    // The server refuses them, with the file of the declaration.
    ...unknownKeys,
    kind: "collection",
    name,
    prefix,
    emits,
    record: object({ ...("id" in fields ? {} : { id: id(prefix) }), ...fields }) as never,
  };
}

type Row<C> = C extends OwnCollection<infer R> ? R : never;
// biome-ignore lint/suspicious/noExplicitAny: collections of every record type
type AnyOwnCollection = OwnCollection<any>;
// biome-ignore lint/suspicious/noExplicitAny: events about records of every type
type AnyOwnEvent = OwnEvent<any>;

export interface OwnEvent<R = Record<string, unknown>> {
  readonly kind: "event";
  readonly name: string;
  readonly about: OwnCollection<R>;
  readonly data: readonly (keyof R & string)[];
  readonly summary: string | undefined;
  /** The organization whose webhooks receive it. Default: the record's `organization_id`. */
  readonly organization: ((record: R, world: World) => string) | undefined;
}

/** Declares an event that webhooks can subscribe to. */
export function defineEvent<R>(declaration: {
  name: string;
  about: OwnCollection<R>;
  data: readonly (keyof NoInfer<R> & string)[];
  summary?: string;
  organization?: (record: NoInfer<R>, world: World) => string;
}): OwnEvent<R> {
  const { summary, organization, ...rest } = declaration;
  return { kind: "event", ...rest, summary, organization };
}

/** Records of one collection, in the form in which the API shows them. A change is undone if the request fails. */
export interface Records<R> extends Iterable<R> {
  readonly size: number;
  get(id: string): R | undefined;
  /** Refuses the request with RESOURCE_NOT_FOUND if there is none. */
  require(id: string): R;
  /** The records with these values, or for which the function returns true. */
  where(wanted: Partial<R> | ((record: R) => boolean)): Records<R>;
  orderBy(field: keyof R & string, direction?: "asc" | "desc"): Records<R>;
  first(): R | undefined;
  /** Without a limit: all from the offset on. */
  page(page?: { limit?: number | undefined; offset?: number | undefined }): R[];
  /** Fields that are left out get plausible values; instants are the sandbox's current time. The events of a real change follow. */
  insert(fields: Partial<R>): R;
  update(id: string, fields: Partial<R>): R;
  /** Removes the record with all that belongs to it. */
  remove(id: string): void;
}

interface WorldBase {
  /** The sandbox's current time. */
  readonly now: string;
  /** A fresh id. */
  newId(prefix: string): string;
  /** From 0 to 1, from the sandbox's seed. */
  random(): number;
  /** Sends an event to the webhooks that subscribed to it, once the request has succeeded. */
  emit<R>(event: OwnEvent<R>, record: NoInfer<R>): void;
  emit(event: EventName, record: object): void;
  of<R>(collection: OwnCollection<R>): Records<R>;
}
export type World = WorldBase & { readonly [C in CollectionName]: Records<ShownRecords[C]> };

type ParameterName<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterName<Rest>
  : never;
type Parameters<Path, P> = [P] extends [Fields] ? InferFields<P> : Record<ParameterName<Path>, string>;
type InferInput<S> = S extends Schema ? Infer<S> : S extends Fields ? InferFields<S> : undefined;

export interface OwnCall<Params = Record<string, string>, Query = unknown, Body = unknown, W = World> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The caller; undefined if a `public` operation is called without credentials. */
  readonly principal: {
    readonly user_id: string;
    readonly key_id: string;
    readonly organization_id: string;
    readonly credential: "api_key" | "token";
  };
  readonly world: W;
  readonly request: { readonly id: string; readonly sandbox: string; readonly base_url: string };
}

export interface OwnOperation {
  readonly kind: "operation";
  readonly id: string;
}

/** `public`: without credentials; `caller`: with any; the others name a role in the path's organization, or the key's. */
export type Access = "public" | "caller" | "member" | "admin" | "owner";

/** Declares an endpoint. */
export function defineOperation<
  const Path extends string,
  const Params extends Fields | undefined = undefined,
  const Query extends Fields | undefined = undefined,
  const Body extends Schema | Fields | undefined = undefined,
  const Uses extends Readonly<Record<string, AnyOwnCollection>> = Record<never, never>,
  Loaded = undefined,
>(declaration: {
  /** Such as `notes.create`. */
  id: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Such as `/v1/notes/{note_id}`. */
  path: Path;
  summary?: string;
  description?: string;
  /** Default: each parameter of the path is a text. */
  params?: Params;
  query?: Query;
  /** The JSON body, or its fields. */
  body?: Body;
  /** The JSON of a success, or its fields; without it, any. */
  response?: Schema | Fields;
  /** The status of a success. Default: 200, or 204 if the handler returns undefined. */
  status?: number;
  /** The codes with which the handler refuses. Those of credentials, access, limits and validation are added. */
  errors?: readonly ErrorCode[];
  /** The callers. A function throws `refuse(...)`, or returns the handler's second argument. */
  access?:
    | Access
    | ((
        call: OwnCall<Parameters<Path, Params>, InferInput<Query>, InferInput<Body>, HandlerWorld<Uses>>,
      ) => Loaded);
  /** Own collections that the handler uses: `uses: { notes }` is `world.notes`. */
  uses?: Uses;
  /** An event about the record that the handler returns. */
  emit?: AnyOwnEvent | EventName;
  /** Whether it changes nothing. Default: true for GET. */
  reads?: boolean;
  /** Synchronous. All its changes are made, or none. */
  handle: (
    call: OwnCall<Parameters<Path, Params>, InferInput<Query>, InferInput<Body>, HandlerWorld<Uses>>,
    loaded: NoInfer<Loaded>,
  ) => unknown;
}): OwnOperation {
  return { kind: "operation", ...declaration };
}
type HandlerWorld<Uses> = World & { readonly [K in keyof Uses]: Records<Row<Uses[K]>> };

/** Throw it: `throw refuse("RESOURCE_NOT_FOUND", { details: { note_id } })`. */
export function refuse(
  code: ErrorCode,
  more: { details?: Record<string, unknown>; message?: string; headers?: Record<string, string> } = {},
): Error {
  return Object.assign(new Error(more.message ?? code), { name: "Refusal", code, ...more });
}
