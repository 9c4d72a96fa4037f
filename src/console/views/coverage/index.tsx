import "./coverage.css";
import { ToggleButton } from "react-aria-components";
import type { CoverageMatrix, RuleDefinition } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { useCoverage, useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { ActionButton, ConfirmButton } from "../../components/button.tsx";
import { DetailPane, ListView, ViewLink } from "../../components/layout.tsx";
import { Badge, EmptyState, Problem } from "../../components/status.tsx";
import { formatCount } from "../../components/text.tsx";
import type { Column } from "../../components/virtual-table.tsx";

type OperationCoverage = CoverageMatrix["operations"][number];

/** Heat map of documented outcomes: one row per operation, one column per status. */
export default function Coverage() {
  const { data, error } = useCoverage();
  const { get, set } = useParameters();
  const onlyIncomplete = get("only") === "missing";
  const rows = data?.operations.filter(({ percent }) => !onlyIncomplete || percent < 100);
  const columns = makeColumns(data?.operations ?? []);
  const clear = useSandboxChange((calls) => calls.clearCoverage(), {
    confirmation: "All counts are zero again.",
  });
  return (
    <ListView
      head={
        <div className="page-head">
          <h1>Coverage</h1>
          <div className="actions">
            <ToggleButton
              className="button"
              isSelected={onlyIncomplete}
              onChange={(on) => set({ only: on ? "missing" : undefined })}
            >
              Only incomplete
            </ToggleButton>
            <ConfirmButton title="Reset counts?" verb="Reset counts" change={clear} look="">
              All counts start at zero. Data and timeline do not change.
            </ConfirmButton>
          </div>
          {data && <Summary matrix={data} />}
        </div>
      }
      error={error}
      label="Coverage"
      notFoundKind={onlyIncomplete ? undefined : "operation"}
      columns={columns}
      rows={rows}
      getKey={({ operation }) => operation}
      selected={get("operation")}
      onSelect={({ operation }) => set({ operation })}
      empty={<EmptyState title="Every documented outcome has been seen" />}
      pane={(covered) => <OutcomesPane covered={covered} onClose={() => set({ operation: undefined })} />}
    />
  );
}

function Summary({ matrix: { percent, covered, total } }: { matrix: CoverageMatrix }) {
  return (
    <div className="flow coverage-summary">
      <p>
        <strong>{percent}%</strong> of documented outcomes seen: {covered} of {total}. Status 500 is not
        counted.{" "}
        <span className="quiet">
          Open a row for all of its outcomes. Resets of the sandbox keep these counts.
        </span>
      </p>
      <ul className="flow" aria-label="Legend">
        {LEGEND.map(([hits, word]) => (
          <li key={word}>
            <HeatCell outcomes={[{ status: 200, code: null, hits }]} /> {word}
          </li>
        ))}
        <li>
          <HeatCell outcomes={[0, 1].map((hits) => ({ status: 200, code: null, hits }))} /> 1 of 2 outcomes
          seen
        </li>
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

/** Statuses below 400 share a column per hundred, since operations rarely have two of them. */
function groupStatus(status: number): string {
  return status < 400 ? `${Math.floor(status / 100)}xx` : String(status);
}

/** A table of medium width shows the statuses that more than this share of the operations have. */
const COMMON_SHARE = 0.5;

function makeColumns(operations: readonly OperationCoverage[]): readonly Column<OperationCoverage>[] {
  const statuses = operations.flatMap(({ outcomes }) => outcomes.map(({ status }) => status));
  const groups = [...new Set(statuses.map(groupStatus))].toSorted();
  const isCommon = (group: string) =>
    operations.filter((row) => filterByGroup(row, group).length > 0).length >
    operations.length * COMMON_SHARE;
  return [
    { id: "operation", title: "Operation", width: "minmax(14rem, 1fr)" },
    {
      id: "percent",
      title: "Seen",
      renderCell: ({ percent }) => `${Math.floor(percent)}%`,
      width: "4rem",
      isNumber: true,
    },
    ...groups.map(
      (group): Column<OperationCoverage> => ({
        id: group,
        title: group,
        value: (row) => countHits(filterByGroup(row, group)),
        renderCell: (row) => <HeatCell outcomes={filterByGroup(row, group)} />,
        width: "2.9rem",
        minTableWidth: isCommon(group) ? "medium" : "wide",
      }),
    ),
  ];
}

function filterByGroup({ outcomes }: OperationCoverage, group: string): OperationCoverage["outcomes"] {
  return outcomes.filter(({ status }) => groupStatus(status) === group);
}

/** -1 if nothing is documented, to sort below outcomes that were never seen. */
function countHits(outcomes: OperationCoverage["outcomes"]): number {
  return outcomes.length === 0 ? -1 : outcomes.reduce((sum, { hits }) => sum + hits, 0);
}

const STEP_MIN_HITS = [1, 2, 10];

/** The hits of all outcomes of a status; while some outcomes were never seen, the number seen of all, such as 1/2. */
function HeatCell({ outcomes }: { outcomes: OperationCoverage["outcomes"] }) {
  if (outcomes.length === 0) return null;
  const seenCount = outcomes.filter(({ hits }) => hits > 0).length;
  const hits = countHits(outcomes);
  const step = seenCount === 0 ? 0 : STEP_MIN_HITS.filter((minHits) => hits >= minHits).length;
  const seenText = seenCount < outcomes.length ? `${seenCount}/${outcomes.length}` : shortenCount(hits);
  return (
    <span
      className={`heat heat-${step}`}
      title={outcomes.map((one) => `${nameOutcome(one)}: ${one.hits}`).join(", ")}
    >
      {seenCount === 0 ? "·" : seenText}
    </span>
  );
}

function shortenCount(hits: number): string {
  return hits < 1000 ? String(hits) : `${Math.floor(hits / 1000)}k`;
}

type Outcome = OperationCoverage["outcomes"][number];

/** The code that the client receives. */
function nameOutcome({ status, code, sent_code }: Outcome): string {
  return sent_code ?? code ?? (status < 400 ? "success" : "as documented");
}

function OutcomesPane({ covered, onClose }: { covered: OperationCoverage; onClose: () => void }) {
  const { operation, method, path, outcomes, other } = covered;
  const { data: rules } = useSandboxQuery(["faults"], (calls) => calls.rules());
  // Other rules with this error leave out some calls.
  const findArmedRule = ({ code }: Outcome) =>
    rules?.items.find(
      ({ match = {}, every, probability, effect, spent }) =>
        !spent &&
        match.operation === operation &&
        Object.keys(match).length === 1 &&
        (every ?? probability) === undefined &&
        effect?.error === code,
    );
  const arm = useSandboxChange(
    (calls, { code }: Outcome) =>
      calls.addRule({ match: { operation }, times: 1, effect: { error: code } } as RuleDefinition),
    {
      confirmation: (_rule, outcome) =>
        `The next call of ${operation} gets ${outcome.status} ${nameOutcome(outcome)}.`,
      undo: (calls, { id }) => calls.removeRule(id),
    },
  );
  return (
    <DetailPane
      title={operation}
      label={`Outcomes of ${operation}`}
      onClose={onClose}
      actions={
        <ViewLink className="button" view="api" query={{ operation }}>
          Try it out
        </ViewLink>
      }
    >
      <p>
        <code>
          <strong>{method}</strong> {path}
        </code>
      </p>
      <table className="outcomes">
        <thead>
          <tr className="quiet small">
            <th scope="col">Status</th>
            <th scope="col">Outcome</th>
            <th scope="col" className="number">
              Seen
            </th>
          </tr>
        </thead>
        <tbody>
          {outcomes.map((outcome) => {
            const { status, code, hits } = outcome;
            const name = nameOutcome(outcome);
            return (
              <tr key={`${status} ${code}`}>
                <td>{status}</td>
                <td>
                  <div className="flow">
                    <Badge outcome={hits > 0 ? "ok" : "other"}>
                      <code>{name}</code>
                    </Badge>
                    {hits > 0 ? null : code === null ? (
                      <ViewLink view="api" query={{ operation }}>
                        Try it out
                      </ViewLink>
                    ) : findArmedRule(outcome) ? (
                      <>
                        <Badge outcome="fault">Next call</Badge>
                        <ViewLink view="api" query={{ operation }} aria-label={`Try it out: ${name}`}>
                          Try it out
                        </ViewLink>
                      </>
                    ) : (
                      <ActionButton
                        label="Make it happen"
                        name={`Make it happen: ${name}`}
                        isPending={arm.isPending && arm.variables === outcome}
                        onPress={() => arm.mutate(outcome)}
                      />
                    )}
                  </div>
                </td>
                <td className="number">{hits > 0 ? formatCount(hits) : "never"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Problem error={arm.error} />
      <p className="quiet small">
        “Make it happen” arms a rule for one call: the next call of {operation}, by any client, gets this
        response.
      </p>
      {other.length > 0 && (
        <p className="quiet section">
          Other responses seen:{" "}
          {other.map(({ outcome, hits }) => `${describeOutcome(outcome)} (${hits})`).join(", ")}
        </p>
      )}
    </DetailPane>
  );
}

/** `HTTP_503` is a status without an error code. */
function describeOutcome(outcome: string): string {
  return outcome === "0" ? "no response" : outcome.replace(/^HTTP_/, "");
}
