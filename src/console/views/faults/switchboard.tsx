import { useMemo } from "react";
import { Button, Input, SearchField, ToggleButton } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import type { ScenarioState } from "../../api/types.ts";
import { Badge } from "../../parts/mark.tsx";
import { Nothing, Notice, Problem } from "../../parts/notice.tsx";
import { type Column, VirtualTable } from "../../parts/virtual-table.tsx";
import { KIND_TITLES, KINDS, type Kind, kindsOf, statusesOf } from "./kinds.ts";
import { ScenarioSwitch, type ScenarioSwitching, useScenarioSwitch } from "./scenario-switch.tsx";

type Row = ScenarioState & { kinds: ReadonlySet<Kind> };
type Group = Kind | "in-force" | "own" | "broken";

const columnsOf = (switching: ScenarioSwitching): readonly Column<Row>[] => [
  {
    id: "switch",
    title: "In force",
    value: ({ active }) => (active ? 0 : 1),
    show: (row) => <ScenarioSwitch scenario={row} switching={switching} />,
    width: "4.7rem",
  },
  {
    id: "name",
    title: "Scenario",
    value: ({ name }) => name,
    show: ({ name, problem }) => (problem ? <Badge outcome="failed">{name}: broken file</Badge> : name),
    width: "minmax(0, 22rem)",
  },
  {
    id: "about",
    title: "What happens",
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
const keyOf = ({ name }: Row) => name;

/** Every scenario with a switch, by the status that it answers. */
export function Switchboard({ scenarios }: { scenarios: readonly ScenarioState[] }) {
  const { get, set } = useParameters();
  const { data: coverage } = useSandboxQuery(["coverage"], (calls) => calls.coverage(), { live: false });
  const rows = useMemo(() => {
    const statuses = statusesOf(coverage);
    return scenarios.map((scenario) => ({ ...scenario, kinds: kindsOf(scenario, statuses) }));
  }, [scenarios, coverage]);
  const group = get("group") as Group | undefined;
  const find = get("find") ?? "";
  const shown = useMemo(() => rows.filter((row) => isIn(row, group) && fits(row, find)), [rows, group, find]);
  const switching = useScenarioSwitch();
  const allOff = useSandboxChange((calls) => calls.activate([]));
  const inForce = rows.filter(({ active }) => active).length;
  const broken = rows.filter(({ problem }) => problem !== undefined);
  return (
    <section className="switchboard" aria-label="Scenarios">
      <div className="armed-head">
        <h2>Scenarios</h2>
        {inForce > 0 && (
          <Button
            className="button subtle"
            isPending={allOff.isPending}
            onPress={() => allOff.mutate(undefined)}
          >
            Switch all off
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
            ? `The file of ${broken[0]!.name} cannot be used.`
            : `${broken.length} files cannot be used.`}
        </Notice>
      )}
      <div className="groups">
        <SearchField
          className="groups-find"
          aria-label="Find a scenario"
          value={find}
          onChange={(text) => set({ find: text }, { replace: true })}
        >
          <Input className="input" placeholder="Find: name, operation, code" />
        </SearchField>
        <div className="groups-list" role="group" aria-label="Show only">
          {groupsOf(rows).map(({ id, title, count }) => (
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
        columns={columnsOf(switching)}
        rows={shown}
        keyOf={keyOf}
        selected={get("scenario")}
        onSelect={({ name }) => set({ scenario: name, compose: undefined, explain: undefined })}
        empty={
          <Nothing title={find || group ? "No scenario fits." : "There are no scenarios."}>
            {find || group ? (
              <Button className="button" onPress={() => set({ find: undefined, group: undefined })}>
                Show all
              </Button>
            ) : (
              <p>A YAML file in the folder of your scenarios stands here as soon as it is saved.</p>
            )}
          </Nothing>
        }
      />
    </section>
  );
}

function groupsOf(rows: readonly Row[]): { id: Group; title: string; count: number }[] {
  const all: [Group, string][] = [
    ["in-force", "In force"],
    ["broken", "Broken files"],
    ["own", "Yours"],
    ...KINDS.map((kind): [Group, string] => [kind, KIND_TITLES[kind]]),
  ];
  return all
    .map(([id, title]) => ({ id, title, count: rows.filter((row) => isIn(row, id)).length }))
    .filter(({ id, count }) => count > 0 || id === "in-force");
}

function isIn({ active, shipped, problem, kinds }: Row, group: Group | undefined): boolean {
  if (group === undefined) return true;
  if (group === "in-force") return active;
  if (group === "own") return !shipped;
  if (group === "broken") return problem !== undefined;
  return kinds.has(group);
}

function fits({ name, description, rules }: Row, find: string): boolean {
  const text = `${name} ${description} ${JSON.stringify(rules)}`.toLowerCase();
  return find
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
