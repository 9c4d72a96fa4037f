import { Switch } from "react-aria-components";
import type { ScenarioState } from "../../../../types/control-api.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { DetailPane } from "../../components/layout.tsx";
import { Notice, Problem } from "../../components/notice.tsx";
import { CopyButton } from "../../components/text.tsx";
import { LeaseLeft, RuleState } from "./armed-rules.tsx";
import { describeRule } from "./rule-words.ts";

export function ScenarioPane({ scenario, onClose }: { scenario: ScenarioState; onClose: () => void }) {
  const { name, description, active, rules, file, shipped, problem, expect } = scenario;
  const switching = useScenarioSwitch();
  return (
    <DetailPane title={name} label={`Scenario ${name}`} onClose={onClose}>
      <div className="scenario-about">
        {problem && <Notice outcome="failed">{problem}</Notice>}
        <ScenarioSwitch scenario={scenario} switching={switching} label={active ? "Active" : "Inactive"} />
        <Problem error={switching.error} />
        {description && <p>{description}</p>}
        <h3>{rules.length === 1 ? "Rule" : `${rules.length} rules`}</h3>
        <ul className="armed-list">
          {rules.map((rule) => (
            <li key={rule.id} className="armed-rule">
              {active && <RuleState rule={rule} />}
              <div className="armed-words">
                {describeRule(rule)} <code className="quiet">{rule.id}</code>
              </div>
              <span className="armed-lease small quiet">
                <LeaseLeft rule={rule} />
              </span>
            </li>
          ))}
        </ul>
        {expect && expect.length > 0 && (
          <>
            <h3>Expectations</h3>
            <ul className="armed-list">
              {expect.map((one) => (
                <li key={JSON.stringify(one)} className="armed-rule">
                  {one.description ?? <code>{JSON.stringify(one.match)}</code>}
                </li>
              ))}
            </ul>
          </>
        )}
        <h3>{shipped ? "Built-in" : "Custom"}</h3>
        <p className="mono small scenario-file">{file}</p>
        <div className="actions">
          <CopyButton text={name} label="Copy name" />
          <CopyButton text={`understudy scenario on ${name}`} label="Copy command" />
        </div>
      </div>
    </DetailPane>
  );
}

/** Switches one scenario; reads the active ones first, since other clients may have changed them. */
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
      aria-label={label === undefined ? `Activate ${name}` : undefined}
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
