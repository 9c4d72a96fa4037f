import type { TObject, TSchema } from "typebox";
import { type Api, createApi } from "../contract/api.ts";
import { OwnOperationError } from "../contract/errors.ts";
import { type AnyEvent, aboutRecords, type EventSubject, emit, event } from "../contract/event.ts";
import { createEntryFormat, createListReader } from "../contract/fixture-entry.ts";
import { toSteps } from "../contract/invalid-field.ts";
import { toPublicSchema } from "../contract/public-view.ts";
import type { Reference } from "../contract/references.ts";
import type { Resource, StateRules } from "../contract/resource.ts";
import {
  getPrefix,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  replaceNumericIds,
} from "../contract/schema.ts";
import { toHint } from "../contract/text.ts";
import { toValidator } from "../contract/validator.ts";
import { getOwn, mapValues } from "../maps.ts";
import { type AnyCollection, collection, type StoredRecord } from "../state/collection.ts";
import type { Transaction } from "../state/transaction.ts";
import { checkFields, checkKeys } from "./check-fields.ts";
import type { Declaration, DeclarationSource, DeclaredCollection, DeclaredEvent } from "./declaration.ts";
import { runBounded } from "./guard.ts";
import { createFactory } from "./make-record.ts";
import { toOperation } from "./own-operation.ts";
import { toUserArguments } from "./own-world.ts";

/**
 * The resource of a file's declarations.
 * @param earlierResources those of the reference and of earlier sources
 * @throws OwnOperationError for the first declaration that is wrong
 */
export function createOwnResource(
  declarations: readonly Declaration[],
  earlierResources: readonly Resource[],
  source: DeclarationSource,
): Resource {
  const collections = declarations.filter((one) => one.kind === "collection");
  const duplicate = collections.find(
    ({ name }, at) => collections.findIndex((one) => one.name === name) < at,
  );
  if (duplicate !== undefined)
    throw new OwnOperationError(`the collection ${duplicate.name} is declared twice`, {
      subject: duplicate.name,
    });
  const created = new Map(collections.map((one) => [one.name, toCollection(one)]));
  const collectionsByName = new Map([
    ...earlierResources.flatMap((one) => one.collections).map((one) => [one.name, one] as const),
    ...created,
  ]);
  for (const one of created.values()) checkReferences(one, collectionsByName);
  const inline = (schema: object) => inlineRecords(schema, collectionsByName);
  const factories = Object.fromEntries(
    [...created].map(([name, one]) => [name, createFactory(one, collectionsByName)]),
  );
  const events = declarations
    .filter((one) => one.kind === "event")
    .map((one) => toEvent(one, { collectionsByName, factories, getApi }));
  const eventsByName = new Map(
    [...earlierResources.flatMap((one) => one.events ?? []), ...events].map((one) => [one.name, one]),
  );
  let api: Api | undefined;
  function getApi(): Api {
    api ??= createApi([...earlierResources, resource]);
    return api;
  }
  const state = Object.fromEntries(
    collections.map(({ name, emits = {} }) => [
      name,
      createEmittingRules(created.get(name)!, emits, eventsByName),
    ]),
  );
  const resource: Resource = {
    name: source.source,
    userSource: { source: source.source, ...(source.sha256 !== undefined && { sha256: source.sha256 }) },
    collections: [...created.values()],
    operations: declarations
      .filter((one) => one.kind === "operation")
      .map((one) => toOperation(one, { source, inlineRecords: inline, eventsByName })),
    events,
    factories,
    state,
    fixture: toFixtureReader([...created.values()], factories, state),
  };
  return resource;
}

function toCollection(declaration: DeclaredCollection): AnyCollection {
  const { kind: _kind, name, prefix, record: declaredSchema, emits = {}, ...unknownKeys } = declaration;
  const createError = (message: string) => new OwnOperationError(message, { subject: name });
  checkKeys(unknownKeys, ["name", "prefix", "fields", "emits"], { noun: "the collection", name });
  if (!isJsonObject(emits))
    throw createError(`the collection ${name} emits ${JSON.stringify(emits)}, which is not a map of events`);
  checkKeys(emits, ["insert", "update", "remove"], { noun: "the `emits` of", name });
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name) || RESERVED.includes(name))
    throw createError(
      `a collection cannot have the name ${JSON.stringify(name)}; use one such as shared_notes`,
    );
  if (!/^[a-z]+_$/.test(prefix))
    throw createError(
      `${name}: the prefix ${JSON.stringify(prefix)} must be lower-case letters and an underscore`,
    );
  const schema = declaredSchema as unknown as TObject;
  checkFields(schema.properties, { noun: "the collection", name });
  const references = Object.entries(schema.properties).filter(([, field]) => "x-refers-to" in field);
  return collection({
    name,
    // `prefix` may be the default, which a declared id can contradict.
    prefix: getPrefix(schema.properties["id"] ?? {}) ?? prefix,
    schema,
    // Groups records by the record that a field names; within a group by id, as in the collection itself.
    indexes: Object.fromEntries(
      references.map(([field]) => [field, { groups: field, order: () => 0 }]),
    ) as never,
  }) as AnyCollection;
}

