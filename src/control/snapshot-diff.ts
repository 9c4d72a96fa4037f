import { isDeepStrictEqual } from "node:util";
import { Transaction } from "../state/transaction.ts";
import type { WorldValue } from "../state/world.ts";
import type { ControlServer } from "./operation.ts";
import { stateCollections } from "./state/state-collection.ts";

type Fields = Record<string, unknown>;

export interface WorldDifference {
  added: Record<string, Fields[]>;
  removed: Record<string, Fields[]>;
  /** By record: its id and the fields that differ, in public form. */
  changed: Record<string, { id: string; fields: Record<string, { before: unknown; after: unknown }> }[]>;
}

/**
 * What became of one world's records in another, by collection. Records that both share are skipped by
 * reference; records that only look alike (after an upload) are compared field by field.
 */
export function worldDifference(
  server: ControlServer,
  before: WorldValue,
  after: WorldValue,
): WorldDifference {
  const difference: WorldDifference = { added: {}, removed: {}, changed: {} };
  const was = readerOf(before);
  const is = readerOf(after);
  for (const [name, state] of stateCollections(server.resources)) {
    const from = before.root.tables[name]!;
    for (const change of from.changesTo(after.root.tables[name]!)) {
      const old = change.before && state.toPublic(change.before, was);
      const now = change.after && state.toPublic(change.after, is);
      if (old === undefined) append(difference.added, name, now!);
      else if (now === undefined) append(difference.removed, name, old);
      else {
        const fields = changedFields(old, now);
        if (fields !== undefined) append(difference.changed, name, { id: change.id, fields });
      }
    }
  }
  return difference;
}

function readerOf({ root, origin, clock, seed }: WorldValue): Transaction {
  return new Transaction(root, { origin, now: clock.at - origin, seed, secretKey: "" });
}

function changedFields(before: Fields, after: Fields) {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const fields: Record<string, { before: unknown; after: unknown }> = {};
  for (const name of names) {
    const [was, is] = [before[name] ?? null, after[name] ?? null];
    if (!isDeepStrictEqual(was, is)) fields[name] = { before: was, after: is };
  }
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function append<T>(lists: Record<string, T[]>, name: string, item: T): void {
  lists[name] ??= [];
  lists[name].push(item);
}
