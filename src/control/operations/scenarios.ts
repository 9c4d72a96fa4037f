import Type from "typebox";
import { Closed, getExamples, ListOf } from "../../engine/contract/schema.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { presentScenario, ScenarioBody } from "../faults-body.ts";
import { requireRoom } from "../limits.ts";
import { type ControlOperation, type ControlServer, OfSandbox, operation, S } from "../operation.ts";
import { scenarioAt } from "../problem.ts";

const listScenarios = operation({
  id: "scenarios.list",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/scenarios`,
  summary: "List all scenarios, whether each is active here, and how often its rules have struck",
  params: OfSandbox,
  errors: [],
  success: { status: 200, schema: ListOf(ScenarioBody) },
  handle: ({ sandbox, server }) => listIn(server, sandbox),
});

export const ActiveScenariosBody = Closed(
  {
    names: Type.Array(Type.String(), { description: "Those in force now, in their order" }),
    ...ListOf(ScenarioBody).properties,
  },
  {
    $id: "ActiveScenarios",
    examples: [{ names: ["flaky-uploads"], items: getExamples(ScenarioBody), total: 1 }],
  },
);

const activateScenarios = operation({
  id: "scenarios.activate",
  section: "interfaces 4",
  method: "PUT",
  path: `${S}/scenarios/active`,
  summary: "Activate exactly these scenarios, in this order; `[]` for none",
  params: OfSandbox,
  body: {
    kind: "json",
    schema: Closed(
      { names: Type.Array(Type.String(), { maxItems: 1000 }) },
      { examples: [{ names: ["flaky-uploads"] }] },
    ),
  },
  describes: {
    kind: "scenario",
    as: ({ body: { names } }) => ({
      title:
        names.length === 0
          ? "All scenarios were switched off."
          : `In force are now: ${[...new Set(names)].join(", ")}.`,
    }),
  },
  errors: ["limit-reached", "invalid-document"],
  success: { status: 200, schema: ActiveScenariosBody },
  handle({ body: { names }, sandbox, server }) {
    const faults = server.faults.of(sandbox);
    const scenarios = new Set(
      names.map((name, i) => scenarioAt(`names[${i}]`, () => server.scenarios.get(name))),
    );
    const rules = [...scenarios].flatMap((scenario) => scenario.rules);
    requireRoom(server, "rules", faults.rules.inlineRules.length + rules.length);
    faults.setScenarios(names);
    return { names: [...faults.scenarios], ...listIn(server, sandbox) };
  },
});

function listIn({ faults, scenarios }: ControlServer, sandbox: Sandbox) {
  sandbox.world.catchUp();
  const items = scenarios.list().map((listed) => presentScenario(listed, faults.of(sandbox)));
  return { items, total: items.length };
}

export const SCENARIO_OPERATIONS: readonly ControlOperation[] = [listScenarios, activateScenarios];
