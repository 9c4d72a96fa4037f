import Type from "typebox";
import { parseDateOrInstant } from "../../contract/instant.ts";
import { StreamBody } from "../../contract/operation.ts";
import { Closed, examplesOf, Words } from "../../contract/schema.ts";
import type { EntryStates, HistoryEntry } from "../../sandbox/history-entry.ts";
import { HISTORY_KINDS } from "../../sandbox/history-entry.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { RecordChangesBody, recordChanges } from "../history/record-changes.ts";
import { HistoryEntryBody, renderHistoryEntry } from "../history/render-entry.ts";
import { streamHistory } from "../history/stream-history.ts";
import { below, type ControlOperation, OfSandbox, operation, S } from "../operation.ts";
import { conflict, Problem, unprocessable } from "../problem.ts";
import { presentSandbox, SandboxBody } from "../sandbox-body.ts";

/** More than a history may hold. */
const MAX_ENTRIES = 100_000;

const Text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const OfEntry = below({ id: Type.String({ description: "The entry's id", examples: ["h_1"] }) });

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
      entries: matching
        .slice(-limit)
        .reverse()
        .map((entry) => renderHistoryEntry(history, entry)),
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
    return { ...renderHistoryEntry(history, entry), causes, effects: history.effectsOf(entry) };
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

const To = Type.Optional(
  Type.Unsafe<"before" | "after">({
    type: "string",
    enum: ["before", "after"],
    description: "Which of its two states; by default `before`",
  }),
);
export const RewindInput = Closed({ to: To }, { $id: "RewindInput", examples: [{ to: "before" }] });

export const RewoundBody = Closed(
  {
    ...SandboxBody.properties,
    restarted_uploads: Ids("Half-finished uploads whose bytes are gone: they start again"),
  },
  {
    $id: "Rewound",
    description: "The sandbox as it was then",
    examples: [{ ...(examplesOf(SandboxBody)[0] as object), restarted_uploads: [] }],
  },
);

const rewind = operation({
  id: "history.rewind",
  section: "interfaces 10",
  method: "POST",
  path: `${S}/history/{id}/rewind`,
  summary: "Go back to before a change, or to after it, also to one that was undone",
  description:
    "Data, credentials, rate windows, clock, timers, pending deliveries and random state are as they were; settings, scenarios, rules and journal stay.",
  params: OfEntry,
  body: { kind: "json", schema: RewindInput, optional: true },
  tells: {
    kind: "restore",
    as: ({ params: { id }, body }) => ({ title: `Rewound to ${body?.to ?? "before"} ${id}.`, subject: id }),
  },
  errors: ["unknown-entry", "state-let-go"],
  success: { status: 200, schema: RewoundBody },
  handle({ params: { id }, body, sandbox, act, origin }) {
    const to = body?.to ?? "before";
    const entry = entryOf(sandbox, id);
    const states = statesOf(entry, "rewound to");
    sandbox.rewind(states[to]);
    sandbox.history.rewound(act!, to === "before" ? entry.parent : states.end);
    return { ...presentSandbox(sandbox, origin), restarted_uploads: [] };
  },
});

/** @throws Problem 404 */
function entryOf({ history }: Sandbox, id: string): HistoryEntry {
  const entry = history.find(id);
  if (entry !== undefined) return entry;
  throw new Problem("unknown-entry", {
    detail: `The history holds no ${id.slice(0, 100)}; ${history.dropped} entries were lost to its bound, and a reset begins it anew. GET S/history lists those that are there.`,
    value: id,
  });
}

/** @throws Problem 409 */
function statesOf({ id, states }: HistoryEntry, done: string): EntryStates {
  if (states !== undefined) return states;
  throw conflict(
    "state-let-go",
    `The world before and after ${id} was let go and cannot be ${done} any more`,
    "take an entry that says `kept`, or save a snapshot of what has to last",
  );
}

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
  rewind,
];
