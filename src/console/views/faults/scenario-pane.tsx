import type { FaultRule, ScenarioState } from "../../../../types/control-api.ts";
import { toPrintableJson, toPrintableLines, toSentence } from "../../../engine/contract/text.ts";
import { DetailPane } from "../../components/layout.tsx";
import { Badge, Notice, Problem } from "../../components/status.tsx";
import { CopyButton, pluralize, TextWithCode } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { RuleLine } from "./armed-rules.tsx";
import { addUnit } from "./rules.ts";
import { ScenarioSwitch, useScenarioSwitch } from "./switch-scenario.tsx";

export function ScenarioPane({ scenario, onClose }: { scenario: ScenarioState; onClose: () => void }) {
  const { name, description, active, rules, stages, file, origin, problem, expect = [] } = scenario;
  const stagedIds = new Set(stages?.flatMap((stage) => stage.rules));
  const unstagedRules = rules.filter(({ id }) => !stagedIds.has(id));
  const switching = useScenarioSwitch();
  return (
    <DetailPane title={name} label={`Scenario ${name}`} onClose={onClose}>
      <div className="stack">
        {problem && <Notice outcome="failed">{problem}</Notice>}
        <ScenarioSwitch scenario={scenario} switching={switching} label={active ? "Active" : "Inactive"} />
        <Problem error={switching.error} />
        {description && (
          <p>
            <TextWithCode>{toPrintableLines(description)}</TextWithCode>
          </p>
        )}
        {stages && <Stages stages={stages} rules={rules} isActive={active} />}
        {unstagedRules.length > 0 && (
          <>
            <h3>{`${stages ? "In every stage: " : ""}${pluralize(unstagedRules.length, "rule")}`}</h3>
            <RuleLines rules={unstagedRules} showsHits={active} />
          </>
        )}
        <Expectations title="Expectations" expectations={expect} />
        {origin === "derived" ? (
          <p className="quiet">
            Derived from the operation’s documented errors, without a file.{" "}
            <code>understudy scenario show {name}</code> prints it.
          </p>
        ) : (
          <>
            <h3>{origin === "shipped" ? "Built-in file" : "Custom file"}</h3>
            <p className="mono small">{file}</p>
          </>
        )}
        <div className="actions">
          <CopyButton text={name} label="Copy name" />
          <CopyButton text={`understudy scenario on ${name}`} label="Copy command" />
        </div>
      </div>
    </DetailPane>
  );
}

type Expectation = NonNullable<ScenarioState["expect"]>[number];

/** Requirements that a suite checks; nothing if there are none. */
function Expectations({ title, expectations }: { title: string; expectations: readonly Expectation[] }) {
  if (expectations.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="panel lines" aria-label={title}>
        {expectations.map((one) => (
          <li key={JSON.stringify(one)} className="armed-rule flow">
            <ExpectationText expectation={one} />
          </li>
        ))}
      </ul>
    </>
  );
}

function ExpectationText({ expectation }: { expectation: Expectation }) {
  const { description, match, count, sequence, client } = expectation;
  return (
    <span>
      {description && <bdi>{toSentence(description)} </bdi>}
      {match && (
        <>
          {describeCount(count)} <code>{toPrintableJson(match)}</code>.{" "}
        </>
      )}
      {sequence && (
        <>
          Requests must match, in this order:{" "}
          <code>{sequence.map((one) => toPrintableJson(one)).join(", ")}</code>.{" "}
        </>
      )}
      {client && (
        <>
          The requests must pass these checks of the client test: <code>{client.join(", ")}</code>.
        </>
      )}
    </span>
  );
}

function describeCount(count: Expectation["count"] = { min: 1 }): string {
  const mustMatch = (requests: number) => `${pluralize(requests, "request")} must match`;
  if (count === 0) return "No request may match";
  if (typeof count === "number") return `Exactly ${mustMatch(count)}`;
  const { min, max } = count;
  if (max === undefined) return `At least ${mustMatch(min ?? 0)}`;
  return min === undefined
    ? `At most ${pluralize(max, "request")} may match`
    : `Between ${min} and ${max} requests must match`;
}

type Stage = NonNullable<ScenarioState["stages"]>[number];

const STAGE_OUTCOMES = { waiting: "other", current: "fault", ended: "ok" } as const;

function Stages(props: { stages: readonly Stage[]; rules: readonly FaultRule[]; isActive: boolean }) {
  const { stages, rules, isActive } = props;
  return (
    <>
      <h3>{pluralize(stages.length, "stage")}</h3>
      <ol className="stages stack" aria-label="Stages">
        {stages.map((stage) => (
          <li
            key={stage.name}
            className="stack"
            aria-current={stage.state === "current" ? "step" : undefined}
          >
            <div className="flow">
              <strong>{stage.name}</strong>
              {isActive && <Badge outcome={STAGE_OUTCOMES[stage.state]}>{stage.state}</Badge>}
              <span className="quiet small">
                <StageEnd stage={stage} />
              </span>
            </div>
            {stage.description && <p>{toPrintableLines(stage.description)}</p>}
            {stage.rules.length > 0 ? (
              <RuleLines
                rules={rules.filter(({ id }) => stage.rules.includes(id))}
                showsHits={isActive && stage.state !== "waiting"}
              />
            ) : (
              <p className="quiet small">No rules: the API answers normally.</p>
            )}
            <Expectations title={`Expected in stage “${stage.name}”`} expectations={stage.expect ?? []} />
          </li>
        ))}
      </ol>
    </>
  );
}

function StageEnd({ stage: { until = {}, state, requests, began_at, ended_at } }: { stage: Stage }) {
  if (state === "ended" && ended_at)
    return (
      <>
        ended <RelativeTime at={ended_at} /> after {pluralize(requests, "request")}
      </>
    );
  const ends = [
    until.requests !== undefined && `after ${pluralize(until.requests, "request")}`,
    until.time !== undefined && `after ${addUnit(until.time)}`,
    until.held && "when a request or delivery is held",
  ].filter(Boolean);
  const words = ends.length > 0 ? `ends ${ends.join(" or ")}` : "until deactivated";
  if (state !== "current" || !began_at) return words;
  return (
    <>
      {words}; began <RelativeTime at={began_at} />, {pluralize(requests, "request")} so far
    </>
  );
}

function RuleLines({ rules, showsHits }: { rules: readonly FaultRule[]; showsHits: boolean }) {
  return (
    <ul className="panel lines">
      {rules.map((rule) => (
        <RuleLine key={rule.id} rule={rule} showsHits={showsHits} />
      ))}
    </ul>
  );
}
