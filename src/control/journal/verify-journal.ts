import Type, { type Static } from "typebox";
import { Closed, Nullable, Timestamp } from "../../contract/schema.ts";
import { redactText } from "../../exchanges/secret-redactor.ts";
import type { JournalEntry } from "../../sandbox/journal.ts";
import { conditionsOf, type EntryMatch } from "./match-entry.ts";

const Whole = Type.Integer({ minimum: 0 });
export const Count = Type.Unsafe<number | { min?: number; max?: number }>({
  anyOf: [Whole, Closed({ min: Type.Optional(Whole), max: Type.Optional(Whole) }, { minProperties: 1 })],
  description: "How many are expected",
});
export type Count = Static<typeof Count>;

const NearMissBody = Closed({
  id: Type.String(),
  at: Timestamp(),
  operation: Nullable(Type.String()),
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  differences: Type.Array(Type.String(), { description: "Why it is none of those that were asked for" }),
});
export type NearMiss = Static<typeof NearMissBody>;

export const VerificationBody = Closed(
  {
    ok: Type.Boolean(),
    found: Type.Integer({ minimum: 0, description: "How many came" }),
    nearest: Type.Array(NearMissBody, {
      description: "Where too few came, those that came nearest, best first",
    }),
  },
  { $id: "Verification", examples: [{ ok: true, found: 1, nearest: [] }] },
);
export type Verification = Static<typeof VerificationBody>;

const MAX_MISSES = 5;

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
  return { ok, found, nearest: found < min ? misses.slice(0, MAX_MISSES).map(nearMiss) : [] };
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
  return {
    id,
    at: new Date(at).toISOString(),
    operation,
    method,
    path: redactText(path),
    status,
    differences,
  };
}
