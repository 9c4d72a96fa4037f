import { type TObject, Type } from "typebox";
import { describeInstantForms, parseDateOrInstant } from "../engine/contract/instant.ts";
import { ClosedObject, getExamples } from "../engine/contract/schema.ts";
import { describeLostEntries, wasRepeated } from "../engine/contract/text.ts";
import { unprocessable } from "./problem.ts";

/** At least as many as a journal or a history may contain. */
const MAX_ENTRIES = 100_000;

/** Query parameters of lists of entries: which of the matching entries are shown. */
export const NEWEST = {
  since: Type.Optional(
    Type.String({ minLength: 1, description: "An ISO 8601 date or timestamp, on the sandbox's clock" }),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: MAX_ENTRIES,
    default: MAX_ENTRIES,
    description: "The maximum number, newest first; by default all that match",
  }),
};

/** A list of entries of a log, such as `journal`. */
export function NewestFirst<T extends TObject>(entry: T, log: string) {
  return ClosedObject(
    {
      entries: Type.Array(entry, { description: "Newest first" }),
      total: Type.Integer({ minimum: 0, description: "How many match" }),
      dropped: Type.Integer({ minimum: 0, description: `Entries lost to the ${log}'s bounds` }),
    },
    {
      $id: `${log.charAt(0).toUpperCase()}${log.slice(1)}`,
      examples: [{ entries: getExamples(entry), total: 1, dropped: 0 }],
    },
  );
}

/** @throws Problem 422 if `since` is not a point in time */
export function listNewestFirst<E extends { at: number }, B>(
  log: { entries(): readonly E[]; readonly dropped: number },
  query: { since?: string | undefined; limit: number },
  { wanted, render }: { wanted: (entry: E) => boolean; render: (entry: E) => B },
): { entries: B[]; total: number; dropped: number } {
  const { since, limit } = query;
  const from = parseSince(since);
  const matching = log.entries().filter((entry) => entry.at >= from && wanted(entry));
  return {
    entries: matching.slice(-limit).reverse().map(render),
    total: matching.length,
    dropped: log.dropped,
  };
}

/** Milliseconds since 1970. @throws Problem 422 */
export function parseSince(text: string | undefined): number {
  if (text === undefined) return Number.NEGATIVE_INFINITY;
  const span = parseDateOrInstant(text);
  if (span === undefined) throw unprocessable("since", text, `must be ${describeInstantForms(text)}`);
  return span.from;
}

/** The header with which a client resumes a stream of server-sent events. */
export const RESUMES = { "last-event-id": "The id of the last event received, to continue after it" };

/** The number of the last event that the client has seen; undefined for a new client. @throws Problem 422 */
export function readLastEvent(headers: Readonly<Record<string, string | undefined>>): number | undefined {
  const last = headers["last-event-id"];
  if (last === undefined) return undefined;
  if (wasRepeated(last)) throw unprocessable("Last-Event-ID", last, "was sent twice");
  if (!/^\d{1,15}$/.test(last))
    throw unprocessable("Last-Event-ID", last, "must be the id of an event of this stream, a whole number");
  return Number(last);
}

/** A log that can be followed. */
interface FollowedLog<E> {
  readonly lastSequence: number;
  readonly isClosed: boolean;
  since(sequence: number): readonly E[];
  subscribe(listener: () => void): () => void;
}

interface Following<E> {
  /** The position after which the stream begins; by default the log's end. */
  after: number | undefined;
  wanted?: (entry: E) => boolean;
  render: (entry: E) => unknown;
}

/**
 * Server-sent events, one entry each, with its position as the event's id. Nothing is queued for a slow reader: entries
 * that the log's bound has evicted meanwhile are reported as a comment.
 */
export async function* streamEntries<E extends { sequence: number }>(
  name: "journal" | "history",
  log: FollowedLog<E>,
  { after, wanted = () => true, render }: Following<E>,
  signal: AbortSignal,
): AsyncIterable<string> {
  // A position beyond the end belongs to another server's log.
  let last = Math.min(after ?? log.lastSequence, log.lastSequence);
  yield `: the ${name} of this sandbox\n\n`;
  while (!signal.aborted) {
    for (const entry of log.since(last)) {
      if (entry.sequence <= last) continue;
      const lost = entry.sequence - last - 1;
      if (lost > 0) yield `: ${describeLostEntries(lost)} lost to the ${name}'s bound\n\n`;
      last = entry.sequence;
      if (wanted(entry)) yield `id: ${last}\ndata: ${JSON.stringify(render(entry))}\n\n`;
    }
    if (log.isClosed) return;
    // Entries were added while the reader was slow, or were added and then cleared.
    if (log.since(last).length > 0) continue;
    last = log.lastSequence;
    await waitForChange([log], signal);
  }
}

/** Resolves with the next entry, when the log is cleared or closed, or when the signal aborts. */
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
