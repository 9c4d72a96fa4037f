import { useMutationState } from "@tanstack/react-query";
import { Switch } from "react-aria-components";
import type { ScenarioState } from "../../../../types/control-api.ts";
import type { SandboxCalls } from "../../api/calls.ts";
import { useSandboxChange } from "../../api/queries.ts";

const QUEUE = "scenarios";

/** Reads the active scenarios first, since other clients may have changed them. */
export async function switchScenario(calls: SandboxCalls, { name, on }: { name: string; on: boolean }) {
  const { scenarios } = await calls.show();
  const others = scenarios.filter((other) => other !== name);
  return calls.activate(on ? [...others, name] : others);
}

export function useScenarioSwitch() {
  return useSandboxChange(switchScenario, {
    queue: QUEUE,
    confirmation: (_result, { name, on }) => `${on ? "Activated" : "Deactivated"} ${name}.`,
    undo: (calls, _result, { name, on }) => switchScenario(calls, { name, on: !on }),
  });
}

export function ScenarioSwitch(props: {
  scenario: ScenarioState;
  switching: ReturnType<typeof useScenarioSwitch>;
  label?: string;
}) {
  const { scenario, switching, label } = props;
  const { name, active } = scenario;
  const pending = useMutationState({
    filters: { mutationKey: [QUEUE], status: "pending" },
    select: ({ state }) => state.variables as { name: string; on: boolean },
  });
  const { on } = pending.findLast((one) => one.name === name) ?? { on: active };
  return (
    <Switch
      className="switch"
      aria-label={label === undefined ? `Activate ${name}` : undefined}
      isSelected={on}
      onChange={(next) => switching.mutate({ name, on: next })}
    >
      <span className="switch-track" aria-hidden="true">
        <span className="switch-thumb" />
      </span>
      <span aria-hidden={label === undefined}>{label ?? (on ? "on" : "off")}</span>
    </Switch>
  );
}
