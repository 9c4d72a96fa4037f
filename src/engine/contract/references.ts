import { getOrAdd } from "../maps.ts";
import type { AnyCollection, Collection, StoredRecord } from "../state/collection.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";
import { View } from "../state/view.ts";
import { invalidInput } from "./errors.ts";
import type { FactoryContext } from "./factory.ts";
import { getValue, toFieldName, toPointer } from "./invalid-field.ts";
import { isJsonObject, type JsonSchema, listFieldSchemas } from "./schema.ts";

/** The collection whose records a field, or the keys of a map, name. */
export interface Reference {
  collection: string;
  /**
   * Whether the record with the reference belongs to the named record and is deleted with it. Otherwise the reference
   * is a mention, such as of an author, and the record outlives the named one.
   */
  owned: boolean;
}

/**
 * Options of a field whose record is deleted with the record that it names: `Id("org_", belongsTo("organizations"))`.
 */
export const belongsTo = (collection: string) => ({ "x-refers-to": { collection, owned: true } });

/** Options of a field that names a record and outlives it, such as an author. */
export const mentions = (collection: string) => ({ "x-refers-to": { collection, owned: false } });

/** Options of a map whose entries are deleted with the records that their keys name. */
export const keysBelongTo = (collection: string) => ({
  "x-keys-refer-to": { collection, owned: true },
});

/** An id, found in a value, that names a record. */
export interface FoundReference {
  reference: Reference;
  id: string;
  path: readonly (string | number)[];
  /** Whether the id is the key that the path ends with. */
  isKey: boolean;
}

interface ReferenceKeywords {
  "x-refers-to"?: Reference;
  "x-keys-refer-to"?: Reference;
}

type Visit = (reference: FoundReference) => void;

/** Visits every id in a value that its schema declares to be a reference. */
export function visitReferences(
  schema: object,
  value: unknown,
  visit: Visit,
  path: FoundReference["path"] = [],
): void {
  if (!hasReferences(schema)) return;
  const { type, items, anyOf = [] } = schema as JsonSchema;
  // Users' documents may have numbers as ids.
  const takesNumbers = type === undefined || /array|integer|number/.test(String(type));
  const isId = (one: unknown) => typeof one === "string" || (takesNumbers && typeof one === "number");
  const { "x-refers-to": reference, "x-keys-refer-to": keyReference } = schema as ReferenceKeywords;
  for (const alternative of anyOf) visitReferences(alternative, value, visit, path);
  if (reference !== undefined && isId(value)) visit({ reference, id: String(value), path, isKey: false });
  else if (Array.isArray(value)) {
    // A record with a list of owners outlives each of them.
    for (const [index, item] of value.entries())
      if (reference !== undefined && isId(item))
        visit({
          reference: { ...reference, owned: false },
          id: String(item),
          path: [...path, index],
          isKey: false,
        });
      else if (items !== undefined) visitReferences(items, item, visit, [...path, index]);
  } else if (isJsonObject(value))
    for (const [name, field] of Object.entries(value)) {
      if (keyReference !== undefined)
        visit({ reference: keyReference, id: name, path: [...path, name], isKey: true });
      for (const fieldSchema of listFieldSchemas(schema as JsonSchema, name))
        if (hasReferences(fieldSchema)) visitReferences(fieldSchema, field, visit, [...path, name]);
    }
}

const hasReferencesBySchema = new WeakMap<object, boolean>();

/** Whether a schema declares a reference at any depth. Most of a large value has none, and is skipped. */
function hasReferences(schema: object): boolean {
  return getOrAdd(hasReferencesBySchema, schema, () => findReferences(schema).length > 0);
}

/** The references that a schema declares at any depth. */
export function findReferences(schema: object): Reference[] {
  const references: Reference[] = [];
  JSON.stringify(schema, (key, value) => {
    if (key === "x-refers-to" || key === "x-keys-refer-to") references.push(value as Reference);
    return value;
  });
  return references;
}

/**
 * Requires that all records that a state call names exist.
 * @throws ApiError INVALID_INPUT for the first field that names a missing record
 */
