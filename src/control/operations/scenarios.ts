import Type from "typebox";
import { UnknownScenario } from "../../sandbox/fault-gate.ts";
import type { ManagedSandbox } from "../../sandbox/registry.ts";
import { faultsOf, presentScenario } from "../faults-body.ts";
import { requireRoom } from "../limits.ts";
import { type AnyControlOperation, controlOperation, S } from "../operation.ts";
import { unknownScenario } from "../problem.ts";

const listScenarios = controlOperation({
  id: "scenarios.list",
  method: "GET",
  path: `${S}/scenarios`,
  summary: "List all scenarios, which are in force here, and how often their rules have struck",
  handle: ({ sandbox }) => scenariosOf(sandbox),
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
    const faults = faultsOf(sandbox);
    try {
      const rules = [...new Set(names)].flatMap((name) => faults.library.get(name).rules);
      requireRoom(server, "rules", faults.rules.inlineRules.length + rules.length);
      faults.setScenarios(names);
    } catch (error) {
      if (!(error instanceof UnknownScenario)) throw error;
      throw unknownScenario(error, `names[${names.indexOf(error.scenario)}]`);
    }
    return { names: faults.scenarios, ...scenariosOf(sandbox) };
  },
});

function scenariosOf(sandbox: ManagedSandbox) {
  sandbox.world.catchUp();
  const faults = faultsOf(sandbox);
  const items = faults.library.list().map((listed) => presentScenario(listed, faults));
  return { items, total: items.length };
}

export const SCENARIO_OPERATIONS: readonly AnyControlOperation[] = [listScenarios, activateScenarios];
