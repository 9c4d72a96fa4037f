import Type, { type TObject, type TSchema } from "typebox";
import { ApiError, CATALOGUE, type DeclaredError, type ErrorCode } from "../contract/errors.ts";
import { type AnyEvent, aboutRecords, emit, event } from "../contract/event.ts";
import { fixtureRecord, listReader } from "../contract/fixture-record.ts";
import {
  type AnyOperation,
  type Call,
  METHODS,
  type Method,
  operation,
  type Success,
} from "../contract/operation.ts";
import { OwnFault } from "../contract/own-fault.ts";
import { shownField, withoutInternal } from "../contract/public-view.ts";
import type { Resource, StateRules } from "../contract/resource.ts";
import {
  ADMINISTRATOR_ERRORS,
  CURRENT_MEMBER_ERRORS,
  findCaller,
  MEMBER_ERRORS,
  requireAdministrator,
  requireCurrentMember,
  requireMember,
} from "../resources/organizations/access.ts";
import { type AnyCollection, collection } from "../state/collection.ts";
import { guard, toOwnCall } from "./guard.ts";
import { makeFactory } from "./make-record.ts";

/*
 * Declarations as `understudy-sandbox/operations` makes them, which has their types. They may come from another copy of
 * the package, or from a script without types, so everything is checked here.
 */

interface GivenCollection {
  kind: "collection";
  name: string;
  prefix: string;
  record: object;
  emits?: Partial<Record<"insert" | "update" | "remove", string>>;
}
interface GivenEvent {
  kind: "event";
  name: string;
  about: { name: string };
  data: readonly string[];
  summary?: string;
  organization?: (record: object, world: unknown) => string;
}
interface GivenOperation {
  kind: "operation";
  id: string;
  method: Method;
  path: string;
  summary?: string;
  description?: string;
  params?: Fields;
  query?: Fields;
  body?: object;
  response?: object;
  status?: number;
  errors?: readonly ErrorCode[];
  access?: string | ((call: unknown) => unknown);
  emit?: string | { name: string };
  reads?: boolean;
  handle: (call: unknown, loaded: unknown) => unknown;
}
type Fields = Readonly<Record<string, object>>;
export type Declaration = GivenCollection | GivenEvent | GivenOperation;

export interface DeclarationSource {
  /** The file as messages show it. */
  source: string;
  /** The digest of its bytes. */
  sha256?: string;
  /** The file of each declaration, if there are several. */
  files?: ReadonlyMap<unknown, string>;
}

/** Whether an export of a file is a declaration. */
export function isDeclaration(value: unknown): value is Declaration {
  const kind = (value as { kind?: unknown } | undefined)?.kind;
  return typeof value === "object" && (kind === "collection" || kind === "event" || kind === "operation");
}

/**
 * The resource of a file's declarations.
 * @param known the resources before it
 * @throws OwnFault for the first declaration that is wrong
 */
export function ownResource(
  declarations: readonly Declaration[],
  known: readonly Resource[],
  own: DeclarationSource,
): Resource {
  const collections = declarations.filter((one) => one.kind === "collection");
  const twice = collections.find(({ name }, at) => collections.findIndex((one) => one.name === name) < at);
  if (twice !== undefined)
    throw new OwnFault(`the collection ${twice.name} is declared twice`, { subject: twice.name });
  const made = new Map(collections.map((given) => [given.name, toCollection(given)]));
  const all = new Map([
    ...known.flatMap((one) => one.collections).map((one) => [one.name, one] as const),
    ...made,
  ]);
  const shownSchema = (schema: object) => inlineRecords(schema, all);
  const factories = Object.fromEntries([...made].map(([name, one]) => [name, makeFactory(one, all)]));
  const events = declarations
    .filter((one) => one.kind === "event")
    .map((given) => toEvent(given, all, factories));
  const eventsByName = new Map(
    [...known.flatMap((one) => one.events ?? []), ...events].map((one) => [one.name, one]),
  );
  const state = Object.fromEntries(
    collections.map(({ name, emits = {} }) => [name, emittingRules(made.get(name)!, emits, eventsByName)]),
  );
  return {
    name: own.source,
    own: { source: own.source, ...(own.sha256 !== undefined && { sha256: own.sha256 }) },
    collections: [...made.values()],
    operations: declarations
      .filter((one) => one.kind === "operation")
      .map((given) => toOperation(given, { own, shownSchema, eventsByName })),
    events,
    factories,
    state,
    fixture: toFixtureReader([...made.values()], factories),
  };
}

