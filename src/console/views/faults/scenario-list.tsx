import { useMemo } from "react";
import { Button, Input, SearchField, ToggleButton } from "react-aria-components";
import type { CoverageMatrix, FaultRule, ScenarioState } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { Badge } from "../../components/mark.tsx";
import { EmptyState, Notice, Problem } from "../../components/notice.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { ScenarioSwitch, type ScenarioSwitching, useScenarioSwitch } from "./scenario-pane.tsx";

type Row = ScenarioState & { kinds: ReadonlySet<Kind> };
type Group = Kind | "in-force" | "own" | "broken";

const makeColumns = (switching: ScenarioSwitching): readonly Column<Row>[] => [
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
    value: ({ name }) => name,
    show: ({ name, problem }) => (problem ? <Badge outcome="failed">{name}: invalid file</Badge> : name),
    width: "minmax(0, 22rem)",
  },
  {
    id: "about",
    title: "Description",
    value: ({ description }) => description,
    show: ({ description }) => <span className="quiet">{description}</span>,
    width: "minmax(0, 1fr)",
    from: "medium",
  },
  {
    id: "hits",
    title: "Hits",
    value: ({ hits }) => hits,
    show: ({ hits, active }) => (active ? hits : ""),
    width: "3.5rem",
    number: true,
    from: "medium",
  },
];
const getKey = ({ name }: Row) => name;

/** All scenarios with a switch, filtered by the kind of failure. */
export function ScenarioList({ scenarios }: { scenarios: readonly ScenarioState[] }) {
  const { get, set } = useParameters();
  const { data: coverage } = useSandboxQuery(["coverage"], (calls) => calls.coverage(), { live: false });
  const rows = useMemo(() => {
    const statuses = statusByCode(coverage);
    return scenarios.map((scenario) => ({ ...scenario, kinds: scenarioKinds(scenario, statuses) }));
  }, [scenarios, coverage]);
  const group = get("group") as Group | undefined;
  const find = get("find") ?? "";
  const shown = useMemo(
    () => rows.filter((row) => isInGroup(row, group) && matchesText(row, find)),
    [rows, group, find],
  );
  const switching = useScenarioSwitch();
  const allOff = useSandboxChange((calls) => calls.activate([]));
  const activeCount = rows.filter(({ active }) => active).length;
  const broken = rows.filter(({ problem }) => problem !== undefined);
  return (
    <section className="switchboard" aria-label="Scenarios">
      <div className="armed-head">
        <h2>Scenarios</h2>
        {activeCount > 0 && (
          <Button
            className="button subtle"
            isPending={allOff.isPending}
            onPress={() => allOff.mutate(undefined)}
          >
            Deactivate all
          </Button>
        )}
      </div>
      <Problem error={allOff.error ?? switching.error} />
      {broken.length > 0 && group !== "broken" && (
        <Notice
          outcome="failed"
          action={
            <Button className="button" onPress={() => set({ group: "broken" })}>
              Show
            </Button>
          }
        >
          {broken.length === 1
            ? `The file of ${broken[0]!.name} is invalid.`
            : `${broken.length} files are invalid.`}
        </Notice>
      )}
      <div className="groups">
        <SearchField
          className="groups-find"
          aria-label="Filter scenarios"
          value={find}
          onChange={(text) => set({ find: text }, { replace: true })}
        >
          <Input className="input" placeholder="Filter by name, operation, code" />
        </SearchField>
        <div className="groups-list" role="group" aria-label="Show only">
          {listGroups(rows).map(({ id, title, count }) => (
            <ToggleButton
              key={id}
              className="button group"
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
        getKey={getKey}
        selected={get("scenario")}
        onSelect={({ name }) => set({ scenario: name, compose: undefined, explain: undefined })}
        empty={
          <EmptyState title={find || group ? "No matching scenarios" : "No scenarios"}>
            {find || group ? (
              <Button className="button" onPress={() => set({ find: undefined, group: undefined })}>
                Clear filters
              </Button>
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
    ...KINDS.map((kind): [Group, string] => [kind, KIND_TITLES[kind]]),
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

function matchesText({ name, description, rules }: Row, find: string): boolean {
  const text = `${name} ${description} ${JSON.stringify(rules)}`.toLowerCase();
  return find
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Kinds of failures; a scenario may have several. */
export const KINDS = [
  "401",
  "403",
  "404",
  "409",
  "422",
  "429",
  "4xx",
  "5xx",
  "slow",
  "wire",
  "webhooks",
] as const;
export type Kind = (typeof KINDS)[number];

export const KIND_TITLES: Record<Kind, string> = {
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

/** The documented status of each error code. */
export function statusByCode(coverage: CoverageMatrix | undefined): ReadonlyMap<string, number> {
  return new Map(
    coverage?.operations.flatMap(({ outcomes }) =>
      outcomes.flatMap(({ code, status }): [string, number][] => (code ? [[code, status]] : [])),
    ),
  );
}

export function scenarioKinds(
  { rules }: ScenarioState,
  statuses: ReadonlyMap<string, number>,
): ReadonlySet<Kind> {
  return new Set(rules.flatMap((rule) => ruleKinds(rule, statuses)));
}

function ruleKinds(
  { match, sequence = [], effect }: FaultRule,
  statuses: ReadonlyMap<string, number>,
): Kind[] {
  if (match?.event !== undefined || match?.webhook !== undefined) return ["webhooks"];
  if (effect?.wire !== undefined) return ["wire"];
  const answers = [effect?.error, effect?.status, ...sequence].filter((one) => one !== undefined);
  const kinds = answers.flatMap((one) => answerKind(one, statuses));
  return kinds.length === 0 && effect?.delay !== undefined ? ["slow"] : kinds;
}

function answerKind(answer: string | number, statuses: ReadonlyMap<string, number>): Kind[] {
  const status = typeof answer === "number" ? answer : statuses.get(answer.replace(/!$/, ""));
  if (status === undefined || status < 400) return [];
  if (status >= 500) return ["5xx"];
  const own = String(status) as Kind;
  return [KINDS.includes(own) ? own : "4xx"];
}
