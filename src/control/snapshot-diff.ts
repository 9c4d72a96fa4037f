import isEqual from "fast-deep-equal";
import { type Static, type TSchema, Type } from "typebox";
import type { Api } from "../engine/contract/api.ts";
import { ClosedObject, MapOf } from "../engine/contract/schema.ts";
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

/** The differences between two worlds (interfaces 4). */
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

/**
 * Compares the records of two worlds, by collection. Shared records are skipped by
 * reference; records that only look alike (after an upload) are compared field by field.
 */
export function compareWorlds(
  { resources, collections }: Api,
  before: WorldValue,
  after: WorldValue,
): WorldDifference {
  const difference: WorldDifference = { added: {}, removed: {}, changed: {} };
  const oldWorld = toReader(before.root, before, before.clock.at);
  const newWorld = toReader(after.root, after, after.clock.at);
  // A collection may have been declared since one of them was saved.
  const from = before.root.tables.addMissing(collections);
  const to = after.root.tables.addMissing(collections);
  for (const [name, state] of listStateCollections(resources)) {
    for (const change of from.get(name)!.listChangesTo(to.get(name)!)) {
      const old = change.before && state.toPublic(change.before, oldWorld);
      const now = change.after && state.toPublic(change.after, newWorld);
      if (old === undefined) append(difference.added, name, now!);
      else if (now === undefined) append(difference.removed, name, old);
      else {
        const fields = listChangedFields(old, now);
        if (fields !== undefined) append(difference.changed, name, { id: change.id, fields });
      }
    }
  }
  return difference;
}

/** A view of a world that no sandbox has. */
export function toReader(
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
