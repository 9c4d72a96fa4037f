import type { AnyCollection, StoredRecord } from "./collection.ts";
import type { WrittenRecord } from "./transaction.ts";

/** A record that was written, as it was before; what it was written to stands in the roots that follow. */
export interface KeptWrite {
  readonly collection: AnyCollection;
  readonly id: string;
  readonly before: StoredRecord | undefined;
  /** Whether there is one afterwards. */
  readonly stays: boolean;
}

/** Writes as one list: collection, id, before, stays, collection, id … It costs a collector less than a list and its records. */
export type FlatWrites = KeptWrite[keyof KeptWrite][];
const FIELDS = 4;

export function flat(written: readonly WrittenRecord[]): FlatWrites {
  // Of its length from the start: a list that grew by appending has room for sixteen more.
  const all: FlatWrites = new Array(FIELDS * written.length);
  for (let n = 0; n < written.length; n++) {
    const { collection, id, before, after } = written[n]!;
    const at = FIELDS * n;
    all[at] = collection;
    all[at + 1] = id;
    all[at + 2] = before;
    all[at + 3] = after !== undefined;
  }
  return all;
}

/** The same of writes that were kept in another way. */
export function flatOf(writes: readonly KeptWrite[]): FlatWrites {
  return writes.flatMap(({ collection, id, before, stays }) => [collection, id, before, stays]);
}

export function writesOf(all: FlatWrites): KeptWrite[] {
  const writes: KeptWrite[] = [];
  for (let at = 0; at < all.length; at += FIELDS) {
    const [collection, id, before, stays] = all.slice(at, at + FIELDS);
    writes.push({ collection, id, before, stays } as KeptWrite);
  }
  return writes;
}
