import type { ArmedRule } from "../faults/rules/armed-rule.ts";
import type { SandboxFaults } from "../faults/sandbox-faults.ts";
import type { ListedScenario } from "../faults/scenarios/scenario-library.ts";

/** A rule as it was written, with what it has done in this sandbox (interfaces 4). */
export function presentRule(armed: ArmedRule) {
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

/** A scenario, whether it is in force here, and how far its rules have come. */
export function presentScenario(
  { name, file, shipped, scenario, problem }: ListedScenario,
  faults: SandboxFaults,
) {
  const armed = faults.rules.rulesOf(name);
  const rules =
    armed?.map(presentRule) ??
    scenario?.rules.map(({ id, document }) => ({ ...document, id, hits: 0 })) ??
    [];
  return {
    name,
    description: scenario?.description ?? "",
    active: armed !== undefined,
    shipped,
    file,
    hits: rules.reduce((sum, rule) => sum + rule.hits, 0),
    rules,
    ...(scenario === undefined || scenario.expect.length === 0 ? {} : { expect: scenario.expect }),
    // Of the newest text; what is in force is the last that was right.
    ...(problem === undefined ? {} : { problem: problem.format() }),
  };
}
