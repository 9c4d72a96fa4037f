import Type from "typebox";
import { parseDateOrInstant } from "../../contract/instant.ts";
import { StreamBody } from "../../contract/reply.ts";
import { Closed, examplesOf, Words } from "../../contract/schema.ts";
import { HISTORY_KINDS } from "../../sandbox/history-entry.ts";
import { entryOf, OfEntry, statesOf } from "../history/find-entry.ts";
import { RecordChangesBody, recordChanges } from "../history/record-changes.ts";
import { HistoryEntryBody, renderHistoryEntry } from "../history/render-entry.ts";
import { streamHistory } from "../history/stream-history.ts";
import { type ControlOperation, OfSandbox, operation, S } from "../operation.ts";
import { unprocessable } from "../problem.ts";
import { TRAVEL_OPERATIONS } from "./history-travel.ts";

/** More than a history may hold. */
const MAX_ENTRIES = 100_000;

const Text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

export const HistoryQuery = Closed({
  kind: Type.Optional(Words(HISTORY_KINDS, { description: "What did it" })),
  subject: Text("The id of the record it is about"),
  cause: Text("The id of the entry that led to it, be it by an advance"),
  since: Text("An ISO 8601 date or timestamp, on the sandbox's clock"),
  limit: Type.Integer({
    minimum: 1,
    maximum: MAX_ENTRIES,
    default: MAX_ENTRIES,
    description: "How many of the newest; by default all that match",
  }),
});

export const HistoryBody = Closed(
  {
    entries: Type.Array(HistoryEntryBody, { description: "Newest first" }),
    total: Type.Integer({ minimum: 0, description: "How many match" }),
    dropped: Type.Integer({ minimum: 0, description: "Entries lost to the history's bound" }),
  },
  { $id: "History", examples: [{ entries: examplesOf(HistoryEntryBody), total: 1, dropped: 0 }] },
);

const listHistory = operation({
  id: "history.list",
  section: "interfaces 10",
  method: "GET",
  path: `${S}/history`,
  summary: "List what changed the sandbox's world, newest first, and what led to each change",
  params: OfSandbox,
  query: HistoryQuery,
  errors: [],
  success: { status: 200, schema: HistoryBody },
  handle({ query: { kind, subject, cause, since, limit }, sandbox: { history } }) {
    const from = since === undefined ? Number.NEGATIVE_INFINITY : sinceOf(since);
    const matching = history
      .entries()
      .filter(
        (entry) =>
          entry.at >= from &&
          (kind === undefined || entry.kind === kind) &&
          (subject === undefined || entry.subject === subject) &&
          (cause === undefined || entry.cause === cause || entry.advanced_by === cause),
      );
    return {
      entries: matching.slice(-limit).reverse().map(renderHistoryEntry),
      total: matching.length,
      dropped: history.dropped,
    };
  },
});

const followHistory = operation({
  id: "history.stream",
  section: "interfaces 10",
  method: "GET",
  path: `${S}/history/stream`,
  summary: "Follow the history as server-sent events, one entry each",
  params: OfSandbox,
  headers: { "last-event-id": "The id of the last event that came, to go on behind it" },
  errors: [],
  success: { status: 200, content_types: ["text/event-stream"], events: HistoryEntryBody },
  handle({ headers, sandbox: { history } }) {
    const last = headers["last-event-id"];
    if (last !== undefined && !/^\d{1,15}$/.test(last)) {
      throw unprocessable("Last-Event-ID", last, "must be the id of an event of this stream, a whole number");
    }
    const after = last === undefined ? undefined : Number(last);
    return new StreamBody("text/event-stream", (signal) => streamHistory(history, after, signal));
  },
});

const Ids = (description: string) => Type.Array(Type.String(), { description });

export const HistoryDetailBody = Closed(
  {
    ...HistoryEntryBody.properties,
    causes: Ids("Ids of what led to it, from the nearest up to the first"),
    effects: Ids("Ids of what it led to, oldest first"),
  },
  {
    $id: "HistoryDetail",
    examples: [{ ...(examplesOf(HistoryEntryBody)[0] as object), causes: [], effects: ["h_13"] }],
  },
);

const retrieveEntry = operation({
  id: "history.retrieve",
  section: "interfaces 10",
  method: "GET",
  path: `${S}/history/{id}`,
  summary: "Show a change with everything that led to it, and what it led to",
  params: OfEntry,
  errors: ["unknown-entry"],
  success: { status: 200, schema: HistoryDetailBody },
  handle({ params: { id }, sandbox }) {
    const { history } = sandbox;
    const entry = entryOf(sandbox, id);
    const causes = history.causesOf(entry);
    return { ...renderHistoryEntry(entry), causes, effects: history.effectsOf(entry) };
  },
});

const listChanges = operation({
  id: "history.changes",
  section: "interfaces 10",
  method: "GET",
  path: `${S}/history/{id}/changes`,
  summary: "Show what a change did, record by record, before and after",
  params: OfEntry,
  errors: ["unknown-entry", "state-let-go"],
  success: { status: 200, schema: RecordChangesBody },
  handle: ({ params: { id }, sandbox, server }) =>
    recordChanges(server, statesOf(entryOf(sandbox, id), "compared")),
});

function sinceOf(text: string): number {
  const span = parseDateOrInstant(text);
  if (span === undefined) throw unprocessable("since", text, "must be an ISO 8601 date or timestamp");
  return span.from;
}

export const HISTORY_OPERATIONS: readonly ControlOperation[] = [
  listHistory,
  followHistory,
  retrieveEntry,
  listChanges,
  ...TRAVEL_OPERATIONS,
];
