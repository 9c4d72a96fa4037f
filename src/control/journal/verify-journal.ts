import type { JournalEntry } from "../../sandbox/journal.ts";
import { maskText } from "./mask-secrets.ts";
import { conditionsOf, type EntryMatch } from "./match-entry.ts";

export type Count = number | { min?: number | undefined; max?: number | undefined };

export interface NearMiss {
  id: string;
  at: string;
  operation: string | null;
  method: string;
  path: string;
  status: number;
  /** Why it is none of those that were asked for. */
  differences: string[];
}

export interface Verification {
  ok: boolean;
  found: number;
  nearest: NearMiss[];
}

const MOST_MISSES = 5;

/**
 * Whether as many requests came as were expected; if too few did, those that came nearest, best first.
 * The caller has made sure that no entry was lost.
 */
export function verifyJournal(
  entries: readonly JournalEntry[],
  expected: { match: EntryMatch; count: Count },
  operations: readonly string[],
): Verification {
  const conditions = conditionsOf(expected.match, operations, "match.");
  const misses: { entry: JournalEntry; differences: string[] }[] = [];
  let found = 0;
  for (const entry of entries) {
    const differences = conditions.map((condition) => condition(entry)).filter((text) => text !== undefined);
    if (differences.length === 0) found += 1;
    else misses.push({ entry, differences });
  }
  const { min, max } = boundsOf(expected.count);
  const ok = found >= min && found <= max;
  // Nearest first; of equals the newest, which is the one just tried.
  misses.sort(
    (a, b) => distance(a.differences) - distance(b.differences) || b.entry.sequence - a.entry.sequence,
  );
  return { ok, found, nearest: found < min ? misses.slice(0, MOST_MISSES).map(nearMiss) : [] };
}

/** Another operation is farther away than the right one with a wrong body. */
function distance(differences: readonly string[]): number {
  return differences.reduce((sum, text) => sum + (/^(operation|path) is/.test(text) ? 3 : 1), 0);
}

export function boundsOf(count: Count): { min: number; max: number } {
  if (typeof count === "number") return { min: count, max: count };
  return { min: count.min ?? 0, max: count.max ?? Number.POSITIVE_INFINITY };
}

function nearMiss({ entry, differences }: { entry: JournalEntry; differences: string[] }): NearMiss {
  const { id, at, operation, method, path, status } = entry;
  return { id, at: new Date(at).toISOString(), operation, method, path: maskText(path), status, differences };
}
