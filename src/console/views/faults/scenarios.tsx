import { useMemo } from "react";
import { Switch, ToggleButton } from "react-aria-components";
import type { CoverageMatrix, FaultRule, ScenarioState } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { useCoverage, useSandboxChange } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { FilterField } from "../../components/form.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { Badge } from "../../components/mark.tsx";
import { EmptyState, Notice, Problem } from "../../components/notice.tsx";
import { CopyButton, containsWords, pluralize } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { RuleLine } from "./armed-rules.tsx";
import { toStatusOrCode } from "./rules.ts";
import { switchScenario } from "./switch-scenario.ts";

type Row = ScenarioState & { kinds: ReadonlySet<Kind> };
type Group = Kind | "in-force" | "own" | "broken";

const makeColumns = (switching: ReturnType<typeof useScenarioSwitch>): readonly Column<Row>[] => [
  {
    id: "switch",
    title: "Active",
    value: ({ active }) => (active ? 0 : 1),
    show: (row) => <ScenarioSwitch scenario={row} switching={switching} />,
    width: "4.7rem",
  },
  {
    id: "name",
    title: "Scenario",
    show: ({ name, problem }) => (problem ? <Badge outcome="failed">{name}: invalid file</Badge> : name),
    width: "minmax(0, 22rem)",
  },
  {
    id: "description",
    title: "Description",
    show: ({ description }) => <span className="quiet">{description}</span>,
    from: "medium",
  },
  {
    id: "hits",
    title: "Hits",
    show: ({ hits, active }) => (active ? hits : ""),
    width: "3.5rem",
    number: true,
    from: "medium",
  },
];

export function ScenarioList(props: {
  scenarios: readonly ScenarioState[];
  onSelect: (name: string) => void;
}) {
  const { scenarios, onSelect } = props;
  const { get, set } = useParameters();
  const { data: coverage } = useCoverage({ live: false });
  const rows = useMemo(() => {
    const statuses = mapStatusByCode(coverage);
    return scenarios.map((scenario) => ({
      ...scenario,
      kinds: new Set(scenario.rules.flatMap((rule) => listRuleKinds(rule, statuses))),
    }));
  }, [scenarios, coverage]);
  const group = get("group") as Group | undefined;
  const find = get("find") ?? "";
  const shown = useMemo(
    () => rows.filter((row) => isInGroup(row, group) && containsWords(searchText(row), find)),
    [rows, group, find],
  );
  const switching = useScenarioSwitch();
  const allOff = useSandboxChange(
    async (calls) => {
      const { scenarios } = await calls.show();
      await calls.activate([]);
      return scenarios;
    },
    {
      done: (before) => `Deactivated ${pluralize(before.length, "scenario")}.`,
      undo: (calls, before) => calls.activate(before),
    },
  );
  const broken = rows.filter(({ problem }) => problem !== undefined);
  return (
    <section className="switchboard stack" aria-label="Scenarios">
      <div className="section-head">
        <h2>Scenarios</h2>
        {rows.some(({ active }) => active) && (
          <ActionButton label="Deactivate all" look="subtle" change={allOff} />
        )}
      </div>
      <Problem error={allOff.error ?? switching.error} />
      {broken.length > 0 && group !== "broken" && (
        <Notice
          outcome="failed"
          action={<ActionButton label="Show" onPress={() => set({ group: "broken" })} />}
        >
          {broken.length === 1
            ? `The file of scenario ${broken[0]!.name} is invalid.`
            : `${broken.length} scenario files are invalid.`}
        </Notice>
      )}
      <div className="stack">
        <FilterField
          label="Filter scenarios"
          placeholder="Filter by name, operation, code"
          value={find}
          onChange={(text) => set({ find: text }, { replace: true })}
        />
        <div className="chips groups" role="group" aria-label="Show only">
          {listGroups(rows).map(({ id, title, count }) => (
            <ToggleButton
              key={id}
              className="button chip"
              isSelected={group === id}
              onChange={(on) => set({ group: on ? id : undefined })}
            >
              {title} <span className="quiet">{count}</span>
            </ToggleButton>
          ))}
        </div>
      </div>
      <VirtualTable
        label="Scenarios"
        columns={makeColumns(switching)}
        rows={shown}
        getKey={({ name }) => name}
        selected={get("scenario")}
        onSelect={({ name }) => onSelect(name)}
        empty={
          <EmptyState title={find || group ? "No matching scenarios" : "No scenarios"}>
            {find || group ? (
              <ActionButton
                label="Clear filters"
                onPress={() => set({ find: undefined, group: undefined })}
              />
            ) : (
              <p>Save a YAML file in your scenarios folder to add one.</p>
            )}
          </EmptyState>
        }
      />
    </section>
  );
}

function listGroups(rows: readonly Row[]): { id: Group; title: string; count: number }[] {
  const all: [Group, string][] = [
    ["in-force", "Active"],
    ["broken", "Invalid files"],
    ["own", "Custom"],
    ...(Object.entries(KIND_TITLES) as [Kind, string][]),
  ];
  return all
    .map(([id, title]) => ({ id, title, count: rows.filter((row) => isInGroup(row, id)).length }))
    .filter(({ id, count }) => count > 0 || id === "in-force");
}

