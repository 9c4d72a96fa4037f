import { type Static, Type } from "typebox";
import { describeDerived, type ListedScenario } from "../../documents/scenario-library.ts";
import {
  ClosedObject,
  getExamples,
  ListOf,
  Nullable,
  StringEnum,
  Timestamp,
} from "../../engine/contract/schema.ts";
import { ArmedRule } from "../../engine/faults/armed-rule.ts";
import type { ArmedRules } from "../../engine/faults/armed-rules.ts";
import { ExpectDocument, StageDocument } from "../../engine/faults/rule-document.ts";
import { describeStages, type StageReport } from "../../engine/faults/stages.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { requireRoom } from "../limits.ts";
import { type ControlOperation, type ControlServer, OptionalText, operation, toList } from "../operation.ts";
import { readScenarioField } from "../problem.ts";
import { RuleBody, renderRule } from "./faults.ts";

const { rules: _rules, ...stageFields } = StageDocument.properties;

/** A stage of a scenario, and how far this sandbox is. */
const StageBody = ClosedObject({
  ...stageFields,
  rules: Type.Array(Type.String(), { description: "The ids of its rules" }),
  state: StringEnum(["waiting", "current", "ended"]),
  began_at: Nullable(Timestamp({ description: "On the sandbox's clock" })),
  ended_at: Nullable(Timestamp()),
  requests: Type.Integer({ minimum: 0, description: "How many came during the stage" }),
});

function renderStage({ stage, state, began, ended, requests }: StageReport): Static<typeof StageBody> {
  const toIsoTime = (instant: number | undefined) =>
    instant === undefined ? null : new Date(instant).toISOString();
  const times = { began_at: toIsoTime(began), ended_at: toIsoTime(ended) };
  return { ...stage.document, rules: [...stage.rules], state, ...times, requests };
}

/** A scenario, whether it is active here, and the state of its rules. */
export const ScenarioBody = ClosedObject(
  {
    name: Type.String(),
    description: Type.String(),
    active: Type.Boolean({ description: "Active in this sandbox" }),
    shipped: Type.Boolean({ description: "Whether it comes with Understudy: `origin` is not `own`" }),
    origin: StringEnum(["own", "shipped", "derived"], {
      description: "Your file, a shipped file, or derived from an operation's documented refusals",
    }),
    file: Type.String({
      description:
        "Its path. That of a derived scenario, which has no file, begins with `built-in/`; `understudy scenario show NAME` prints it",
    }),
    hits: Type.Integer({ minimum: 0, description: "Of all its rules" }),
    rules: Type.Array(RuleBody),
    stages: Type.Optional(Type.Array(StageBody)),
    expect: Type.Optional(
      Type.Array(ExpectDocument, { description: "Requests that a run of the command `suite` must send" }),
    ),
    problem: OptionalText("Why the current text of its file is invalid; the last valid text is active"),
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

function renderScenario(
  { name, file, origin, scenario, problem }: ListedScenario,
  { activeScenarios, stagesByScenario }: ArmedRules,
): Static<typeof ScenarioBody> {
  const activeRules = activeScenarios.get(name);
  const staged = stagesByScenario.get(name);
  const stages = describeStages(staged?.stages ?? scenario?.stages ?? [], staged?.progress);
  const shownRules = activeRules ?? (scenario?.rules ?? []).map((rule) => new ArmedRule(rule, name));
  const rules = shownRules.map(renderRule);
  return {
    name,
    description: scenario?.description ?? "",
    active: activeRules !== undefined,
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

export const ActiveScenariosBody = ClosedObject(
  {
    names: Type.Array(Type.String(), { description: "The active scenarios, in their order" }),
    ...ListOf(ScenarioBody).properties,
  },
  {
    $id: "ActiveScenarios",
    examples: [{ names: ["flaky-uploads"], items: getExamples(ScenarioBody), total: 1 }],
  },
);

export const SCENARIO_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "scenarios.list",
    route: "GET /_control/sandboxes/{name}/scenarios",
    summary: "List all scenarios, whether each is active, and the hits of its rules",
    success: { status: 200, schema: ListOf(ScenarioBody) },
    handle: ({ sandbox, server }) => listScenarios(server, sandbox),
  }),
  operation({
    id: "scenarios.activate",
    route: "PUT /_control/sandboxes/{name}/scenarios/active",
    summary: "Activate exactly these scenarios, in this order. `[]` means none",
    body: {
      kind: "json",
      schema: ClosedObject(
        { names: Type.Array(Type.String(), { maxItems: 1000 }) },
        { examples: [{ names: ["flaky-uploads"] }] },
      ),
    },
    kind: "scenario",
    describeChange: ({ body: { names } }) => ({
      title:
        names.length === 0
          ? "All scenarios were switched off."
          : `Active scenarios: ${[...new Set(names)].join(", ")}.`,
    }),
    errors: ["limit-reached", "invalid-document"],
    success: { status: 200, schema: ActiveScenariosBody },
    handle({ body: { names }, sandbox, server }) {
      const faults = server.faults.getSandboxFaults(sandbox);
      const scenarios = new Set(
        names.map((name, i) => readScenarioField(`names[${i}]`, () => faults.library.get(name))),
      );
      const rules = [...scenarios].flatMap((scenario) => scenario.rules);
      requireRoom(server, "rules", faults.rules.inlineRules.length + rules.length);
      faults.setScenarios(names);
      return { names: [...faults.rules.scenarios], ...listScenarios(server, sandbox) };
    },
  }),
];

function listScenarios({ faults, scenarios }: ControlServer, sandbox: Sandbox) {
  // Ends stages that are over by now.
  sandbox.world.catchUp();
  const sandboxFaults = faults.getSandboxFaults(sandbox);
  // The server's list lacks the scenarios that derive from operations of this sandbox alone.
  const { derived } = sandboxFaults.library;
  const derivedNames = derived.listNames().filter((name) => !scenarios.hasWritten(name));
  const listed = [...scenarios.list(), ...derivedNames.map((name) => describeDerived(derived.find(name)!))];
  return toList(listed.map((one) => renderScenario(one, sandboxFaults.rules)));
}
