import { getOrAdd } from "../maps.ts";
import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import type { Transaction } from "../state/transaction.ts";
import { type FoundReference, findReferences, visitReferences } from "./references.ts";

interface RemovedRecords {
  collection: AnyCollection;
  ids: ReadonlySet<string>;
}

/**
 * Removes a record and, level by level, all that belongs to it by the declarations of every collection: records that
 * name it with `belongsTo`, map entries whose keys name it, and their timers. Authors and other mentions stay. The
 * caller emits events and writes log entries.
 */
export function removeWithDependents(tx: Transaction, collection: AnyCollection, id: string): void {
  const levels: RemovedRecords[] = [{ collection, ids: new Set([id]) }];
  for (let level = levels.shift(); level !== undefined; level = levels.shift()) {
    for (const removedId of level.ids) tx.remove(level.collection, removedId);
    for (const dependent of tx.listCollections()) {
      if (!listOwners(dependent).has(level.collection.name)) continue;
      const ids = removeEntries(tx, dependent, level);
      if (ids.size > 0) levels.push({ collection: dependent, ids });
    }
  }
}

/** Removes map entries; returns the ids of the records that must be removed as a whole. */
function removeEntries(tx: Transaction, dependent: AnyCollection, removed: RemovedRecords): Set<string> {
  const ids = new Set<string>();
  for (const record of listReferrers(tx, dependent, removed)) {
    const references = findReferencesTo(removed, dependent, record);
    if (references.some(({ isKey }) => !isKey)) ids.add(dependent.getId(record));
    else if (references.length > 0)
      tx.put(
        dependent,
        references.reduce((remaining, { path }) => removeEntry(remaining, path), record),
      );
  }
  return ids;
}

function findReferencesTo(
  { collection, ids }: RemovedRecords,
  { schema }: AnyCollection,
  record: StoredRecord,
): FoundReference[] {
  const references: FoundReference[] = [];
  visitReferences(schema, record, (found) => {
    const { reference, id } = found;
    if (reference.owned && reference.collection === collection.name && ids.has(id)) references.push(found);
  });
  return references;
}

/** All records that may name one of the removed ones: from the index of the field, if the collection has one. */
function listReferrers(
  tx: Transaction,
  dependent: AnyCollection,
  removed: RemovedRecords,
): Iterable<StoredRecord> {
  const fields = findFieldsNaming(dependent, removed.collection.name);
  const [field] = fields;
  if (fields.length !== 1 || field === undefined) return tx.all(dependent);
  if (field === dependent.idField)
    return [...removed.ids].flatMap((id) => (tx.get(dependent, id) as StoredRecord | undefined) ?? []);
  const indexName = Object.entries(dependent.indexes).find(([, index]) => index.field === field)?.[0];
  if (indexName === undefined) return tx.all(dependent);
  return [...removed.ids].flatMap((id) => [
    ...(tx.index(dependent, indexName, id) as Iterable<StoredRecord>),
  ]);
}

const ownersBySchema = new WeakMap<object, ReadonlySet<string>>();

function listOwners({ schema }: AnyCollection): ReadonlySet<string> {
  return getOrAdd(
    ownersBySchema,
    schema,
    () => new Set(findReferences(schema).flatMap(({ owned, collection }) => (owned ? [collection] : []))),
  );
}

/** The top-level fields that contain, at any depth, ids of owners in this collection. */
function findFieldsNaming({ schema }: AnyCollection, owner: string): string[] {
  const { properties = {} } = schema as { properties?: Record<string, object> };
  return Object.keys(properties).filter((name) =>
    findReferences(properties[name]!).some(({ owned, collection }) => owned && collection === owner),
  );
}

function removeEntry(value: unknown, [step, ...rest]: FoundReference["path"]): StoredRecord {
  const { [String(step)]: inner, ...others } = value as Record<string, unknown>;
  return rest.length === 0 ? others : { ...others, [String(step)]: removeEntry(inner, rest) };
}