function isInGroup({ active, shipped, problem, kinds }: Row, group: Group | undefined): boolean {
  if (group === undefined) return true;
  if (group === "in-force") return active;
  if (group === "own") return !shipped;
  if (group === "broken") return problem !== undefined;
  return kinds.has(group);
}

function searchText({ name, description, rules }: Row): string {
  return `${name} ${description} ${JSON.stringify(rules)}`;
}

/** Kinds of failures; a scenario may have several. */
const KIND_TITLES = {
  401: "401 unauthorized",
  403: "403 forbidden",
  404: "404 not found",
  409: "409 conflict",
  422: "422 invalid",
  429: "429 rate limited",
  "4xx": "Other 4xx",
  "5xx": "5xx errors",
  slow: "Slow",
  wire: "Connection faults",
  webhooks: "Webhooks",
};
type Kind = `${keyof typeof KIND_TITLES}`;

/** The documented status of each error code. */
function mapStatusByCode(coverage: CoverageMatrix | undefined): ReadonlyMap<string, number> {
  return new Map(
    coverage?.operations.flatMap(({ outcomes }) =>
      outcomes.flatMap(({ code, status }): [string, number][] => (code ? [[code, status]] : [])),
    ),
  );
}

function listRuleKinds(
  { match, sequence = [], effect }: FaultRule,
  statuses: ReadonlyMap<string, number>,
): Kind[] {
  if (match?.event !== undefined || match?.webhook !== undefined) return ["webhooks"];
  if (effect?.wire !== undefined) return ["wire"];
  const answers = [effect?.error, effect?.status, ...sequence.map(toStatusOrCode)].filter(
    (one) => one !== undefined,
  );
  const kinds = answers.flatMap((one) => answerKind(one, statuses));
  return kinds.length === 0 && effect?.delay !== undefined ? ["slow"] : kinds;
}

function answerKind(answer: string | number, statuses: ReadonlyMap<string, number>): Kind[] {
  const status = typeof answer === "number" ? answer : statuses.get(answer.replace(/!$/, ""));
  if (status === undefined || status < 400) return [];
  if (status >= 500) return ["5xx"];
  return [status in KIND_TITLES ? (String(status) as Kind) : "4xx"];
}

export function ScenarioPane({ scenario, onClose }: { scenario: ScenarioState; onClose: () => void }) {
  const { name, description, active, rules, stages, file, shipped, problem, expect = [] } = scenario;
  const staged = new Set(stages?.flatMap((stage) => stage.rules));
  const others = rules.filter(({ id }) => !staged.has(id));
  const switching = useScenarioSwitch();
  return (
    <DetailPane title={name} label={`Scenario ${name}`} onClose={onClose}>
      <div className="stack">
        {problem && <Notice outcome="failed">{problem}</Notice>}
        <ScenarioSwitch scenario={scenario} switching={switching} label={active ? "Active" : "Inactive"} />
        <Problem error={switching.error} />
        {description && <p>{description}</p>}
        {stages && <Stages stages={stages} rules={rules} isActive={active} />}
        {others.length > 0 && (
          <>
            <h3>{`${stages ? "In every stage: " : ""}${pluralize(others.length, "rule")}`}</h3>
            <RuleLines rules={others} isActive={active} />
          </>
        )}
        {expect.length > 0 && (
          <>
            <h3>Expectations</h3>
            <ul className="panel lines">
              {expect.map((one) => (
                <li key={JSON.stringify(one)} className="armed-rule flow">
                  {one.description ?? <code>{JSON.stringify(one.match)}</code>}
                </li>
              ))}
            </ul>
          </>
        )}
        <h3>{shipped ? "Built-in file" : "Custom file"}</h3>
        <p className="mono small">{file}</p>
        <div className="actions">
          <CopyButton text={name} label="Copy name" />
          <CopyButton text={`understudy scenario on ${name}`} label="Copy command" />
        </div>
      </div>
    </DetailPane>
  );
}

type Stage = NonNullable<ScenarioState["stages"]>[number];

const STAGE_OUTCOMES = { waiting: "other", current: "fault", ended: "ok" } as const;

/** Which stage is current, what ends it, and the rules of each. */
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
            {stage.description && <p>{stage.description}</p>}
            {stage.rules.length > 0 ? (
              <RuleLines
                rules={rules.filter(({ id }) => stage.rules.includes(id))}
                isActive={isActive && stage.state !== "waiting"}
              />
            ) : (
              <p className="quiet small">No rules: the API works.</p>
            )}
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
    until.time !== undefined && `after ${until.time}`,
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

function RuleLines({ rules, isActive }: { rules: readonly FaultRule[]; isActive: boolean }) {
  return (
    <ul className="panel lines">
      {rules.map((rule) => (
        <RuleLine key={rule.id} rule={rule} isActive={isActive} />
      ))}
    </ul>
  );
}

function useScenarioSwitch() {
  return useSandboxChange(switchScenario, {
    done: (_result, { name, on }) => `${on ? "Activated" : "Deactivated"} ${name}.`,
    undo: (calls, _result, { name, on }) => switchScenario(calls, { name, on: !on }),
  });
}

function ScenarioSwitch(props: {
  scenario: ScenarioState;
  switching: ReturnType<typeof useScenarioSwitch>;
  label?: string;
}) {
  const { scenario, switching, label } = props;
  const { name, active } = scenario;
  const { isPending, variables, mutate } = switching;
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
