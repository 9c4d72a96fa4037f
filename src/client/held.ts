import { parseDuration } from "../engine/contract/duration.ts";
import { MAX_TIMEOUT_MS } from "../engine/platform.ts";
import { requireKnownOptions } from "./options.ts";
import type { Duration, Held, JournalFilter, List } from "./types.ts";

const FIELDS = [
  "operation",
  "method",
  "path",
  "principal",
  "event",
  "webhook",
  "kind",
  "phase",
  "rule",
] as const;

/** The first list may take this long, even if `within` is shorter. */
const MIN_FIRST_WAIT_MS = 8_000;

/** Values that a held request or delivery must have; an undefined one may be any. */
export type HeldMatch = Partial<Pick<Held, (typeof FIELDS)[number]>>;

/**
 * The first in the list that fits and was not returned before.
 * @param follow the list, now and after each change
 * @throws Error if there is none in time; TypeError for fields that do not exist; ControlError for a word that fits no
 *   request and no delivery
 */
export async function waitForHeld(
  follow: (signal: AbortSignal) => AsyncIterable<List<Held>>,
  {
    match,
    within,
    returnedIds,
    listJournal,
  }: {
    match: HeldMatch;
    within: Duration;
    returnedIds: Set<string>;
    listJournal: (filter: JournalFilter) => Promise<unknown>;
  },
): Promise<Held> {
  requireKnownOptions("held.next", match, FIELDS);
  const waitMs = parseDuration(within);
  if (waitMs === undefined) throw new TypeError(`held.next: within is a duration such as 5s, not ${within}`);
  const { operation, event, kind } = match;
  // The journal refuses an unknown word as a filter. Without the refusal, this call would wait for it in vain.
  if (operation ?? event ?? kind) await listJournal({ operation, event, kind, limit: 1 } as JournalFilter);
  const abort = new AbortController();
  let isLate = false;
  const abortAfter = (ms: number) =>
    setTimeout(
      () => {
        isLate = true;
        abort.abort();
      },
      Math.min(ms, MAX_TIMEOUT_MS),
    );
  // `within` counts from the first list on: before it, a slow machine may hold something that it has not listed yet.
  const maxWaitMs = Math.max(waitMs, MIN_FIRST_WAIT_MS);
  let timer = abortAfter(maxWaitMs);
  let unreturned: Held[] | undefined;
  try {
    for await (const { items } of follow(abort.signal)) {
      if (unreturned === undefined) {
        clearTimeout(timer);
        timer = abortAfter(waitMs);
      }
      unreturned = items.filter(({ id }) => !returnedIds.has(id));
      const held = unreturned.find((one) =>
        FIELDS.every((name) => match[name] === undefined || one[name] === match[name]),
      );
      if (held === undefined) continue;
      returnedIds.add(held.id);
      return held;
    }
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
  if (unreturned === undefined && isLate)
    throw new Error(`held.next: the server sent no list of what it holds within ${maxWaitMs / 1000} s.`);
  const heldTexts = unreturned?.map(describeHeld).join("; ") || "nothing";
  const why = isLate ? `within ${within}` : "before the sandbox was deleted";
  throw new Error(
    `No request that fits ${JSON.stringify(match)} was held ${why}; held at the moment: ${heldTexts}. A rule with the effect hold must match it, and must not be used up.`,
  );
}

/** A held request or delivery for messages. */
export function describeHeld({ id, method, path, event, rule }: Held): string {
  return `${event === null ? `${method} ${path}` : `the delivery of ${event}`} (${id}, held by the rule ${rule})`;
}