/** @throws OwnOperationError for a field that names a collection which does not exist, or has other ids */
function checkReferences(
  { name, schema }: AnyCollection,
  collectionsByName: ReadonlyMap<string, AnyCollection>,
): void {
  const checkPart = (field: string, part: unknown): void => {
    if (Array.isArray(part)) for (const item of part) checkPart(field, item);
    if (!isJsonObject(part)) return;
    for (const inner of Object.values(part)) checkPart(field, inner);
    const { collection: owner } = (part["x-refers-to"] ?? {}) as Partial<Reference>;
    if (owner === undefined) return;
    const createError = (problem: string) =>
      new OwnOperationError(`the collection ${name}: ${field} ${problem}`, { subject: owner });
    const target = collectionsByName.get(owner);
    if (target === undefined) {
      const hint = toHint(owner, collectionsByName.keys());
      throw createError(`names a record of ${JSON.stringify(owner)}, which does not exist${hint}`);
    }
    const prefix = getPrefix(part);
    const idSchema = (target.schema as unknown as TObject).properties[target.idField]!;
    if (prefix !== undefined && !toValidator(idSchema)(`${prefix}1`))
      throw createError(
        `has ids such as ${prefix}1, which ${owner} cannot have; theirs begin with ${target.prefix}`,
      );
  };
  for (const [field, fieldSchema] of Object.entries((schema as unknown as TObject).properties))
    checkPart(field, fieldSchema);
}

/** Names that other properties of `world` have or may have. */
const RESERVED = ["now", "random", "of", "emit", "end", "records", "constructor"];

interface EventContext {
  collectionsByName: ReadonlyMap<string, AnyCollection>;
  factories: NonNullable<Resource["factories"]>;
  /** The API with this resource, which its events need only once they are emitted. */
  getApi: () => Api;
}

function toEvent(
  declaration: DeclaredEvent,
  { collectionsByName, factories, getApi }: EventContext,
): AnyEvent {
  const { kind: _kind, name, about, data, summary, organization, ...unknownKeys } = declaration;
  checkKeys(unknownKeys, ["name", "about", "data", "summary", "organization"], { noun: "the event", name });
  const createError = (problem: string, subject = name) =>
    new OwnOperationError(`the event ${name} ${problem}`, { subject });
  if (!name || typeof about?.name !== "string" || !Array.isArray(data))
    throw createError("needs a `name`, `about`, a collection, and `data`, a list of its fields");
  if (organization !== undefined && typeof organization !== "function")
    throw createError(`has the organization ${JSON.stringify(organization)}, which is not a function`);
  if (summary !== undefined && typeof summary !== "string")
    throw createError(`has the summary ${JSON.stringify(summary)}, which is not a text`);
  const aboutCollection = collectionsByName.get(about.name);
  if (aboutCollection === undefined) throw createError(`is about ${about.name}, which does not exist`);
  const { properties } = aboutCollection.schema as TObject;
  const missing = data.find((field) => !Object.hasOwn(properties, field));
  if (missing !== undefined)
    throw createError(`sends ${missing}, which is not a field of ${aboutCollection.name}`, missing);
  if (organization === undefined && properties["organization_id"] === undefined)
    throw createError(
      `needs \`organization\`, since ${aboutCollection.name} have no organization_id: whose webhooks receive it?`,
    );
  const factory = factories[aboutCollection.name];
  const options: Partial<Pick<EventSubject<StoredRecord, string>, "listOrganizations" | "invent">> = {
    ...(organization && {
      listOrganizations(record, tx) {
        const readerName = `the event ${name}: \`organization\``;
        const context = { api: getApi(), tx: tx as Transaction, readerName };
        const args = toUserArguments(record, aboutCollection, context);
        const organization_id: unknown = runBounded(() => organization(...args), { id: readerName });
        if (typeof organization_id === "string") return [organization_id];
        throw new OwnOperationError(`${readerName} returned no id`, { subject: name });
      },
    }),
    ...(factory && {
      invent: (fields, context, organization_id) => factory({ organization_id, ...fields }, context),
    }),
  };
  return event({
    name,
    section: "own",
    summary: summary ?? `${name} of ${aboutCollection.name}`,
    about: aboutRecords(aboutCollection, options as never),
    data,
  }) as AnyEvent;
}

/** State calls and handlers emit the same events. */
function createEmittingRules(
  collection: AnyCollection,
  emits: NonNullable<DeclaredCollection["emits"]>,
  events: ReadonlyMap<string, AnyEvent>,
): StateRules<object> {
  const findEvent = (name: string | undefined) => {
    if (name === undefined) return undefined;
    const event = events.get(name);
    const subjects = event?.about.collections.map((one: AnyCollection) => one.name);
    if (event !== undefined && subjects?.includes(collection.name)) return event;
    const what = subjects === undefined ? "not an event" : `an event about ${subjects.join(", ")}`;
    throw new OwnOperationError(`${collection.name} emits ${name}, which is ${what}`, { subject: name });
  };
  const [insert, update, remove] = [emits.insert, emits.update, emits.remove].map(findEvent);
  return {
    insert(tx, record, { silent }) {
      tx.insert(collection, record);
      if (insert && !silent) emit(tx, insert, record);
      return record;
    },
    update(tx, _before, after, { silent }) {
      tx.put(collection, after);
      if (update && !silent) emit(tx, update, after);
      return after;
    },
    beforeRemove(tx, record, { silent }) {
      if (remove && !silent) emit(tx, remove, record);
    },
  };
}

