import { type Static, Type } from "typebox";
import { Reply, StreamBody } from "../../engine/contract/reply.ts";
import { ClosedObject, getExamples, StringEnum } from "../../engine/contract/schema.ts";
import { restartUploads } from "../../engine/resources/files/rules.ts";
import { HISTORY_KINDS, type HistoryEntry } from "../../engine/sandbox/history-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { AnswerDifference, compareAnswers } from "../history/answer-differences.ts";
import {
  EntryParams,
  HistoryEntryBody,
  renderHistoryEntry,
  requireEntry,
  requireStates,
} from "../history/render-history-entry.ts";
import { repeatRequest, requireExchange } from "../history/repeat-request.ts";
import { LIST_QUERY, listNewestFirst, NewestFirst } from "../list-entries.ts";
import { type ControlOperation, OptionalText, operation } from "../operation.ts";
import { pointWebhooksAtOwnReceivers } from "../own-receivers.ts";
import { unprocessable } from "../problem.ts";
import { requireNamedSandbox } from "../remote-sandbox.ts";
import { chooseName, createOrDiscard, NewName, renderSandbox, SandboxBody } from "../sandbox-body.ts";
import { RecordChangesBody, toRecordChanges } from "../snapshot-diff.ts";
import { RESUME_HEADERS, readLastEvent, streamEntries } from "../stream-entries.ts";
import type { RuleInput } from "./faults.ts";

