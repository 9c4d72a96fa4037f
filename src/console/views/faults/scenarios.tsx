import { ToggleButton } from "react-aria-components";
import type { CoverageMatrix, FaultRule, ScenarioState } from "../../../../types/control-api.ts";
import { toPrintableLines } from "../../../engine/contract/text.ts";
import { useParameters } from "../../address.ts";
import { useCoverage, useSandboxChange } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { FilterField } from "../../components/form.tsx";
import { Badge, EmptyState, Notice, Problem } from "../../components/status.tsx";
import { containsWords, pluralize } from "../../components/text.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { toStatusOrCode } from "./rules.ts";
import { ScenarioSwitch, useScenarioSwitch } from "./switch-scenario.tsx";

type Row = ScenarioState & { kinds: ReadonlySet<Kind> };
type Group = Kind | "active" | "custom" | "invalid";

const makeColumns = (switching: ReturnType<typeof useScenarioSwitch>): readonly Column<Row>[] => [
  {
    id: "switch",
    title: "Active",
    value: ({ active }) => Number(active),
    renderCell: (row) => <ScenarioSwitch scenario={row} switching={switching} />,
    width: "4.7rem",
  },
  {
    id: "name",
    title: "Scenario",
    renderCell: ({ name, problem }) =>
      problem ? <Badge outcome="failed">{name}: invalid file</Badge> : name,
    width: "minmax(0, 22rem)",
  },
  {
    id: "description",
    title: "Description",
    renderCell: ({ description }) => <span className="quiet">{toPrintableLines(description)}</span>,
    minTableWidth: "medium",
  },
  {
    id: "hits",
    title: "Hits",
    renderCell: ({ hits, active }) => (active ? hits : ""),
    width: "3.5rem",
    isNumber: true,
    minTableWidth: "medium",
  },
];

export function ScenarioList(props: {
  scenarios: readonly ScenarioState[];
  onSelect: (name: string) => void;
}) {
  const { scenarios, onSelect } = props;
  const { get, set } = useParameters();
  const { data: coverage } = useCoverage({ live: false });
  const statusByCode = mapStatusByCode(coverage);
  const rows = scenarios.map((scenario) => ({
    ...scenario,
    kinds: new Set(scenario.rules.flatMap((rule) => listRuleKinds(rule, statusByCode))),
  }));
  const group = get("group") as Group | undefined;
  const find = get("find") ?? "";
  const toSearchText = ({ name, description, rules }: Row) =>
    `${name} ${description} ${JSON.stringify(rules)}`;
  const visibleRows = rows.filter((row) => isInGroup(row, group) && containsWords(toSearchText(row), find));
  const switching = useScenarioSwitch();
  const deactivateAll = useSandboxChange(
    async (calls) => {
      const { scenarios: active } = await calls.show();
      await calls.activate([]);
      return active;
    },
    {
      confirmation: (before) => `Deactivated ${pluralize(before.length, "scenario")}.`,
      undo: (calls, before) => calls.activate(before),
    },
  );
  const invalid = rows.filter(({ problem }) => problem !== undefined);
  return (
    <section className="switchboard stack" aria-label="Scenarios">
      <div className="section-head">
        <h2>Scenarios</h2>
        {rows.some(({ active }) => active) && (
          <ActionButton label="Deactivate all" look="subtle" change={deactivateAll} />
        )}
      </div>
      <Problem error={deactivateAll.error ?? switching.error} />
      {invalid.length > 0 && group !== "invalid" && (
        <Notice
          outcome="failed"
          action={<ActionButton label="Show" onPress={() => set({ group: "invalid" })} />}
        >
          {invalid.length === 1
            ? `The file of scenario ${invalid[0]!.name} is invalid.`
            : `${invalid.length} scenario files are invalid.`}
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
        rows={visibleRows}
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
    ["active", "Active"],
    ["invalid", "Invalid files"],
    ["custom", "Custom"],
    ...(Object.entries(KIND_TITLES) as [Kind, string][]),
  ];
  return all
    .map(([id, title]) => ({ id, title, count: rows.filter((row) => isInGroup(row, id)).length }))
    .filter(({ id, count }) => count > 0 || id === "active");
}

function isInGroup({ active, shipped, problem, kinds }: Row, group: Group | undefined): boolean {
  if (group === undefined) return true;
  if (group === "active") return active;
  if (group === "custom") return !shipped;
  if (group === "invalid") return problem !== undefined;
  return kinds.has(group);
}

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

function mapStatusByCode(coverage: CoverageMatrix | undefined): ReadonlyMap<string, number> {
  return new Map(
    coverage?.operations.flatMap(({ outcomes }) =>
      outcomes.flatMap(({ code, status }): [string, number][] => (code ? [[code, status]] : [])),
    ),
  );
}

function listRuleKinds(
  { match, sequence = [], effect }: FaultRule,
  statusByCode: ReadonlyMap<string, number>,
): Kind[] {
  if (match?.event !== undefined || match?.webhook !== undefined) return ["webhooks"];
  if (effect?.wire !== undefined) return ["wire"];
  const answers = [effect?.error, effect?.status, ...sequence.map(toStatusOrCode)].filter(
    (one) => one !== undefined,
  );
  const kinds = answers.flatMap((one) => toAnswerKinds(one, statusByCode));
  return kinds.length === 0 && effect?.delay !== undefined ? ["slow"] : kinds;
}

function toAnswerKinds(answer: string | number, statusByCode: ReadonlyMap<string, number>): Kind[] {
  // `CODE!` also answers where the code is not documented.
  const status = typeof answer === "number" ? answer : statusByCode.get(answer.replace(/!$/, ""));
  if (status === undefined || status < 400) return [];
  if (status >= 500) return ["5xx"];
  return [status in KIND_TITLES ? (String(status) as Kind) : "4xx"];
}
