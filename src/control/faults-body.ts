import { type Static, Type } from "typebox";
import type { ListedScenario } from "../documents/scenario-library.ts";
import { ClosedObject, Nullable, Timestamp, Words } from "../engine/contract/schema.ts";
import { ArmedRule } from "../engine/faults/armed-rules.ts";
import type { SandboxFaults } from "../engine/faults/faults.ts";
import { ExpectDocument, RuleDocument, StageDocument } from "../engine/faults/rule-document.ts";
import { describeStages, type StageReport } from "../engine/faults/stages.ts";

/** A rule as input of a call (interfaces 6). */
export const RuleInput = ClosedObject(RuleDocument.properties, {
  $id: "RuleInput",
  examples: [
    {
      id: "lost-answer",
      match: { operation: "files.register" },
      times: 2,
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    },
  ],
});

const { id: _id, lease: _lease, ...written } = RuleDocument.properties;

/** A rule with its hits in this sandbox (interfaces 4). */
export const RuleBody = ClosedObject(
  {
    id: Type.String(),
    ...written,
    hits: Type.Integer({ minimum: 0, description: "How often it was triggered" }),
    lease: Nullable(
      ClosedObject({
        ttl: Type.Optional(Type.Unsafe<string | number>({ type: ["string", "number"] })),
        hits: Type.Optional(Type.Integer({ minimum: 1 })),
        hits_left: Type.Optional(Type.Integer({ minimum: 0 })),
        ends_at: Type.Optional(Timestamp({ description: "On the sandbox's clock" })),
      }),
    ),
    spent: Type.Boolean({ description: "It will not trigger again" }),
  },
  {
    $id: "Rule",
    examples: [
      {
        id: "lost-answer",
        match: { operation: "files.register" },
        times: 2,
        effect: { error: "RATE_LIMIT_EXCEEDED" },
        hits: 1,
        lease: null,
        spent: false,
      },
    ],
  },
);

export function renderRule(armed: ArmedRule): Static<typeof RuleBody> {
  const { rule, progress } = armed;
  const { id: _id, lease, ...document } = rule.document;
  return {
    id: rule.id,
    ...document,
    hits: progress.hits,
    lease:
      lease === undefined
        ? null
        : {
            ...lease,
            ...(lease.hits === undefined ? {} : { hits_left: Math.max(0, lease.hits - progress.hits) }),
            ...(progress.due === undefined ? {} : { ends_at: new Date(progress.due).toISOString() }),
          },
    spent: armed.spent,
  };
}

const { rules: _rules, ...writtenStage } = StageDocument.properties;

/** A stage of a scenario, and how far this sandbox is. */
const StageBody = ClosedObject({
  ...writtenStage,
  rules: Type.Array(Type.String(), { description: "The ids of its rules" }),
  state: Words(["waiting", "current", "ended"]),
  began_at: Nullable(Timestamp({ description: "On the sandbox's clock" })),
  ended_at: Nullable(Timestamp()),
  requests: Type.Integer({ minimum: 0, description: "How many came in it" }),
});

function renderStage({ stage, state, began, ended, requests }: StageReport): Static<typeof StageBody> {
  const at = (instant: number | undefined) =>
    instant === undefined ? null : new Date(instant).toISOString();
  const times = { began_at: at(began), ended_at: at(ended) };
  return { ...stage.document, rules: [...stage.rules], state, ...times, requests };
}

/** A scenario, whether it is active here, and the state of its rules. */
export const ScenarioBody = ClosedObject(
  {
    name: Type.String(),
    description: Type.String(),
    active: Type.Boolean({ description: "Active in this sandbox" }),
    shipped: Type.Boolean(),
    origin: Words(["own", "shipped", "derived"], {
      description: "Your file, a shipped file, or derived from an operation's documented refusals",
    }),
    file: Type.String({
      description:
        "Its path; `built-in/…` is derived and has no file, `understudy scenario show NAME` prints it",
    }),
    hits: Type.Integer({ minimum: 0, description: "Of all its rules" }),
    rules: Type.Array(RuleBody),
    stages: Type.Optional(Type.Array(StageBody)),
    expect: Type.Optional(
      Type.Array(ExpectDocument, { description: "Requests that a run of `suite` must send" }),
    ),
    problem: Type.Optional(
      Type.String({
        description: "Why the present text of its file is invalid; the last valid text is active",
      }),
    ),
  },
  {
    $id: "Scenario",
    examples: [
      {
        name: "flaky-uploads",
        description: "The first registration fails after the file was stored.",
        active: true,
        shipped: true,
        origin: "shipped",
        file: "scenarios/flaky-uploads.yaml",
        hits: 0,
        rules: [],
      },
    ],
  },
);

export function renderScenario(
  { name, file, origin, scenario, problem }: ListedScenario,
  faults: SandboxFaults,
): Static<typeof ScenarioBody> {
  const armed = faults.active.get(name);
  const stages = faults.staged.get(name)?.report() ?? describeStages(scenario?.stages ?? []);
  const rules = (armed ?? scenario?.rules.map((rule) => new ArmedRule(rule, name)) ?? []).map(renderRule);
  return {
    name,
    description: scenario?.description ?? "",
    active: armed !== undefined,
    shipped: origin !== "own",
    origin,
    file,
    hits: rules.reduce((sum, rule) => sum + rule.hits, 0),
    rules,
    ...(stages.length > 0 && { stages: stages.map(renderStage) }),
    ...(scenario === undefined || scenario.expect.length === 0 ? {} : { expect: [...scenario.expect] }),
    ...(problem === undefined ? {} : { problem: problem.format() }),
  };
}
