import type { History } from "./history.ts";
import type { HistoryEntry } from "./history-entry.ts";

/** Ids of what led to an entry, from the nearest up to the first (interfaces 10). */
export function causesOf(history: History, entry: HistoryEntry): string[] {
  const ids = new Set<string>();
  let level: readonly HistoryEntry[] = [entry];
  while (level.length > 0) {
    const above = level.flatMap(({ cause, advanced_by }) => [cause, advanced_by]);
    const fresh = above.filter((id) => id !== null && !ids.has(id)) as string[];
    for (const id of fresh) ids.add(id);
    level = fresh.flatMap((id) => history.find(id) ?? []);
  }
  return [...ids];
}

/** Ids of what an entry led to at once, oldest first. */
export function effectsOf(history: History, { id }: HistoryEntry): string[] {
  return history
    .entries()
    .filter(({ cause, advanced_by }) => cause === id || advanced_by === id)
    .map((effect) => effect.id);
}
