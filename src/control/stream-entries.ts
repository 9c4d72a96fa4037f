import { describeEvictedEntries, isJoinedHeader } from "../engine/contract/text.ts";
import { unprocessable } from "./problem.ts";

/** The header with which a client resumes a stream of server-sent events. */
export const RESUME_HEADERS = { "last-event-id": "The id of the last event received, to continue after it" };

/** The number of the last event that the client has seen; undefined for a new client. @throws Problem 422 */
export function readLastEvent(headers: Readonly<Record<string, string | undefined>>): number | undefined {
  const last = headers["last-event-id"];
  if (last === undefined) return undefined;
  if (isJoinedHeader(last)) throw unprocessable("Last-Event-ID", last, "was sent twice");
  if (!/^\d{1,15}$/.test(last))
    throw unprocessable("Last-Event-ID", last, "must be the id of an event of this stream, a whole number");
  return Number(last);
}

interface FollowOptions<E> {
  /** The position after which the stream begins; by default the log's end. */
  after: number | undefined;
  matches?: (entry: E) => boolean;
  render: (entry: E) => unknown;
}

/**
 * Server-sent events, one entry each, with its position as the event's id. Nothing is queued for a slow reader: entries
 * that the log's bound has evicted meanwhile are reported as a comment.
 */
export async function* streamEntries<E extends { sequence: number }>(
  name: "journal" | "history",
  log: FollowedLog<E>,
  { after, matches = () => true, render }: FollowOptions<E>,
  signal: AbortSignal,
): AsyncIterable<string> {
  // A position beyond the end belongs to the log of an earlier run, so all entries are new.
  let last = after ?? log.lastSequence;
  if (last > log.lastSequence) last = 0;
  yield `: the ${name} of this sandbox\n\n`;
  while (!signal.aborted) {
    for (const entry of log.listSince(last)) {
      if (entry.sequence <= last) continue;
      const lost = entry.sequence - last - 1;
      if (lost > 0) yield `: ${describeEvictedEntries(lost)} lost to the ${name}'s bound\n\n`;
      last = entry.sequence;
      if (matches(entry)) yield `id: ${last}\ndata: ${JSON.stringify(render(entry))}\n\n`;
    }
    if (log.isClosed) return;
    // Entries that were added while the reader was slow.
    if (log.listSince(last).length > 0) continue;
    // Others may have been added and then cleared.
    last = log.lastSequence;
    await waitForChange([log], signal);
  }
}

interface FollowedLog<E> {
  readonly lastSequence: number;
  readonly isClosed: boolean;
  listSince(sequence: number): readonly E[];
  subscribe(listener: () => void): () => void;
}

/** Resolves when an entry is added, when a log is cleared or closed, or when the signal aborts. */
export function waitForChange(
  logs: readonly Pick<FollowedLog<never>, "isClosed" | "subscribe">[],
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || logs.some((log) => log.isClosed)) return resolve();
    const done = () => {
      for (const stop of stops) stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stops = logs.map((log) => log.subscribe(done));
    signal.addEventListener("abort", done, { once: true });
  });
}
