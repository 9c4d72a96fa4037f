import { HistoryEntry, type StoredEntry } from "./history-entry.ts";

/** A history at one moment, for whoever keeps it: which entries there are, and how far each has come. */
export interface HistoryStory {
  about: { next: number; base: number; dropped: number };
  entries: ReadonlyMap<HistoryEntry, number>;
}

/** A history as it was written down. */
export interface StoredHistory {
  about: HistoryStory["about"];
  entries: readonly StoredEntry[];
}

/** Those that were written down without a gap before the next, oldest first; the states of then are gone. */
export function revivedEntries({ about: { next }, entries }: StoredHistory): HistoryEntry[] {
  const bySequence = new Map(entries.map((entry) => [entry.sequence, entry]));
  const revived: HistoryEntry[] = [];
  // Behind one that is missing, nothing could be found.
  for (let at = next - 1, entry = bySequence.get(at); entry !== undefined; entry = bySequence.get(--at))
    revived.push(HistoryEntry.from(entry));
  return revived.reverse();
}