function toCollection({ name, prefix, record }: GivenCollection): AnyCollection {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name) || RESERVED.includes(name))
    throw new OwnFault(
      `${JSON.stringify(name)} is not a name for a collection, which is as in shared_notes`,
      { subject: name },
    );
  if (!/^[a-z]+_$/.test(prefix))
    throw new OwnFault(`${name}: the prefix ${JSON.stringify(prefix)} must be letters and an underscore`, {
      subject: name,
    });
  const schema = record as unknown as TObject;
  const references = Object.entries(schema.properties).filter(([, field]) => "x-refers-to" in field);
  const ordered = isInstantField(schema.properties["created_at"]);
  return collection({
    name,
    prefix,
    schema,
    // Lists by owner, the order in which records were created.
    indexes: Object.fromEntries(
      references.map(([field]) => [
        field,
        {
          groups: (one: Record<string, unknown>) => {
            const id = one[field];
            return typeof id === "string" ? [id] : [];
          },
          order: (one: Record<string, unknown>) => (ordered ? (one["created_at"] as number) : 0),
        },
      ]),
    ) as never,
  }) as AnyCollection;
}

/** Properties of `world` that are not collections. */
const RESERVED = ["now", "newId", "random", "of", "emit", "records", "constructor"];

function isInstantField(field: TSchema | undefined): boolean {
  return (field as { "x-instant"?: true } | undefined)?.["x-instant"] === true;
}

function toEvent(
  { name, about, data, summary, organization }: GivenEvent,
  all: ReadonlyMap<string, AnyCollection>,
  factories: NonNullable<Resource["factories"]>,
): AnyEvent {
  const of = all.get(about.name);
  if (of === undefined)
    throw new OwnFault(`the event ${name} is about ${about.name}, which does not exist`, { subject: name });
  const { properties } = of.schema as TObject;
  const missing = data.find((field) => properties[field] === undefined);
  if (missing !== undefined)
    throw new OwnFault(`the event ${name} sends ${missing}, which is not a field of ${of.name}`, {
      subject: missing,
    });
  if (organization === undefined && properties["organization_id"] === undefined)
    throw new OwnFault(
      `the event ${name} needs \`organization\`, since ${of.name} have no organization_id: whose webhooks receive it?`,
      { subject: name },
    );
  const factory = factories[of.name];
  return event({
    name,
    section: "own",
    summary: summary ?? `${name} of ${of.name}`,
    about: aboutRecords(of, {
      ...(organization && { heardBy: (record: object, world: unknown) => [organization(record, world)] }),
      ...(factory && {
        invent: (given: object, context: Parameters<typeof factory>[1], organization_id: string) =>
          factory({ organization_id, ...given }, context),
      }),
    } as never),
    data,
  }) as AnyEvent;
}

/** State calls and handlers emit the same events. */
function emittingRules(
  of: AnyCollection,
  emits: NonNullable<GivenCollection["emits"]>,
  events: ReadonlyMap<string, AnyEvent>,
): StateRules<object> {
  const find = (name: string | undefined) => {
    if (name === undefined) return undefined;
    const found = events.get(name);
    if (found === undefined)
      throw new OwnFault(`${of.name} emits ${name}, which is not an event`, { subject: name });
    return found;
  };
  const [insert, update, remove] = [find(emits.insert), find(emits.update), find(emits.remove)];
  return {
    insert(tx, record, { silent }) {
      tx.insert(of, record);
      if (insert && !silent) emit(tx, insert, record);
      return record;
    },
    update(tx, _before, after, { silent }) {
      tx.put(of, after);
      if (update && !silent) emit(tx, update, after);
      return after;
    },
    remove(tx, record, { silent }) {
      if (remove && !silent) emit(tx, remove, record);
    },
  };
}

