import { type Static, type TSchema, Type } from "typebox";
import type { Api } from "../engine/contract/api.ts";
import { ClosedObject, MapOf, Nullable } from "../engine/contract/schema.ts";
import { isEqual } from "../engine/maps.ts";
import type { BeforeAfter } from "../engine/sandbox/history-entry.ts";
import type { Root } from "../engine/state/tables.ts";
import { Transaction } from "../engine/state/transaction.ts";
import type { WorldValue } from "../engine/state/world-parts.ts";
import { listStateCollections } from "./state/state-collection.ts";

type Fields = Record<string, unknown>;

const PublicRecord = Type.Unsafe<Fields>({
  type: "object",
  description: "A record as the state calls show it",
});
const ByCollection = <T extends TSchema>(one: T, description: string) =>
  MapOf(Type.Array(one), { description });

/** The differences between two worlds (interfaces.md 4). */
export const DifferenceBody = ClosedObject(
  {
    added: ByCollection(PublicRecord, "Records by collection"),
    removed: ByCollection(PublicRecord, "Records by collection"),
    changed: ByCollection(
      ClosedObject({
        id: Type.String(),
        fields: MapOf(ClosedObject({ before: Type.Unknown(), after: Type.Unknown() })),
      }),
      "By collection, the records whose fields differ; null where one has no such field",
    ),
  },
  {
    $id: "Difference",
    examples: [
      {
        added: {},
        removed: {},
        changed: {
          departments: [{ id: "dept_ml", fields: { parent_id: { before: "dept_eng", after: "dept_ops" } } }],
        },
      },
    ],
  },
);
type WorldDifference = Static<typeof DifferenceBody>;

const RecordOrNull = Nullable(PublicRecord);

/** The records that an entry of the history affected (interfaces.md 10). */
export const RecordChangesBody = MapOf(
  Type.Array(ClosedObject({ id: Type.String(), before: RecordOrNull, after: RecordOrNull })),
  {
    $id: "RecordChanges",
    description:
      "By collection, each added, removed or changed record. `before` of an added record is null, and so is `after` of a removed one",
    examples: [
      { threads: [{ id: "thread_ada", before: { id: "thread_ada", title: "Plans" }, after: null }] },
    ],
  },
);

export function compareWorlds(api: Api, oldWorld: WorldValue, newWorld: WorldValue): WorldDifference {
  const difference: WorldDifference = { added: {}, removed: {}, changed: {} };
  for (const { name, id, before, after } of listDifferences(api, readWorld(oldWorld), readWorld(newWorld))) {
    if (before === undefined) append(difference.added, name, after!);
    else if (after === undefined) append(difference.removed, name, before);
    else {
      const fields = listChangedFields(before, after);
      if (fields !== undefined) append(difference.changed, name, { id, fields });
    }
  }
  return difference;
}

/** The records before and after an entry of the history, by collection. */
export function toRecordChanges(api: Api, states: BeforeAfter): Static<typeof RecordChangesBody> {
  const changes: Static<typeof RecordChangesBody> = {};
  if (states.fromVersion === states.toVersion) return changes;
  // Only the entry's own writes, without those of timers that it ran, are between `fromVersion` and `toVersion`.
  const read = (version: number, { environment, now }: BeforeAfter["before"]) =>
    toReader(states.versions.getRoot(version)!, environment, now);
  const differences = listDifferences(
    api,
    read(states.fromVersion, states.before),
    read(states.toVersion, states.after),
  );
  for (const { name, id, before = null, after = null } of differences)
    append(changes, name, { id, before, after });
  return changes;
}

/** The records that differ, as the state calls show them. An uploaded snapshot has copies of equal records. */
function* listDifferences({ resources, collections }: Api, oldWorld: Transaction, newWorld: Transaction) {
  // A collection may have been declared since one of the worlds was saved.
  const from = oldWorld.toRoot().tables.addMissing(collections);
  const to = newWorld.toRoot().tables.addMissing(collections);
  for (const [name, state] of listStateCollections(resources))
    for (const { id, before, after } of from.get(name)!.listChangesTo(to.get(name)!)) {
      if (isEqual(before, after)) continue;
      yield {
        name,
        id,
        before: before && state.toPublic(before, oldWorld),
        after: after && state.toPublic(after, newWorld),
      };
    }
}

/** A reader of a world without its sandbox. */
export function readWorld(world: WorldValue): Transaction {
  return toReader(world.root, world, world.clock.at);
}

/** @param now in milliseconds since 1970 */
function toReader(
  root: Root,
  { origin, seed }: Pick<WorldValue, "origin" | "seed">,
  now: number,
): Transaction {
  return new Transaction(root, { origin, now: now - origin, seed, secretKey: "" });
}

function listChangedFields(before: Fields, after: Fields) {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const fields: Record<string, { before: unknown; after: unknown }> = {};
  for (const name of names) {
    const [oldValue, newValue] = [before[name] ?? null, after[name] ?? null];
    if (!isEqual(oldValue, newValue)) fields[name] = { before: oldValue, after: newValue };
  }
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function append<T>(lists: Record<string, T[]>, name: string, item: T): void {
  lists[name] ??= [];
  lists[name].push(item);
}
