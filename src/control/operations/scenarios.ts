import Type from "typebox";
import { UnknownScenario } from "../../sandbox/fault-gate.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { presentScenario } from "../faults-body.ts";
import { requireRoom } from "../limits.ts";
import { type AnyControlOperation, type ControlServer, controlOperation, S } from "../operation.ts";
import { unknownScenario } from "../problem.ts";

const listScenarios = controlOperation({
  id: "scenarios.list",
  method: "GET",
  path: `${S}/scenarios`,
  summary: "List all scenarios, which are in force here, and how often their rules have struck",
  handle: ({ sandbox, server }) => scenariosOf(server, sandbox),
});

const activateScenarios = controlOperation({
  id: "scenarios.activate",
  method: "PUT",
  path: `${S}/scenarios/active`,
  summary: "Put exactly these scenarios in force, in this order",
  body: {
    schema: Type.Object(
      { names: Type.Array(Type.String(), { maxItems: 1000 }) },
      { additionalProperties: false },
    ),
  },
  handle({ body: { names }, sandbox, server }) {
    const faults = server.faults.of(sandbox);
    try {
      const rules = [...new Set(names)].flatMap((name) => server.faults.library.get(name).rules);
      requireRoom(server, "rules", faults.rules.inlineRules.length + rules.length);
      faults.setScenarios(names);
    } catch (error) {
      if (!(error instanceof UnknownScenario)) throw error;
      throw unknownScenario(error, `names[${names.indexOf(error.scenario)}]`);
    }
    return { names: faults.scenarios, ...scenariosOf(server, sandbox) };
  },
});

function scenariosOf({ faults }: ControlServer, sandbox: Sandbox) {
  sandbox.world.catchUp();
  const items = faults.library.list().map((listed) => presentScenario(listed, faults.of(sandbox)));
  return { items, total: items.length };
}

export const SCENARIO_OPERATIONS: readonly AnyControlOperation[] = [listScenarios, activateScenarios];