/** Lists of records of each collection, by its name. */
export function toFixtureReader(
  collections: readonly AnyCollection[],
  factories: NonNullable<Resource["factories"]>,
): NonNullable<Resource["fixture"]> {
  const readers = collections.map((one) => {
    const record = fixtureRecord(one.schema as TObject, { needs: [one.idField] as never });
    return listReader(one, { record: record as never, factory: factories[one.name]! });
  });
  return {
    keys: Object.assign({}, ...readers.map(({ keys }) => keys)),
    seed(fixture, base) {
      for (const reader of readers) reader.seed(fixture, base);
    },
  };
}

interface OperationContext {
  own: DeclarationSource;
  shownSchema: (schema: object) => TSchema;
  eventsByName: ReadonlyMap<string, AnyEvent>;
}

function toOperation(
  given: GivenOperation,
  { own, shownSchema, eventsByName }: OperationContext,
): AnyOperation {
  const { id, method, path, access = "member", emit: emits } = given;
  const wrong = (said: string) => new OwnFault(`the operation ${String(id)} ${said}`, { subject: id });
  if (typeof id !== "string" || !/^[\w-]+(\.[\w-]+)*$/.test(id))
    throw wrong("needs an id such as notes.create");
  if (!METHODS.includes(method))
    throw wrong(`has the method ${String(method)}; there are ${METHODS.join(", ")}`);
  if (typeof path !== "string" || !/^(\/([\w.~-]+|\{\w+\}))+$/.test(path) || path.startsWith("/_"))
    throw wrong(`has the path ${JSON.stringify(path)}; one is as in /v1/notes/{note_id}`);
  if (typeof given.handle !== "function") throw wrong("has no `handle`");
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const strange = Object.keys(given.params ?? {}).find((name) => !names.includes(name));
  if (strange !== undefined) throw wrong(`declares the parameter ${strange}, which its path does not have`);
  const params = {
    ...Object.fromEntries(names.map((name) => [name, Type.String({ minLength: 1 })])),
    ...given.params,
  };
  const unknown = (given.errors ?? []).find((code) => CATALOGUE[code] === undefined);
  if (unknown !== undefined) throw wrong(`has the error ${unknown}, which is not a code of the catalogue`);
  const event =
    emits === undefined ? undefined : eventsByName.get(typeof emits === "string" ? emits : emits.name);
  if (emits !== undefined && event === undefined)
    throw wrong(`emits ${typeof emits === "string" ? emits : emits!.name}, which is not an event`);
  const { authorize, errors } = toAccess(access, names);
  const response = given.response && shownSchema(asSchema(given.response));
  const declared: AnyOperation = operation({
    id,
    section: "own",
    own: own.files?.get(given) ?? own.source,
    method,
    path,
    summary: given.summary ?? `Call ${id}`,
    ...(given.description && { description: given.description }),
    ...(names.length > 0 && { params: toObject(params) }),
    ...(given.query && { query: toObject(given.query) }),
    ...(given.body && { body: { kind: "json" as const, schema: shownSchema(asSchema(given.body)) } }),
    errors: [...new Set<DeclaredError>([...errors, ...(given.errors ?? [])])],
    success: toSuccesses(given.status, response),
    ...(given.reads !== undefined && { reads: given.reads }),
    ...(access === "public" && { credentials: false }),
    access: authorize,
    handle: given.handle as AnyOperation["handle"],
  });
  return guard(declared, event);
}