/** Reads lists of records by collection, lazily: OpenAPI documents declare many collections without records. */
export function toFixtureReader(
  collections: readonly AnyCollection[],
  factories: NonNullable<Resource["factories"]>,
  state: NonNullable<Resource["state"]>,
): NonNullable<Resource["fixture"]> {
  const toReader = (ownCollection: AnyCollection) => {
    const entryFormat = createEntryFormat(ownCollection.schema as TObject, {
      required: [ownCollection.idField] as never,
    });
    const { properties } = ownCollection.schema as TObject;
    Object.assign(entryFormat.schema, { "x-id": ownCollection.idField });
    const fieldSchemas = (entryFormat.schema as TSchema as TObject).properties;
    for (const [name, field] of Object.entries(fieldSchemas) as [string, TSchema & JsonSchema][])
      fieldSchemas[name] = (
        field["x-number"] ? { ...field, type: ["string", "integer"] } : allowDefaults(field)
      ) as TSchema;
    const toFields: typeof entryFormat.toFields = (entry, base) => {
      const complete = mapValues(entry, (value, name) =>
        addInnerDefaults(fieldSchemas[name] as JsonSchema, value),
      );
      const fields = entryFormat.toFields(complete, base);
      replaceNumericIds(fields as JsonObject, properties);
      return fields;
    };
    return createListReader(ownCollection, {
      entryFormat: { ...entryFormat, toFields } as never,
      factory: factories[ownCollection.name]!,
    });
  };
  return {
    get keys() {
      return Object.assign({}, ...collections.map((ownCollection) => toReader(ownCollection).keys));
    },
    check(fixture, report) {
      for (const { name } of collections)
        for (const [index, entry] of ((getOwn(fixture, name) ?? []) as JsonObject[]).entries()) {
          const invalid = state[name]?.findInvalid?.(entry);
          if (invalid !== undefined)
            report(
              [name, index, ...toSteps(invalid.pointer)],
              `${invalid.pointer === "" ? "the record" : invalid.field} ${invalid.message}`,
            );
        }
    },
    addRecords(fixture, base) {
      for (const ownCollection of collections)
        if (getOwn(fixture, ownCollection.name) !== undefined)
          toReader(ownCollection).addRecords(fixture, base);
    },
  };
}

/** The schema of a value in which fields with a default may be absent. */
function allowDefaults(schema: JsonSchema): JsonSchema {
  const { properties, required = [], items, anyOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: mapValues(properties, allowDefaults),
      required: required.filter((name) => properties[name]?.default === undefined),
    }),
    ...(typeof items === "object" && { items: allowDefaults(items) }),
    ...(anyOf && unwrapNullable(schema) && { anyOf: anyOf.map(allowDefaults) }),
  };
}

/** The schema that a nullable one allows; undefined for any other, such as a union, whose branches have their own defaults. */
function unwrapNullable({ anyOf = [] }: JsonSchema): JsonSchema | undefined {
  const others = anyOf.filter(({ type }) => type !== "null");
  return others.length === 1 ? others[0] : undefined;
}

/** A copy of a value with the defaults of the fields in it. */
function addInnerDefaults(schema: JsonSchema, value: unknown): unknown {
  const { properties, items } = schema;
  const inner = unwrapNullable(schema);
  const complete = inner === undefined ? value : addInnerDefaults(inner, value);
  if (items && Array.isArray(complete)) return complete.map((item) => addInnerDefaults(items, item));
  if (!properties || !isJsonObject(complete)) return complete;
  const defaults = Object.entries(properties).flatMap(([name, field]) =>
    field.default === undefined ? [] : [[name, field.default]],
  );
  return mapValues({ ...Object.fromEntries(defaults), ...complete }, (inner, name) =>
    addInnerDefaults(getOwn(properties, name) ?? {}, inner),
  );
}

/** Replaces each `x-record`, the name of a collection, by the schema of its records. */
function inlineRecords(schema: object, collectionsByName: ReadonlyMap<string, AnyCollection>): TSchema {
  const replace = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(replace);
    const name = (value as { "x-record"?: string })["x-record"];
    if (name === undefined)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner)]));
    const recordCollection = collectionsByName.get(name);
    if (recordCollection === undefined)
      throw new OwnOperationError(`record(${JSON.stringify(name)}) names no collection`, { subject: name });
    return toPublicSchema(recordCollection);
  };
  return replace(schema) as TSchema;
}
