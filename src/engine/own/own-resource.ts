import type { TObject, TSchema } from "typebox";
import { OwnFault } from "../contract/errors.ts";
import { type AnyEvent, aboutRecords, emit, event } from "../contract/event.ts";
import { fixtureRecord, listReader } from "../contract/fixture-record.ts";
import { toShownField, withoutInternal } from "../contract/public-view.ts";
import type { Reference } from "../contract/references.ts";
import type { Resource, StateRules } from "../contract/resource.ts";
import { findNearest } from "../contract/text.ts";
import { type AnyCollection, collection } from "../state/collection.ts";
import { checkFields, checkKeys } from "./check-fields.ts";
import type { Declaration, DeclarationSource, DeclaredCollection, DeclaredEvent } from "./declaration.ts";
import { makeFactory } from "./make-record.ts";
import { toOperation } from "./own-operation.ts";

/**
 * The resource of a file's declarations.
 * @param known the resources before it
 * @throws OwnFault for the first declaration that is wrong
 */
export function createOwnResource(
  declarations: readonly Declaration[],
  known: readonly Resource[],
  own: DeclarationSource,
): Resource {
  const collections = declarations.filter((one) => one.kind === "collection");
  const twice = collections.find(({ name }, at) => collections.findIndex((one) => one.name === name) < at);
  if (twice !== undefined)
    throw new OwnFault(`the collection ${twice.name} is declared twice`, { subject: twice.name });
  const made = new Map(collections.map((one) => [one.name, toCollection(one)]));
  const all = new Map([
    ...known.flatMap((one) => one.collections).map((one) => [one.name, one] as const),
    ...made,
  ]);
  for (const one of made.values()) requireOwners(one, all);
  const shownSchema = (schema: object) => inlineRecords(schema, all);
  const factories = Object.fromEntries([...made].map(([name, one]) => [name, makeFactory(one, all)]));
  const events = declarations
    .filter((one) => one.kind === "event")
    .map((one) => toEvent(one, all, factories));
  const eventsByName = new Map(
    [...known.flatMap((one) => one.events ?? []), ...events].map((one) => [one.name, one]),
  );
  const state = Object.fromEntries(
    collections.map(({ name, emits = {} }) => [
      name,
      createEmittingRules(made.get(name)!, emits, eventsByName),
    ]),
  );
  return {
    name: own.source,
    own: { source: own.source, ...(own.sha256 !== undefined && { sha256: own.sha256 }) },
    collections: [...made.values()],
    operations: declarations
      .filter((one) => one.kind === "operation")
      .map((one) => toOperation(one, { own, shownSchema, eventsByName })),
    events,
    factories,
    state,
    fixture: toFixtureReader([...made.values()], factories),
  };
}

function toCollection({ name, prefix, record, emits = {} }: DeclaredCollection): AnyCollection {
  checkKeys(emits, ["insert", "update", "remove"], { noun: "the `emits` of", name });
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
  checkFields(schema.properties, { noun: "the collection", name });
  const references = Object.entries(schema.properties).filter(([, field]) => "x-refers-to" in field);
  const ordered = isInstantField(schema.properties["created_at"]);
  return collection({
    name,
    prefix,
    schema,
    // Lists of records by owner, in the order in which they were created.
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

/** @throws OwnFault for a field that names records of no collection */
function requireOwners({ name, schema }: AnyCollection, all: ReadonlyMap<string, AnyCollection>): void {
  for (const [field, { "x-refers-to": refers }] of Object.entries(
    (schema as unknown as { properties: Record<string, { "x-refers-to"?: Reference }> }).properties,
  )) {
    if (refers === undefined || all.has(refers.collection)) continue;
    const meant = findNearest(refers.collection, [...all.keys()]);
    const hint = meant === undefined ? "" : ` (did you mean ${JSON.stringify(meant)}?)`;
    throw new OwnFault(
      `the collection ${name}: ${field} names a record of ${JSON.stringify(refers.collection)}, which does not exist${hint}`,
      { subject: refers.collection },
    );
  }
}

/** Properties of `world` that are not collections. */
const RESERVED = ["now", "newId", "random", "of", "emit", "records", "constructor"];

function isInstantField(field: TSchema | undefined): boolean {
  return (field as { "x-instant"?: true } | undefined)?.["x-instant"] === true;
}

function toEvent(
  { name, about, data, summary, organization }: DeclaredEvent,
  all: ReadonlyMap<string, AnyCollection>,
  factories: NonNullable<Resource["factories"]>,
): AnyEvent {
  if (about === undefined || !Array.isArray(data))
    throw new OwnFault(
      `the event ${name} needs \`about\`, a collection, and \`data\`, a list of its fields`,
      {
        subject: name,
      },
    );
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
        invent: (fields: object, context: Parameters<typeof factory>[1], organization_id: string) =>
          factory({ organization_id, ...fields }, context),
      }),
    } as never),
    data,
  }) as AnyEvent;
}

/** State calls and handlers emit the same events. */
function createEmittingRules(
  of: AnyCollection,
  emits: NonNullable<DeclaredCollection["emits"]>,
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

/** Lists of records of each collection, by its name. Documents declare many, and few have records in a fixture. */
export function toFixtureReader(
  collections: readonly AnyCollection[],
  factories: NonNullable<Resource["factories"]>,
): NonNullable<Resource["fixture"]> {
  const toReader = (one: AnyCollection) => {
    const record = fixtureRecord(one.schema as TObject, { needs: [one.idField] as never });
    return listReader(one, { record: record as never, factory: factories[one.name]! });
  };
  return {
    get keys() {
      return Object.assign({}, ...collections.map((one) => toReader(one).keys));
    },
    seed(fixture, base) {
      for (const one of collections) if (fixture[one.name] !== undefined) toReader(one).seed(fixture, base);
    },
  };
}

/** The schema of a collection's records as the API shows them. */
export function toShownRecord({ schema }: AnyCollection): TObject {
  const { $id: _id, ...shown } = withoutInternal(schema) as TObject & { $id?: string };
  const properties = Object.entries(shown.properties).map(([name, field]) => [name, toShownField(field)]);
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
    return toShownRecord(found);
  };
  return put(schema) as TSchema;
}
