import type { TSchema } from "typebox";
import { getOrAdd } from "../maps.ts";
import type { AnyCollection, Collection, StoredRecord } from "../state/collection.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";
import { invalidInput } from "./errors.ts";
import { getValue, toFieldName, toPointer } from "./invalid-field.ts";
import type { JsonSchema } from "./schema.ts";

/** The collection whose records a field, or the keys of a map, name. */
export interface Reference {
  collection: string;
  /**
   * Whether the record with the reference belongs to the named record and is deleted with it. Otherwise it only
   * mentions it, such as an author, and outlives it.
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

/** An id within a value that names a record, with its path. */
export interface FoundReference {
  reference: Reference;
  id: string;
  path: readonly (string | number)[];
  /** Whether the id is the key that the path ends with. */
  isKey: boolean;
}

type Visit = (reference: FoundReference) => void;
type Walk = (value: unknown, path: readonly (string | number)[], visit: Visit) => void;

const walks = new WeakMap<object, Walk | null>();

/** Visits every id in a value that its schema declares to be a reference. */
export function visitReferences(schema: TSchema | object, value: unknown, visit: Visit): void {
  getWalk(schema)?.(value, [], visit);
}

/** The references that a schema declares at any depth. */
export function findReferences(schema: TSchema | object): Reference[] {
  const references: Reference[] = [];
  JSON.stringify(schema, (key, value) => {
    if (key === "x-refers-to" || key === "x-keys-refer-to") references.push(value as Reference);
    return value;
  });
  return references;
}

/** Null if nothing below is a reference, so that most of a large value is skipped. */
function getWalk(schema: JsonSchema | object): Walk | null {
  return getOrAdd(walks, schema, () => compileWalk(schema as JsonSchema));
}

function compileWalk(schema: JsonSchema): Walk | null {
  const { items, anyOf = [] } = schema;
  const reference = schema["x-refers-to"] as Reference | undefined;
  const steps: Walk[] = anyOf.flatMap((part) => getWalk(part) ?? []);
  if (reference !== undefined)
    steps.push((value, path, visit) => {
      if (typeof value === "string") visit({ reference, id: value, path, isKey: false });
    });
  const item = items === undefined ? null : getWalk(items);
  if (item !== null)
    steps.push((value, path, visit) => {
      if (Array.isArray(value))
        for (const [index, element] of value.entries()) item(element, [...path, index], visit);
    });
  steps.push(...walkFields(schema));
  if (steps.length <= 1) return steps[0] ?? null;
  return (value, path, visit) => {
    for (const step of steps) step(value, path, visit);
  };
}

function walkFields({ properties = {}, patternProperties = {}, ...schema }: JsonSchema): Walk[] {
  const keys = schema["x-keys-refer-to"] as Reference | undefined;
  const walksByName = new Map<string, Walk>();
  for (const [name, part] of Object.entries(properties)) {
    const walk = getWalk(part);
    if (walk !== null) walksByName.set(name, walk);
  }
  const values = Object.values(patternProperties).flatMap((part) => getWalk(part) ?? []);
  if (keys === undefined && walksByName.size === 0 && values.length === 0) return [];
  return [
    (value, path, visit) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return;
      for (const [name, fieldValue] of Object.entries(value)) {
        const fieldPath = [...path, name];
        if (keys !== undefined) visit({ reference: keys, id: name, path: fieldPath, isKey: true });
        const walk = walksByName.get(name);
        if (walk !== undefined) walk(fieldValue, fieldPath, visit);
        else if (!Object.hasOwn(properties, name))
          for (const walkValue of values) walkValue(fieldValue, fieldPath, visit);
      }
    },
  ];
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
 * The default record that another one refers to: the first of its collection.
 * @throws ApiError INVALID_INPUT for the field that would have to name one
 */
export function requireFirstRecord<R extends StoredRecord>(
  world: Pick<WorldReader, "all">,
  collection: Collection<R>,
  field: string,
): R {
  const first = world.all(collection).first();
  if (first === undefined)
    throw invalidInput(field, null, `${field} is required: there are no ${collection.name}`);
  return first;
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
