import Type from "typebox";
import { StreamBody } from "../../engine/contract/reply.ts";
import { Closed, getExamples, Words } from "../../engine/contract/schema.ts";
import { HISTORY_KINDS } from "../../engine/sandbox/history-entry.ts";
import { lastEventOf, NEWEST, NewestFirst, newestFirst, RESUMES } from "../entry-log.ts";
import { entryOf, OfEntry, statesOf } from "../history/find-entry.ts";
import { RecordChangesBody, recordChanges } from "../history/record-changes.ts";
import { HistoryEntryBody, renderHistoryEntry } from "../history/render-entry.ts";
import { streamHistory } from "../history/stream-history.ts";
import { type ControlOperation, OfSandbox, operation, S } from "../operation.ts";
import { TRAVEL_OPERATIONS } from "./history-travel.ts";

const Text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

export const HistoryQuery = Closed({
  kind: Type.Optional(Words(HISTORY_KINDS, { description: "What did it" })),
  subject: Text("The id of the record it is about"),
  cause: Text("The id of the entry that caused it, also through an advance of the clock"),
  ...NEWEST,
});

export const HistoryBody = NewestFirst(HistoryEntryBody, "history");

const listHistory = operation({
  id: "history.list",
  section: "interfaces 10",
  method: "GET",
  path: `${S}/history`,
  summary: "List the changes of the sandbox's world, newest first, with the cause of each",
  params: OfSandbox,
  query: HistoryQuery,
  errors: [],
  success: { status: 200, schema: HistoryBody },
  handle({ query: { kind, subject, cause, since, limit }, sandbox: { history } }) {
    return newestFirst(history, {
      since,
      limit,
      wanted: (entry) =>
        (kind === undefined || entry.kind === kind) &&
        (subject === undefined || entry.subject === subject) &&
        (cause === undefined || entry.cause === cause || entry.advanced_by === cause),
      render: renderHistoryEntry,
    });
  },
});

const followHistory = operation({
  id: "history.stream",
  section: "interfaces 10",
  method: "GET",
  path: `${S}/history/stream`,
  summary: "Follow the history as server-sent events, one entry each",
  params: OfSandbox,
  headers: RESUMES,
  errors: [],
  success: { status: 200, content_types: ["text/event-stream"], events: HistoryEntryBody },
  handle({ headers, sandbox: { history } }) {
    const after = lastEventOf(headers);
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
    examples: [{ ...(getExamples(HistoryEntryBody)[0] as object), causes: [], effects: ["h_13"] }],
  },
);

const retrieveEntry = operation({
  id: "history.retrieve",
  section: "interfaces 10",
  method: "GET",
  path: `${S}/history/{id}`,
  summary: "Show a change with all its causes and effects",
  params: OfEntry,
  errors: ["unknown-entry"],
  success: { status: 200, schema: HistoryDetailBody },
  handle({ params: { id }, sandbox }) {
    const { history } = sandbox;
    const entry = entryOf(sandbox, id);
    const causes = history.listCauses(entry);
    return { ...renderHistoryEntry(entry), causes, effects: history.listEffects(entry) };
  },
});

const listChanges = operation({
  id: "history.changes",
  section: "interfaces 10",
  method: "GET",
  path: `${S}/history/{id}/changes`,
  summary: "Show each record that a change affected, before and after",
  params: OfEntry,
  errors: ["unknown-entry", "state-let-go"],
  success: { status: 200, schema: RecordChangesBody },
  handle: ({ params: { id }, sandbox, server }) =>
    recordChanges(server, statesOf(entryOf(sandbox, id), "compared")),
});

export const HISTORY_OPERATIONS: readonly ControlOperation[] = [
  listHistory,
  followHistory,
  retrieveEntry,
  listChanges,
  ...TRAVEL_OPERATIONS,
];