export const HistoryQuery = ClosedObject({
  kind: Type.Optional(StringEnum(HISTORY_KINDS, { description: "What made the change" })),
  subject: OptionalText("The id of the record that it is about", { minLength: 1 }),
  cause: OptionalText("The id of the entry that caused it, or of the advance of the clock that ran it", {
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
    effects: Ids("Ids of its direct effects, oldest first"),
  },
  {
    $id: "HistoryDetail",
    examples: [{ ...(getExamples(HistoryEntryBody)[0] as object), causes: [], effects: ["h_13"] }],
  },
);

const To = Type.Optional(
  StringEnum(["before", "after"], {
    description: "The state before or after the entry; by default `before`",
  }),
);
export const RewindInput = ClosedObject({ to: To }, { $id: "RewindInput", examples: [{ to: "before" }] });

export const RewoundBody = ClosedObject(
  {
    ...SandboxBody.properties,
    restarted_uploads: Type.Array(Type.String(), {
      description: "Half-finished uploads that must start again, since their bytes are gone",
    }),
  },
  {
    $id: "Rewound",
    description: "The sandbox after the rewind",
    examples: [{ ...(getExamples(SandboxBody)[0] as object), restarted_uploads: [] }],
  },
);

export const RepeatInput = ClosedObject(
  {
    in: OptionalText("The sandbox to send the request to; by default the same sandbox"),
    with: Type.Optional(
      Type.Unsafe<Static<typeof RuleInput>>({
        type: "object",
        description: "An inline rule, a `RuleInput`, that applies to this request only",
      }),
    ),
  },
  { $id: "RepeatInput", examples: [{ with: { effect: { error: "RATE_LIMIT_EXCEEDED" } } }] },
);

export const RepeatedBody = ClosedObject(
  {
    request: Type.String({ description: "The repeated request's id in the journal" }),
    same: Type.Boolean({ description: "Whether the answer is the same" }),
    differences: Type.Array(AnswerDifference, {
      description:
        "The differences of the answers, except in the request's id, its duration and what is left of the rate window",
    }),
  },
  {
    $id: "Repeated",
    examples: [
      { request: "req_77aa", same: false, differences: [{ what: "status", before: 204, after: 429 }] },
    ],
  },
);

export const HISTORY_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "history.list",
    section: "interfaces 10",
    route: "GET /_control/sandboxes/{name}/history",
    summary: "List the sandbox's changes, newest first, each with its cause",
    query: HistoryQuery,
    success: { status: 200, schema: HistoryBody },
    handle({ query: { kind, subject, cause, since, limit }, sandbox: { history } }) {
      // An evicted entry may be the cause of others. A subject may be any id, also one without an entry yet.
      if (cause !== undefined && history.dropped === 0 && history.find(cause) === undefined)
        throw unprocessable("cause", cause, "is not the id of an entry of the history");
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
    route: "GET /_control/sandboxes/{name}/history/stream",
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
    route: "GET /_control/sandboxes/{name}/history/{id}",
    summary: "Show a change with all its causes and its direct effects",
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
    route: "GET /_control/sandboxes/{name}/history/{id}/changes",
    summary: "Show each record that a change affected, before and after",
    params: EntryParams,
    errors: ["unknown-entry", "state-evicted"],
    success: { status: 200, schema: RecordChangesBody },
    handle: ({ params: { id }, sandbox }) =>
      toRecordChanges(sandbox.api, requireStates(requireEntry(sandbox, id), "compared")),
  }),
  operation({
    id: "history.rewind",
    section: "interfaces 10",
    route: "POST /_control/sandboxes/{name}/history/{id}/rewind",
    summary: "Rewind to the state before or after a change, also a change that a rewind undid",
    description:
      "Restores data, credentials, rate windows, clock, timers, pending deliveries and random state; settings, scenarios, rules and journal stay.",
    params: EntryParams,
    body: { kind: "json", schema: RewindInput, optional: true },
    kind: "restore",
    describeChange: ({ params: { id }, body }) => ({
      title: `Rewound to ${body?.to ?? "before"} ${id}.`,
      subject: id,
    }),
    errors: ["unknown-entry", "state-evicted"],
    success: { status: 200, schema: RewoundBody },
    handle({ params: { id }, body, sandbox, change, site }) {
      const to = body?.to ?? "before";
      const entry = requireEntry(sandbox, id);
      const states = requireStates(entry, "rewound to");
      const lostUploads = sandbox.rewind(states[to]);
      const restarted_uploads = restartLostUploads(sandbox, lostUploads);
      sandbox.recorder.recordRewind(change!, to === "before" ? states.startPosition : states.endPosition);
      pointWebhooksAtOwnReceivers(sandbox, site);
      return { ...renderSandbox(sandbox, site), restarted_uploads };
    },
  }),
  operation({
    id: "history.fork",
    section: "interfaces 10",
    route: "POST /_control/sandboxes/{name}/history/{id}/fork",
    summary: "Create a sandbox from the state before or after a change",
    params: EntryParams,
    body: {
      kind: "json",
      schema: ClosedObject(
        { name: Type.Optional(NewName), to: To },
        { examples: [{ name: "branch", to: "before" }] },
      ),
      optional: true,
    },
    errors: ["unknown-entry", "state-evicted", "name-in-use", "limit-reached"],
    success: { status: 201, schema: RewoundBody },
    async handle({ params: { id }, body = {}, sandbox, server, site }) {
      const states = requireStates(requireEntry(sandbox, id), "forked from");
      const name = chooseName(server, body.name);
      let restarted_uploads: string[] = [];
      const created = await createOrDiscard({ server, site }, () => {
        const { fork, lostUploads } = server.sandboxes.fork(sandbox, name, states[body.to ?? "before"]);
        restarted_uploads = restartLostUploads(fork, lostUploads);
        pointWebhooksAtOwnReceivers(fork, site);
        return fork;
      });
      return new Reply(201, { ...created, restarted_uploads });
    },
  }),
  operation({
    id: "history.repeat",
    section: "interfaces 10",
    route: "POST /_control/sandboxes/{name}/history/{id}/repeat",
    summary: "Send an entry's request again, as its caller, and compare the answers",
    description: "A request that changed nothing has no entry; use its id in the journal.",
    params: EntryParams,
    body: { kind: "json", schema: RepeatInput, optional: true },
    errors: ["unknown-entry", "not-repeatable", "limit-reached", "invalid-document"],
    success: { status: 200, schema: RepeatedBody },
    async handle(call) {
      const { params, body = {}, sandbox, server } = call;
      const first = sandbox.journal.find(params.id) ?? requireExchange(requireEntry(sandbox, params.id));
      const target = body.in === undefined ? sandbox : await requireNamedSandbox(call, body.in, "in");
      const second = await repeatRequest(first, { server, target, rule: body.with });
      const differences = compareAnswers(first, second);
      return { request: second.id, same: differences.length === 0, differences };
    },
  }),
];

/** Restarts the unfinished uploads whose bytes were released, and returns their ids. */
function restartLostUploads({ world }: Sandbox, lostUploads: readonly string[]): string[] {
  return lostUploads.length === 0 ? [] : world.transact((tx) => restartUploads(tx, lostUploads));
}
