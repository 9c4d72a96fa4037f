import type { Collection, StoredRecord } from "./collection.ts";
import type { WrittenRecord } from "./transaction.ts";

/** Each record once, as it was before the first and after the last of its changes. */
export function joined(written: readonly WrittenRecord[]): readonly WrittenRecord[] {
  if (written.length < 2) return written;
  const byKey = new Map<string, WrittenRecord>();
  for (const one of written) {
    const key = `${one.collection.name}\0${one.id}`;
    const first = byKey.get(key);
    byKey.set(key, first === undefined ? one : { ...one, before: first.before });
  }
  return [...byKey.values()];
}

/** What a commit has made of one collection; comparing its tables would cost paths through both for each commit. */
export function writtenTo<R extends StoredRecord>(
  collection: Collection<R>,
  written: readonly WrittenRecord[],
): readonly (WrittenRecord & { readonly before: R | undefined; readonly after: R | undefined })[] {
  if (!written.some((one) => one.collection.name === collection.name)) return [];
  return joined(written.filter((one) => one.collection.name === collection.name)) as never;
}
