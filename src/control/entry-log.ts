import Type, { type TObject } from "typebox";
import { parseDateOrInstant } from "../engine/contract/instant.ts";
import { Closed, getExamples } from "../engine/contract/schema.ts";
import { unprocessable } from "./problem.ts";

/** More than a journal or a history may hold. */
const MAX_ENTRIES = 100_000;

/** Which of the matching entries a list shows. */
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

/** A list of entries; `log` is what keeps them, as in `journal`. */
export function NewestFirst<T extends TObject>(entry: T, log: string) {
  return Closed(
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

interface EntryLog<E> {
  entries(): readonly E[];
  readonly dropped: number;
}

interface Wanted<E, B> {
  since: string | undefined;
  limit: number;
  wanted: (entry: E) => boolean;
  render: (entry: E) => B;
}

/** @throws Problem 422 where `since` is no point in time */
export function newestFirst<E extends { at: number }, B>(
  log: EntryLog<E>,
  { since, limit, wanted, render }: Wanted<E, B>,
): { entries: B[]; total: number; dropped: number } {
  const from = since === undefined ? Number.NEGATIVE_INFINITY : sinceOf(since);
  const matching = log.entries().filter((entry) => entry.at >= from && wanted(entry));
  return {
    entries: matching.slice(-limit).reverse().map(render),
    total: matching.length,
    dropped: log.dropped,
  };
}

function sinceOf(text: string): number {
  const span = parseDateOrInstant(text);
  if (span === undefined) throw unprocessable("since", text, "must be an ISO 8601 date or timestamp");
  return span.from;
}

/** The header by which a client of a stream of server-sent events goes on where it was cut off. */
export const RESUMES = { "last-event-id": "The id of the last event that came, to go on behind it" };

/**
 * The number of the last event that the client has seen; undefined for one that begins.
 * @throws Problem 422
 */
export function lastEventOf(headers: Readonly<Record<string, string | undefined>>): number | undefined {
  const last = headers["last-event-id"];
  if (last === undefined) return undefined;
  if (!/^\d{1,15}$/.test(last))
    throw unprocessable("Last-Event-ID", last, "must be the id of an event of this stream, a whole number");
  return Number(last);
}
