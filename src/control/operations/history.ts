import Type, { type Static } from "typebox";
import { parseDateOrInstant } from "../../contract/instant.ts";
import { Reply, StreamBody } from "../../contract/operation.ts";
import { Closed, examplesOf, Words } from "../../contract/schema.ts";
import { nearest } from "../../documents/nearest.ts";
import { restartUploads } from "../../resources/files/release-bytes.ts";
import type { EntryStates, HistoryEntry } from "../../sandbox/history-entry.ts";
import { HISTORY_KINDS } from "../../sandbox/history-entry.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { RuleInput } from "../faults-body.ts";
import { AnswerDifference, answerDifferences } from "../history/answer-differences.ts";
import { RecordChangesBody, recordChanges } from "../history/record-changes.ts";
import { HistoryEntryBody, renderHistoryEntry } from "../history/render-entry.ts";
import { repeatRequest, requestOf } from "../history/repeat-request.ts";
import { streamHistory } from "../history/stream-history.ts";
import { requireRoom } from "../limits.ts";
import { freeName, generatedName, NewName, settled } from "../new-sandbox.ts";
import { below, type ControlOperation, type ControlServer, OfSandbox, operation, S } from "../operation.ts";
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
  handle({ params: { id }, body, sandbox, server, act, origin }) {
    const to = body?.to ?? "before";
    const entry = entryOf(sandbox, id);
    const states = statesOf(entry, "rewound to");
    const restarted_uploads = restarted(sandbox, sandbox.rewind(states[to]));
    sandbox.recorder.rewound(act!, to === "before" ? entry.sequence - 1 : states.end);
    server.recordings.spoil(sandbox, "it was rewound, which a bundle cannot tell");
    return { ...presentSandbox(sandbox, origin), restarted_uploads };
  },
});

const forkEntry = operation({
  id: "history.fork",
  section: "interfaces 10",
  method: "POST",
  path: `${S}/history/{id}/fork`,
  summary: "Make a second sandbox that goes on from before a change, or from after it",
  params: OfEntry,
  body: {
    kind: "json",
    schema: Closed(
      { name: Type.Optional(NewName), to: To },
      { examples: [{ name: "branch", to: "before" }] },
    ),
    optional: true,
  },
  errors: ["unknown-entry", "state-let-go", "name-in-use", "limit-reached"],
  success: { status: 201, schema: RewoundBody },
  handle({ params: { id }, body = {}, sandbox, server, origin }) {
    const states = statesOf(entryOf(sandbox, id), "forked from");
    const name = body.name === undefined ? generatedName(server) : freeName(server, body.name);
    requireRoom(server, "sandboxes", server.sandboxes.size + 1);
    let restarted_uploads: string[] = [];
    const made = settled(server, origin, () => {
      const { fork, gone } = server.sandboxes.forkFrom(sandbox, name, states[body.to ?? "before"]);
      restarted_uploads = restarted(fork, gone);
      return fork;
    });
    return new Reply(201, { ...made, restarted_uploads });
  },
});

export const RepeatInput = Closed(
  {
    in: Type.Optional(Type.String({ description: "The sandbox to send it to; by default the same" })),
    with: Type.Optional(
      Type.Unsafe<Static<typeof RuleInput>>({
        type: "object",
        description: "An inline rule that this request alone meets, a `RuleInput`",
      }),
    ),
  },
  { $id: "RepeatInput", examples: [{ with: { effect: { error: "RATE_LIMIT_EXCEEDED" } } }] },
);

export const RepeatedBody = Closed(
  {
    request: Type.String({ description: "The repeated request's id in the journal" }),
    same: Type.Boolean({ description: "Whether the answer is what it was" }),
    differences: Type.Array(AnswerDifference, {
      description: "Besides the request's id, the time it took and what is left of the rate window",
    }),
  },
  {
    $id: "Repeated",
    examples: [
      { request: "req_77aa", same: false, differences: [{ what: "status", before: 204, after: 429 }] },
    ],
  },
);

const repeat = operation({
  id: "history.repeat",
  section: "interfaces 10",
  method: "POST",
  path: `${S}/history/{id}/repeat`,
  summary: "Send an entry's request once more, by the same caller, and compare the answers",
  description: "A request that changed nothing has no entry; its id in the journal does as well.",
  params: OfEntry,
  body: { kind: "json", schema: RepeatInput, optional: true },
  errors: ["unknown-entry", "not-repeatable", "limit-reached", "invalid-document"],
  success: { status: 200, schema: RepeatedBody },
  async handle({ params: { id }, body = {}, sandbox, server }) {
    const first = sandbox.journal.find(id) ?? requestOf(sandbox, entryOf(sandbox, id));
    const target = body.in === undefined ? sandbox : sandboxNamed(server, body.in);
    const second = await repeatRequest(first, { server, target, rule: body.with });
    const differences = answerDifferences(first, second);
    return { request: second.id, same: differences.length === 0, differences };
  },
});

/** Uploads that the world still wants bytes of, which are gone. */
function restarted({ world }: Sandbox, gone: readonly string[]): string[] {
  return gone.length === 0 ? [] : world.transact((tx) => restartUploads(tx, gone));
}

/** @throws Problem 422: the name stands in the call's body */
function sandboxNamed({ sandboxes }: ControlServer, name: string): Sandbox {
  const found = sandboxes.get(name);
  if (found !== undefined) return found;
  const hint = nearest(
    name,
    [...sandboxes.all()].map((one) => one.name),
  );
  throw unprocessable("in", name, "must be the name of a sandbox of this server", hint);
}

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
  forkEntry,
  repeat,
];
