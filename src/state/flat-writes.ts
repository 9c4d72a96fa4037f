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

export function flat(written: readonly WrittenRecord[]): FlatWrites {
  // Of its length from the start: a list that grew by appending has room for sixteen more.
  const all: FlatWrites = new Array(4 * written.length);
  for (let at = 0; at < written.length; at++) {
    const { collection, id, before, after } = written[at]!;
    all[4 * at] = collection;
    all[4 * at + 1] = id;
    all[4 * at + 2] = before;
    all[4 * at + 3] = after !== undefined;
  }
  return all;
}

export function writesOf(all: FlatWrites): KeptWrite[] {
  const writes: KeptWrite[] = [];
  for (let at = 0; at < all.length; at += 4) {
    const [collection, id, before, stays] = all.slice(at, at + 4);
    writes.push({ collection, id, before, stays } as KeptWrite);
  }
  return writes;
}
