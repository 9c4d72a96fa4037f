import { type Static, Type } from "typebox";
import { Reply } from "../../engine/contract/reply.ts";
import { ClosedObject, getExamples, StringEnum } from "../../engine/contract/schema.ts";
import { restartUploads } from "../../engine/resources/files/rules.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { AnswerDifference, compareAnswers } from "../history/answer-differences.ts";
import { EntryParams, requireEntry, requireStates } from "../history/render-history-entry.ts";
import { repeatRequest, requireExchange } from "../history/repeat-request.ts";
import { type ControlOperation, OptionalText, operation } from "../operation.ts";
import { requireNamedSandbox } from "../remote-sandbox.ts";
import { chooseName, createOrDiscard, NewName, renderSandbox, SandboxBody } from "../sandbox-body.ts";
import type { RuleInput } from "./faults.ts";

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
    in: OptionalText("The sandbox to send it to; by default the same"),
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
      description: "Differences other than the request's id, its duration and the rest of the rate window",
    }),
  },
  {
    $id: "Repeated",
    examples: [
      { request: "req_77aa", same: false, differences: [{ what: "status", before: 204, after: 429 }] },
    ],
  },
);

export const TRAVEL_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "history.rewind",
    section: "interfaces 10",
    route: "POST S/history/{id}/rewind",
    summary: "Rewind to before or after a change, also an undone one",
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
      const restarted_uploads = restartLostUploads(sandbox, sandbox.rewind(states[to]));
      sandbox.recorder.recordRewind(change!, to === "before" ? states.start : states.end);
      return { ...renderSandbox(sandbox, site), restarted_uploads };
    },
  }),
  operation({
    id: "history.fork",
    section: "interfaces 10",
    route: "POST S/history/{id}/fork",
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
        return fork;
      });
      return new Reply(201, { ...created, restarted_uploads });
    },
  }),
  operation({
    id: "history.repeat",
    section: "interfaces 10",
    route: "POST S/history/{id}/repeat",
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

/** Restarts the uploads that still need bytes which were released, and returns their ids. */
function restartLostUploads({ world }: Sandbox, lostUploads: readonly string[]): string[] {
  return lostUploads.length === 0 ? [] : world.transact((tx) => restartUploads(tx, lostUploads));
}