function toSuccesses(status: number | undefined, response: TSchema | undefined): Success[] {
  if (response !== undefined) return [{ status: status ?? 200, schema: response }];
  return status === undefined
    ? [{ status: 200, schema: Type.Unknown() }, { status: 204 }]
    : [status === 204 ? { status } : { status, schema: Type.Unknown() }];
}

type Authorize = NonNullable<AnyOperation["access"]>;

/** The check of the caller, and its refusals. */
function toAccess(
  access: NonNullable<GivenOperation["access"]>,
  names: readonly string[],
): { authorize: Authorize | undefined; errors: readonly DeclaredError[] } {
  if (typeof access === "function")
    return {
      authorize(call) {
        const loaded = access(toOwnCall(call));
        if (loaded === false) throw new ApiError("INSUFFICIENT_PERMISSIONS");
        return loaded;
      },
      errors: ["INSUFFICIENT_PERMISSIONS"],
    };
  if (access === "public" || access === "caller") return { authorize: undefined, errors: [] };
  const parameter = ["organization_id", "org_id"].find((name) => names.includes(name));
  const organization = (call: Call) =>
    parameter === undefined ? requireCurrentMember(call) : String((call.params as Fields)[parameter]);
  if (access === "member")
    return {
      authorize: (call) =>
        void (parameter === undefined ? requireCurrentMember(call) : requireMember(call, organization(call))),
      errors: parameter === undefined ? CURRENT_MEMBER_ERRORS : MEMBER_ERRORS,
    };
  if (access === "admin")
    return {
      authorize: (call) => void requireAdministrator(call, organization(call)),
      errors: ADMINISTRATOR_ERRORS,
    };
  if (access === "owner")
    return { authorize: (call) => requireOwner(call, organization(call)), errors: ADMINISTRATOR_ERRORS };
  throw new OwnFault(
    `access is public, caller, member, admin, owner or a function, not ${JSON.stringify(access)}`,
    { subject: access },
  );
}

/** @throws ApiError also INSUFFICIENT_PERMISSIONS */
function requireOwner(call: Call, organization_id: string): void {
  requireMember(call, organization_id);
  if (findCaller(call).memberships[organization_id] !== "owner")
    throw new ApiError("INSUFFICIENT_PERMISSIONS", { details: { required_role: "owner" } });
}

function isSchema(given: object): boolean {
  if (Object.keys(given).length === 0) return true;
  return ["type", "anyOf", "x-record", "enum"].some(
    (key) => typeof (given as Fields)[key] === "string" || Array.isArray((given as Fields)[key]),
  );
}

/** A schema, or the fields of an object. */
function asSchema(given: object): TSchema {
  return isSchema(given) ? (given as TSchema) : toObject(given as Fields);
}

function toObject(fields: Fields): TObject {
  const required = Object.keys(fields).filter(
    (name) => (fields[name] as { "x-optional"?: true })["x-optional"] !== true,
  );
  return { type: "object", properties: fields, required } as unknown as TObject;
}

/** The schema of a collection's records as the API shows them. */
export function shownRecord({ schema }: AnyCollection): TObject {
  const { $id: _id, ...shown } = withoutInternal(schema) as TObject & { $id?: string };
  const properties = Object.entries(shown.properties).map(([name, field]) => [name, shownField(field)]);
  return { ...shown, properties: Object.fromEntries(properties) } as unknown as TObject;
}

/** Puts the records of collections in place of their names. */
function inlineRecords(schema: object, all: ReadonlyMap<string, AnyCollection>): TSchema {
  const put = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(put);
    const name = (value as { "x-record"?: string })["x-record"];
    if (name === undefined)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, put(inner)]));
    const found = all.get(name);
    if (found === undefined)
      throw new OwnFault(`record(${JSON.stringify(name)}) names no collection`, { subject: name });
    return shownRecord(found);
  };
  return put(schema) as TSchema;
}
