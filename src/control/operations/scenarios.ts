import { Type } from "typebox";
import { listDerived } from "../../documents/scenario-library.ts";
import { ClosedObject, getExamples, ListOf } from "../../engine/contract/schema.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { renderScenario, ScenarioBody } from "../faults-body.ts";
import { requireRoom } from "../limits.ts";
import { type ControlOperation, type ControlServer, operation, toList } from "../operation.ts";
import { readScenarioField } from "../problem.ts";

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
    route: "GET S/scenarios",
    summary: "List all scenarios, whether each is active here, and how often its rules were triggered",
    success: { status: 200, schema: ListOf(ScenarioBody) },
    handle: ({ sandbox, server }) => listIn(server, sandbox),
  }),
  operation({
    id: "scenarios.activate",
    route: "PUT S/scenarios/active",
    summary: "Activate exactly these scenarios, in this order; `[]` for none",
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
      const faults = server.faults.of(sandbox);
      const scenarios = new Set(
        names.map((name, i) => readScenarioField(`names[${i}]`, () => faults.library.get(name))),
      );
      const rules = [...scenarios].flatMap((scenario) => scenario.rules);
      requireRoom(server, "rules", faults.inlineRules.length + rules.length);
      faults.setScenarios(names);
      return { names: [...faults.scenarios], ...listIn(server, sandbox) };
    },
  }),
];

function listIn({ faults, scenarios }: ControlServer, sandbox: Sandbox) {
  sandbox.world.catchUp();
  const own = faults.of(sandbox);
  const { derived } = own.library;
  const listed = [...scenarios.list(), ...derived.names().map((name) => listDerived(derived.find(name)!))];
  return toList(listed.map((one) => renderScenario(one, own)));
}
