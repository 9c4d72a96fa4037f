import type { HistoryEntry, Live, RequestLine } from "../../../types/control-api.ts";

export type Attempt = Live["attempts"][number];

/** Requests and history of a sandbox, oldest first, as received by this page. Immutable: each batch creates a new value. */
export interface TimelineData {
  requests: readonly RequestLine[];
  history: readonly HistoryEntry[];
  /** Duration and fault of delivery attempts, by the id of their history entry. */
  attempts: ReadonlyMap<string, Attempt>;
  /** The run of the server, as the stream's ids begin; after a restart `seq` begins again. */
  run: string;
  /** Entries that the journal has evicted. */
  droppedCount: number;
  /** Whether the first batch has arrived. */
  isLoaded: boolean;
}

export const EMPTY_TIMELINE: TimelineData = {
  requests: [],
  history: [],
  attempts: new Map(),
  run: "",
  droppedCount: 0,
  isLoaded: false,
};

/** The largest allowed journal (interfaces.md 4). */
const MAX_LINES = 100_000;
/** Older lines are evicted in blocks of this size, since derived data is then rebuilt. */
const EVICTION_BLOCK = 10_000;

/** Appends a batch; a message with `begins` replaces everything before it. */
export function appendBatch(timeline: TimelineData, batch: readonly Live[], run: string): TimelineData {
  const beginIndex = batch.findLastIndex(({ begins }) => begins);
  const messages = beginIndex < 0 ? batch : batch.slice(beginIndex);
  const before = beginIndex < 0 ? timeline : EMPTY_TIMELINE;
  const history = messages.flatMap((message) => message.history);
  const attempts = messages.flatMap((message) => message.attempts);
  return {
    requests: keepNewest(before.requests.concat(messages.flatMap(({ requests }) => requests))),
    history: keepNewest(mergeEntries(before.history, history)),
    attempts: addAttempts(before.attempts, attempts),
    run,
    droppedCount: messages.at(-1)?.dropped ?? timeline.droppedCount,
    isLoaded: true,
  };
}

/** Adds new entries and replaces known ones that were sent again, for example with `undone`. */
function mergeEntries(
  existing: readonly HistoryEntry[],
  updates: readonly HistoryEntry[],
): readonly HistoryEntry[] {
  if (updates.length === 0) return existing;
  const last = existing.at(-1)?.sequence ?? 0;
  const updatesById = new Map(updates.map((entry) => [entry.id, entry]));
  const added = [...updatesById.values()].filter(({ sequence }) => sequence > last);
  const updated =
    added.length === updatesById.size
      ? existing
      : existing.map((entry) => updatesById.get(entry.id) ?? entry);
  return updated.concat(added.sort((a, b) => a.sequence - b.sequence));
}

function addAttempts(
  existing: TimelineData["attempts"],
  attempts: readonly Attempt[],
): TimelineData["attempts"] {
  if (attempts.length === 0) return existing;
  const added = attempts.map((attempt): [string, Attempt] => [attempt.history, attempt]);
  return new Map(keepNewest([...existing, ...added]));
}

function keepNewest<T>(entries: readonly T[]): readonly T[] {
  return entries.length > MAX_LINES + EVICTION_BLOCK ? entries.slice(-MAX_LINES) : entries;
}
