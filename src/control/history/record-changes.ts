import { type Static, Type } from "typebox";
import type { Api } from "../../engine/contract/api.ts";
import { ClosedObject, MapOf, Nullable } from "../../engine/contract/schema.ts";
import type { BeforeAfter } from "../../engine/sandbox/history-entry.ts";
import type { Tables } from "../../engine/state/tables.ts";
import { toReader } from "../snapshot-diff.ts";
import { listStateCollections } from "../state/state-collection.ts";

type Fields = Record<string, unknown>;

const PublicRecord = Nullable(
  Type.Unsafe<Fields>({ type: "object", description: "A record as the state calls show it" }),
);

export const RecordChangesBody = MapOf(
  Type.Array(ClosedObject({ id: Type.String(), before: PublicRecord, after: PublicRecord })),
  {
    $id: "RecordChanges",
    description: "By collection, each record that was added, removed or changed; null if there is none",
    examples: [
      { threads: [{ id: "thread_ada", before: { id: "thread_ada", title: "Plans" }, after: null }] },
    ],
  },
);

export function toRecordChanges(
  { resources, collections }: Api,
  states: BeforeAfter,
): Static<typeof RecordChangesBody> {
  const changes: Static<typeof RecordChangesBody> = {};
  if (states.from === states.to) return changes;
  const from = states.versions.getRoot(states.from)!;
  const to = states.versions.getRoot(states.to)!;
  const oldWorld = toReader(from, states.before.environment, states.before.now);
  const newWorld = toReader(to, states.after.environment, states.after.now);
  // A collection may have been declared since then.
  const [oldTables, newTables] = [from, to].map(({ tables }) => tables.addMissing(collections)) as [
    Tables,
    Tables,
  ];
  for (const [name, state] of listStateCollections(resources)) {
    const records = [...oldTables.get(name)!.listChangesTo(newTables.get(name)!)].map(
      ({ id, before, after }) => ({
        id,
        before: before === undefined ? null : state.toPublic(before, oldWorld),
        after: after === undefined ? null : state.toPublic(after, newWorld),
      }),
    );
    if (records.length > 0) changes[name] = records;
  }
  return changes;
}
