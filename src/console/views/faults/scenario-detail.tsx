import type { ScenarioState } from "../../api/types.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Notice, Problem } from "../../parts/notice.tsx";
import { RuleState } from "./armed-rules.tsx";
import { Lease } from "./lease.tsx";
import { ruleWords } from "./rule-words.ts";
import { ScenarioSwitch, useScenarioSwitch } from "./scenario-switch.tsx";

export function ScenarioDetail({ scenario, onClose }: { scenario: ScenarioState; onClose: () => void }) {
  const { name, description, active, rules, file, shipped, problem, expect } = scenario;
  const switching = useScenarioSwitch();
  return (
    <DetailPane title={name} label={`Scenario ${name}`} onClose={onClose}>
      <div className="scenario-about">
        {problem && <Notice outcome="failed">{problem}</Notice>}
        <ScenarioSwitch
          scenario={scenario}
          switching={switching}
          label={active ? "In force here" : "Not in force"}
        />
        <Problem error={switching.error} />
        {description && <p>{description}</p>}
        <h3>{rules.length === 1 ? "Its rule" : `Its ${rules.length} rules`}</h3>
        <ul className="armed-list">
          {rules.map((rule) => (
            <li key={rule.id} className="armed-rule">
              {active && <RuleState rule={rule} />}
              <div className="armed-words">
                {ruleWords(rule)} <code className="quiet">{rule.id}</code>
              </div>
              <span className="armed-lease small quiet">
                <Lease rule={rule} />
              </span>
            </li>
          ))}
        </ul>
        {expect && expect.length > 0 && (
          <>
            <h3>A suite also expects</h3>
            <ul className="armed-list">
              {expect.map((one) => (
                <li key={JSON.stringify(one)} className="armed-rule">
                  {one.description ?? <code>{JSON.stringify(one.match)}</code>}
                </li>
              ))}
            </ul>
          </>
        )}
        <h3>{shipped ? "Shipped" : "Your file"}</h3>
        <p className="mono small scenario-file">{file}</p>
        <div className="actions">
          <CopyButton text={name} label="Copy its name" />
          <CopyButton text={`understudy scenario on ${name}`} label="Copy the command" />
        </div>
      </div>
    </DetailPane>
  );
}
