import { type TObject, Type } from "typebox";
import { describeInstantForms, parseInstant, roundUpToMillisecond } from "../engine/contract/instant.ts";
import { ClosedObject, getExamples } from "../engine/contract/schema.ts";
import { capitalize } from "../engine/contract/text.ts";
import { OptionalText } from "./operation.ts";
import { unprocessable } from "./problem.ts";

/** At least as many as a journal or a history may contain. */
const MAX_ENTRIES = 100_000;

/** Query parameters of lists of entries: which of the matching entries are shown. */
export const LIST_QUERY = {
  since: OptionalText("An ISO 8601 date or timestamp, on the sandbox's clock", { minLength: 1 }),
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
      dropped: Type.Integer({ minimum: 0, description: `Entries that the ${log} has evicted` }),
    },
    {
      $id: capitalize(log),
      examples: [{ entries: getExamples(entry), total: 1, dropped: 0 }],
    },
  );
}

/** @throws Problem 422 if `since` is not a point in time */
export function listNewestFirst<E extends { at: number }, B>(
  log: { entries(): readonly E[]; readonly dropped: number },
  query: { since?: string | undefined; limit: number },
  { matches, render }: { matches: (entry: E) => boolean; render: (entry: E) => B },
): { entries: B[]; total: number; dropped: number } {
  const { since, limit } = query;
  const from = parseSince(since);
  const matching = log.entries().filter((entry) => entry.at >= from && matches(entry));
  return {
    entries: matching.slice(-limit).reverse().map(render),
    total: matching.length,
    dropped: log.dropped,
  };
}

/** Milliseconds since 1970. @throws Problem 422 */
export function parseSince(text: string | undefined): number {
  if (text === undefined) return Number.NEGATIVE_INFINITY;
  if (parseInstant(text) === undefined)
    throw unprocessable("since", text, `must be ${describeInstantForms(text)}`);
  return roundUpToMillisecond(text);
}
