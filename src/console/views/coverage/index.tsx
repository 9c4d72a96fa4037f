import "./coverage.css";
import { useMemo, useState } from "react";
import { Button } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import type { CoverageMatrix } from "../../api/types.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Nothing, Problem, ReadProblem } from "../../parts/notice.tsx";
import { type Column, VirtualTable } from "../../parts/virtual-table.tsx";
import { HeatCell } from "./heat-cell.tsx";
import { type Covered, OutcomesPane } from "./outcomes-pane.tsx";

const keyOf = ({ operation }: Covered) => operation;

/** Operations down, statuses across: the more often a documented outcome was seen, the fuller its cell. */
export default function Coverage() {
  const { data, error } = useSandboxQuery(["coverage"], (calls) => calls.coverage());
  const parameters = useParameters();
  const missing = parameters.get("only") === "missing";
  const rows = useMemo(
    () => (data?.operations ?? []).filter(({ percent }) => !missing || percent < 100),
    [data, missing],
  );
  const columns = useMemo(() => columnsOf(data?.operations ?? []), [data]);
  const open = data?.operations.find(({ operation }) => operation === parameters.get("operation"));
  return (
    <div className="split">
      <div className="page">
        <div className="page-head">
          <h1>Coverage</h1>
          <div className="actions">
            <Button
              className="button"
              aria-pressed={missing}
              onPress={() => parameters.set({ only: missing ? undefined : "missing" })}
            >
              Only what is missing
            </Button>
            <ClearButton />
          </div>
          {data && <Summary matrix={data} />}
        </div>
        <ReadProblem error={error} />
        <VirtualTable
          label="Coverage"
          columns={columns}
          rows={rows}
          keyOf={keyOf}
          selected={open?.operation}
          onSelect={({ operation }) => parameters.set({ operation })}
          empty={
            data ? (
              <Nothing title="Every documented outcome was seen." />
            ) : (
              <p className="loading">Loading …</p>
            )
          }
        />
      </div>
      {open && <OutcomesPane covered={open} onClose={() => parameters.set({ operation: undefined })} />}
    </div>
  );
}

function Summary({ matrix: { percent, covered, total } }: { matrix: CoverageMatrix }) {
  return (
    <div className="coverage-summary">
      <p>
        <strong>{percent} %</strong> of what the API documents was seen in this sandbox: {covered} of {total}{" "}
        outcomes. <span className="quiet">A reset does not forget it.</span>
      </p>
      <ul className="legend" aria-label="Legend">
        {LEGEND.map(([hits, word]) => (
          <li key={word}>
            <HeatCell outcomes={[{ status: 200, code: null, hits }]} /> {word}
          </li>
        ))}
      </ul>
    </div>
  );
}

const LEGEND = [
  [0, "never seen"],
  [1, "once"],
  [5, "a few times"],
  [20, "often"],
] as const;

/** Successes and what is no refusal share a column each: an operation seldom has two of them. */
function groupOf(status: number): string {
  return status < 400 ? `${Math.floor(status / 100)}xx` : String(status);
}

/** One in so many. */
const COMMON = 2;

function columnsOf(operations: readonly Covered[]): readonly Column<Covered>[] {
  const groups = new Set(operations.flatMap(({ outcomes }) => outcomes.map(({ status }) => groupOf(status))));
  // Where there is little room, what few operations document is told by the pane alone.
  const isCommon = (group: string) =>
    operations.filter((row) => inGroup(row, group).length > 0).length * COMMON > operations.length;
  return [
    { id: "operation", title: "Operation", value: keyOf, width: "minmax(14rem, 1fr)" },
    {
      id: "percent",
      title: "Seen",
      value: ({ percent }) => percent,
      show: ({ percent }) => `${Math.floor(percent)} %`,
      width: "4rem",
      number: true,
    },
    ...[...groups].toSorted().map(
      (group): Column<Covered> => ({
        id: group,
        title: group,
        value: (row) => hitsOf(inGroup(row, group)),
        show: (row) => <HeatCell outcomes={inGroup(row, group)} />,
        width: "2.9rem",
        from: isCommon(group) ? "medium" : "wide",
      }),
    ),
  ];
}

function inGroup({ outcomes }: Covered, group: string): Covered["outcomes"] {
  return outcomes.filter(({ status }) => groupOf(status) === group);
}

/** -1 where nothing is documented, so that it sorts below what was never seen. */
function hitsOf(outcomes: Covered["outcomes"]): number {
  return outcomes.length === 0 ? -1 : outcomes.reduce((sum, { hits }) => sum + hits, 0);
}

function ClearButton() {
  const [asking, setAsking] = useState(false);
  const clear = useSandboxChange((calls, _: undefined) => calls.clearCoverage());
  return (
    <>
      <Button className="button" onPress={() => setAsking(true)}>
        Count anew …
      </Button>
      <Dialog title="Count from the beginning?" isOpen={asking} onClose={() => setAsking(false)}>
        <p>What was seen so far is forgotten; the world and the journal stay.</p>
        <Problem error={clear.error} />
        <div className="form-buttons">
          <Button
            className="button danger"
            isPending={clear.isPending}
            onPress={() => clear.mutate(undefined, { onSuccess: () => setAsking(false) })}
          >
            Count anew
          </Button>
          <Button className="button" onPress={() => setAsking(false)}>
            Cancel
          </Button>
        </div>
      </Dialog>
    </>
  );
}
