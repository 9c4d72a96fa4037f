import { type Static, Type } from "typebox";
import { ClosedObject, Nullable, Timestamp } from "../../engine/contract/schema.ts";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import { redactText } from "../../tools/redact.ts";
import { OptionalText } from "../operation.ts";
import { createConditions, type EntryMatch, isDeliveryMatch, type MatchableWords } from "./match-entry.ts";

const WholeNumber = Type.Integer({ minimum: 0 });
export const Count = Type.Unsafe<number | { min?: number; max?: number }>({
  anyOf: [
    WholeNumber,
    ClosedObject({ min: Type.Optional(WholeNumber), max: Type.Optional(WholeNumber) }, { minProperties: 1 }),
  ],
  description: "How many matching entries are expected",
});
export type Count = Static<typeof Count>;

const NearMissBody = ClosedObject({
  id: Type.String(),
  at: Timestamp(),
  operation: Nullable(Type.String()),
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  differences: Type.Array(Type.String(), { description: "Its differences from the expected request" }),
});
type NearMiss = Static<typeof NearMissBody>;

export const VerificationBody = ClosedObject(
  {
    ok: Type.Boolean(),
    found: Type.Integer({
      minimum: 0,
      description: "How many were found; for a sequence, how many of its steps in order",
    }),
    nearest: Type.Array(NearMissBody, {
      description: "If there are too few: the nearest entries, best first",
    }),
    why: OptionalText("For a failed sequence: the first step without an entry"),
  },
  { $id: "Verification", examples: [{ ok: true, found: 1, nearest: [] }] },
);
type Verification = Static<typeof VerificationBody>;

/** Checks a journal; `hopeless` if later entries cannot fulfil the expectation. */
export type JournalVerifier = (entries: readonly JournalEntry[]) => Verification & { hopeless?: true };

const MAX_MISSES = 5;

/** Returns how an entry differs from an expected one; undefined for an entry of the other kind (request or delivery). */
type Compare = (entry: JournalEntry) => string[] | undefined;

function createComparison(match: EntryMatch, words: MatchableWords, prefix: string): Compare {
  const conditions = createConditions(match, words, prefix);
  const isForDeliveries = isDeliveryMatch(match);
  return (entry) => {
    if ((entry.delivery !== undefined) !== isForDeliveries) return undefined;
    return conditions.map((condition) => condition(entry)).filter((text) => text !== undefined);
  };
}

/**
 * Creates a check of whether the expected number of requests or delivery attempts came. If too few came, its result has the
 * nearest, best first. The caller has checked that no entry was lost.
 * @throws Problem 422
 */
export function createCountVerifier(
  expected: { match: EntryMatch; count: Count },
  words: MatchableWords,
): JournalVerifier {
  const compare = createComparison(expected.match, words, "match.");
  const { min, max } = toBounds(expected.count);
  return (entries) => {
    const { found, misses } = compareEntries(entries, compare);
    if (found > max) return { ok: false, found, nearest: [], hopeless: true };
    return { ok: found >= min, found, nearest: found < min ? findNearest(misses) : [] };
  };
}

/**
 * Creates a check of whether an entry came for each match, in order. `strict`: no other entry in between matches any of them.
 * @throws Problem 422
 */
export function createSequenceVerifier(
  { sequence: matches, strict }: { sequence: readonly EntryMatch[]; strict: boolean },
  words: MatchableWords,
): JournalVerifier {
  const steps = matches.map((match, i) => createComparison(match, words, `sequence[${i}].`));
  const meets = (entry: JournalEntry, step: number) => steps[step]!(entry)?.length === 0;
  return (entries) => {
    const matching = entries.filter((entry) => steps.some((_, step) => meets(entry, step)));
    const run = strict
      ? findStepsWithoutGap(matching, steps.length, meets)
      : findStepsInOrder(matching, steps.length, meets);
    if (run.length === steps.length) return { ok: true, found: run.length, nearest: [] };
    const last = run.at(-1);
    const isLater = (entry: JournalEntry) => last === undefined || entry.sequence > last.sequence;
    const { misses } = compareEntries(entries.filter(isLater), steps[run.length]!);
    // Only with `strict`: the entry that came in place of the missing one.
    const interrupter = strict && last ? matching.find(isLater) : undefined;
    const reason =
      interrupter === undefined
        ? `it matches no entry${last === undefined ? "" : ` after ${last.id}`}`
        : `${last!.id} is followed by ${interrupter.id}, which it does not match`;
    const why = `step ${run.length + 1} of ${steps.length} is missing: ${reason}`;
    return { ok: false, found: run.length, nearest: findNearest(misses), why };
  };
}

type MeetsStep = (entry: JournalEntry, step: number) => boolean;

/** The earliest entry for each step, in order, up to the first step without one. */
function findStepsInOrder(entries: readonly JournalEntry[], steps: number, meets: MeetsStep): JournalEntry[] {
  const run: JournalEntry[] = [];
  for (const entry of entries) if (run.length < steps && meets(entry, run.length)) run.push(entry);
  return run;
}

/** The longest run of consecutive entries that meet the first steps. */
function findStepsWithoutGap(
  entries: readonly JournalEntry[],
  steps: number,
  meets: MeetsStep,
): JournalEntry[] {
  let longest: JournalEntry[] = [];
  for (let from = 0; from < entries.length && longest.length < steps; from++) {
    const next = entries.slice(from, from + steps);
    const firstMiss = next.findIndex((entry, step) => !meets(entry, step));
    const run = firstMiss < 0 ? next : next.slice(0, firstMiss);
    if (run.length > longest.length) longest = run;
  }
  return longest;
}

interface Miss {
  entry: JournalEntry;
  differences: string[];
}

function compareEntries(
  entries: readonly JournalEntry[],
  compare: Compare,
): { found: number; misses: Miss[] } {
  const misses: Miss[] = [];
  let found = 0;
  for (const entry of entries) {
    const differences = compare(entry);
    if (differences === undefined) continue;
    if (differences.length === 0) found += 1;
    else misses.push({ entry, differences });
  }
  return { found, misses };
}

/** Sorts the nearest first; among equals the newest, which is most likely the one just tried. */
function findNearest(misses: Miss[]): NearMiss[] {
  misses.sort(
    (a, b) =>
      measureDistance(a.differences) - measureDistance(b.differences) || b.entry.sequence - a.entry.sequence,
  );
  return misses.slice(0, MAX_MISSES).map(toNearMiss);
}

/** Counts differences, which are texts of match-entry.ts; another operation, path or event weighs more than a wrong body. */
function measureDistance(differences: readonly string[]): number {
  return differences.reduce((sum, text) => sum + (/^(operation|path|event) is/.test(text) ? 3 : 1), 0);
}

export function toBounds(count: Count): { min: number; max: number } {
  if (typeof count === "number") return { min: count, max: count };
  return { min: count.min ?? 0, max: count.max ?? Number.POSITIVE_INFINITY };
}

function toNearMiss({ entry, differences }: Miss): NearMiss {
  const { id, operation, method, status } = entry;
  const [at, path] = [new Date(entry.at).toISOString(), redactText(entry.path)];
  return { id, at, operation, method, path, status, differences };
}
