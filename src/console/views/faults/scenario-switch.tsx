import { Switch } from "react-aria-components";
import { useSandboxChange } from "../../api/queries.ts";
import type { ScenarioState } from "../../api/types.ts";

/** Switches one scenario, and leaves what else is in force as it is now, whoever changed it. */
export function useScenarioSwitch() {
  return useSandboxChange(async (calls, { name, on }: { name: string; on: boolean }) => {
    const { scenarios } = await calls.show();
    const others = scenarios.filter((other) => other !== name);
    return calls.activate(on ? [...others, name] : others);
  });
}

export type ScenarioSwitching = ReturnType<typeof useScenarioSwitch>;

export function ScenarioSwitch({
  scenario: { name, active },
  switching: { isPending, variables, mutate },
  label,
}: {
  scenario: ScenarioState;
  switching: ScenarioSwitching;
  label?: string;
}) {
  const on = isPending && variables.name === name ? variables.on : active;
  return (
    <Switch
      className="switch"
      aria-label={label === undefined ? `${name} in force` : undefined}
      isSelected={on}
      onChange={(next) => mutate({ name, on: next })}
    >
      <span className="switch-track" aria-hidden="true">
        <span className="switch-thumb" />
      </span>
      <span aria-hidden={label === undefined}>{label ?? (on ? "on" : "off")}</span>
    </Switch>
  );
}