export function requireReferences(tx: Transaction, { schema }: AnyCollection, record: object): void {
  const collections = tx.listCollections();
  visitReferences(schema, record, ({ reference, id, path, isKey }) => {
    const collection = collections.find(({ name }) => name === reference.collection);
    if (collection === undefined || tx.get(collection, id) !== undefined) return;
    const pointer = toPointer(path);
    const field = toFieldName(pointer);
    const value = isKey ? getValue(record, pointer) : id;
    throw invalidInput(field, value, `${field} must name one of the ${collection.name}; there is no ${id}`);
  });
}

/**
 * The record that a field of a state call refers to.
 * @throws ApiError INVALID_INPUT for that field when there is none
 */
export function requireReferencedRecord<R extends StoredRecord>(
  world: Pick<WorldReader, "get">,
  collection: Collection<R>,
  { field, id }: { field: string; id: string },
): R {
  const record = world.get(collection, id);
  if (record === undefined)
    throw invalidInput(field, id, `${field} must name one of the ${collection.name}; there is no ${id}`);
  return record;
}

/**
 * Keeps a record in the organization of the records that refer to it.
 * @throws ApiError INVALID_INPUT for another organization, if there are such records
 */
export function requireSameOrganization(
  before: { organization_id: string },
  after: { organization_id: string },
  referring: { name: string; records: { first: () => unknown } },
): void {
  const { organization_id } = after;
  if (organization_id === before.organization_id || referring.records.first() === undefined) return;
  const reason = `its ${referring.name} stay in ${before.organization_id}; delete them first`;
  throw invalidInput("organization_id", organization_id, reason);
}

type DefaultsContext = Pick<FactoryContext, "actor_organization_id"> & { world: Pick<WorldReader, "all"> };

/**
 * The records that another one may refer to by default: those of an organization, if they name one. For an own operation,
 * that is its caller's: callers do not see records of others.
 */
export function listDefaultRecords<R extends StoredRecord>(
  { world, actor_organization_id }: DefaultsContext,
  collection: Collection<R>,
  organization_id = actor_organization_id,
): View<R> {
  const records = world.all(collection);
  if (organization_id === undefined || !hasOrganization(collection)) return records;
  return View.ofList([...records].filter((one) => Reflect.get(one, "organization_id") === organization_id));
}

const hasOrganization = ({ schema }: { schema: object }) =>
  Object.hasOwn((schema as JsonSchema).properties ?? {}, "organization_id");

/** An owner of an owner and so on, at most; owners may form a circle. */
const MAX_OWNERS = 8;

/** The organization that a record names, or that its owner does. */
export function findOrganization(
  record: object,
  { schema }: AnyCollection,
  source: { world: Pick<WorldReader, "get">; findCollection: (name: string) => AnyCollection | undefined },
  depth = 0,
): string | undefined {
  let organization_id: unknown = Reflect.get(record, "organization_id");
  visitReferences(schema, record, ({ reference: { collection, owned }, id }) => {
    if (organization_id !== undefined || !owned || depth === MAX_OWNERS) return;
    const owners = source.findCollection(collection);
    const owner = owners && source.world.get(owners, id);
    if (collection === "organizations") organization_id = id;
    else if (owner !== undefined) organization_id = findOrganization(owner, owners!, source, depth + 1);
  });
  return typeof organization_id === "string" ? organization_id : undefined;
}

/**
 * The first of `listDefaultRecords`.
 * @throws ApiError INVALID_INPUT for the field that would have to name one
 */
export function requireFirstRecord<R extends StoredRecord>(
  context: DefaultsContext,
  collection: Collection<R>,
  field: string,
  organization_id = context.actor_organization_id,
): R {
  const first = listDefaultRecords(context, collection, organization_id).first();
  if (first !== undefined) return first;
  const owner = organization_id === undefined ? "" : ` of ${organization_id}`;
  throw invalidInput(field, null, `${field} is required: there are no ${collection.name}${owner}`);
}

const MAX_SCANNED = 1000;

/** A record of this organization, if there is one among the first thousand. */
export function findAnyInOrganization<R extends StoredRecord & { organization_id: string }>(
  world: Pick<WorldReader, "all">,
  collection: Collection<R>,
  organization_id: string,
): R | undefined {
  return world
    .all(collection)
    .page(0, MAX_SCANNED)
    .find((record) => record.organization_id === organization_id);
}
