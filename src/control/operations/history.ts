import { Type } from "typebox";
import { StreamBody } from "../../engine/contract/reply.ts";
import { ClosedObject, getExamples, StringEnum } from "../../engine/contract/schema.ts";
import { HISTORY_KINDS, type HistoryEntry } from "../../engine/sandbox/history-entry.ts";
import {
  EntryParams,
  HistoryEntryBody,
  renderHistoryEntry,
  requireEntry,
  requireStates,
} from "../history/render-history-entry.ts";
import { LIST_QUERY, listNewestFirst, NewestFirst } from "../list-entries.ts";
import { type ControlOperation, OptionalText, operation } from "../operation.ts";
import { RecordChangesBody, toRecordChanges } from "../snapshot-diff.ts";
import { RESUME_HEADERS, readLastEvent, streamEntries } from "../stream-entries.ts";
import { TRAVEL_OPERATIONS } from "./history-travel.ts";

export const HistoryQuery = ClosedObject({
  kind: Type.Optional(StringEnum(HISTORY_KINDS, { description: "What did it" })),
  subject: OptionalText("The id of the record that it is about", { minLength: 1 }),
  cause: OptionalText("The id of the entry that caused it, also through an advance of the clock", {
    minLength: 1,
  }),
  ...LIST_QUERY,
});

export const HistoryBody = NewestFirst(HistoryEntryBody, "history");

const Ids = (description: string) => Type.Array(Type.String(), { description });

export const HistoryDetailBody = ClosedObject(
  {
    ...HistoryEntryBody.properties,
    causes: Ids("Ids of its causes, from the nearest up to the first"),
    effects: Ids("Ids of its effects, oldest first"),
  },
  {
    $id: "HistoryDetail",
    examples: [{ ...(getExamples(HistoryEntryBody)[0] as object), causes: [], effects: ["h_13"] }],
  },
);

export const HISTORY_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "history.list",
    section: "interfaces 10",
    route: "GET S/history",
    summary: "List the sandbox's changes, newest first, each with its cause",
    query: HistoryQuery,
    success: { status: 200, schema: HistoryBody },
    handle({ query: { kind, subject, cause, since, limit }, sandbox: { history } }) {
      const matches = (entry: HistoryEntry) =>
        (kind === undefined || entry.kind === kind) &&
        (subject === undefined || entry.subject === subject) &&
        (cause === undefined || entry.cause === cause || entry.advanced_by === cause);
      return listNewestFirst(history, { since, limit }, { matches, render: renderHistoryEntry });
    },
  }),
  operation({
    id: "history.stream",
    section: "interfaces 10",
    route: "GET S/history/stream",
    summary: "Follow the history",
    headers: RESUME_HEADERS,
    success: { status: 200, content_types: ["text/event-stream"], events: HistoryEntryBody },
    handle({ headers, sandbox: { history } }) {
      const options = { after: readLastEvent(headers), render: renderHistoryEntry };
      return new StreamBody("text/event-stream", (signal) =>
        streamEntries("history", history, options, signal),
      );
    },
  }),
  operation({
    id: "history.retrieve",
    section: "interfaces 10",
    route: "GET S/history/{id}",
    summary: "Show a change with all its causes and effects",
    params: EntryParams,
    errors: ["unknown-entry"],
    success: { status: 200, schema: HistoryDetailBody },
    handle({ params: { id }, sandbox }) {
      const { history } = sandbox;
      const entry = requireEntry(sandbox, id);
      const causes = history.listCauses(entry);
      return { ...renderHistoryEntry(entry), causes, effects: history.listEffects(entry) };
    },
  }),
  operation({
    id: "history.changes",
    section: "interfaces 10",
    route: "GET S/history/{id}/changes",
    summary: "Show each record that a change affected, before and after",
    params: EntryParams,
    errors: ["unknown-entry", "state-evicted"],
    success: { status: 200, schema: RecordChangesBody },
    handle: ({ params: { id }, sandbox }) =>
      toRecordChanges(sandbox.api, requireStates(requireEntry(sandbox, id), "compared")),
  }),
  ...TRAVEL_OPERATIONS,
];
