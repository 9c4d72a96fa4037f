import type { HistoryEntry, Live, RequestLine } from "../api/types.ts";

/** What has happened in a sandbox as far as the page knows. Each batch makes a new value. */
export interface Story {
  /** Oldest first. */
  requests: readonly RequestLine[];
  /** Oldest first. */
  history: readonly HistoryEntry[];
  /** How long attempts to deliver waited for their answers, in milliseconds, by their entries in the history. */
  waits: ReadonlyMap<string, number>;
  dropped: number;
  /** Whether the server has told what it had. */
  isTold: boolean;
}

export const NOTHING_YET: Story = { requests: [], history: [], waits: new Map(), dropped: 0, isTold: false };

/** As many as a journal may hold (interfaces 4). */
const MAX_LINES = 100_000;
/** Those above are let go together: whatever is made of the rest begins anew then. */
const SPARE = 10_000;

/** The story with a batch of messages added. */
export function continued(story: Story, batch: readonly Live[]): Story {
  const from = batch.findLastIndex(({ begins }) => begins);
  const fresh = from < 0 ? batch : batch.slice(from);
  const before = from < 0 ? story : NOTHING_YET;
  return {
    requests: newest(before.requests.concat(fresh.flatMap(({ requests }) => requests))),
    history: newest(
      merged(
        before.history,
        fresh.flatMap(({ history }) => history),
      ),
    ),
    waits: waitsWith(
      before.waits,
      fresh.flatMap(({ attempts }) => attempts),
    ),
    dropped: fresh.at(-1)?.dropped ?? story.dropped,
    isTold: true,
  };
}

/** An entry that is told again takes the place of what was known of it. */
function merged(known: readonly HistoryEntry[], told: readonly HistoryEntry[]): readonly HistoryEntry[] {
  if (told.length === 0) return known;
  const last = known.at(-1)?.sequence ?? 0;
  const distinct = new Map(told.map((entry) => [entry.id, entry]));
  const fresh = [...distinct.values()].filter(({ sequence }) => sequence > last);
  const still =
    fresh.length === distinct.size ? known : known.map((entry) => distinct.get(entry.id) ?? entry);
  return still.concat(fresh.sort((a, b) => a.sequence - b.sequence));
}

function waitsWith(known: Story["waits"], attempts: Live["attempts"]): Story["waits"] {
  if (attempts.length === 0) return known;
  const all = [
    ...known,
    ...attempts.map(({ history, duration_ms }): [string, number] => [history, duration_ms]),
  ];
  return new Map(newest(all));
}

function newest<T>(entries: readonly T[]): readonly T[] {
  return entries.length > MAX_LINES + SPARE ? entries.slice(-MAX_LINES) : entries;
}
