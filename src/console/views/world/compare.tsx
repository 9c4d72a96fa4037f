import type { Difference, RecordChanges } from "../../../../types/control-api.ts";
import { mapValues } from "../../../engine/maps.ts";
import { useParameters, useSandboxName } from "../../address.ts";
import type { Fields } from "../../api/form-fields.ts";
import { useSandboxes, useSandboxQuery, useSnapshots } from "../../api/queries.ts";
import { ChoiceField } from "../../components/form.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { type ChangeWords, getChangeKind, RecordChangeLists } from "../../components/record-changes.tsx";
import { EmptyState, LoadError, NotFound } from "../../components/status.tsx";
import { formatCount, pluralize } from "../../components/text.tsx";

/** The current state; no snapshot can have this name. */
export const NOW = "now";

/** Compares a state of this sandbox with a snapshot or with another sandbox, for example a fork. */
export function Compare() {
  const { get, set } = useParameters();
  const currentSandbox = useSandboxName();
  const { data: sandboxes, error } = useSandboxes();
  const ownSnapshots = useSnapshots(currentSandbox);
  const others = sandboxes?.items.filter(({ name }) => name !== currentSandbox);
  const newest = ownSnapshots.data?.items.at(-1)?.name;
  // By default this sandbox; if it has no snapshots, the newest other one.
  const comparedSandbox = get("of") ?? (get("to") || newest ? currentSandbox : others?.at(-1)?.name);
  // By default the newest snapshot and now; of two sandboxes, both now.
  const defaultState = comparedSandbox === currentSandbox ? newest : NOW;
  const from = get("from") ?? (defaultState === get("to") ? NOW : defaultState) ?? NOW;
  const to = get("to") ?? (from === NOW ? defaultState : NOW);
  const comparedSnapshots = useSnapshots(comparedSandbox);
  const missing = findMissing(ownSnapshots.data, from) ?? findMissing(comparedSnapshots.data, to);
  const isLoaded = sandboxes !== undefined && ownSnapshots.data !== undefined;
  if (isLoaded && (comparedSandbox === undefined || to === undefined)) return <NothingToCompare />;
  const isUnknown =
    comparedSandbox !== undefined && sandboxes?.items.every(({ name }) => name !== comparedSandbox);
  return (
    <div className="page stack grow">
      <div className="tools">
        <ChoiceField
          label={`State of sandbox ${currentSandbox}`}
          name="from"
          value={from}
          onChange={(at) => set({ from: at })}
          choices={listStateChoices(ownSnapshots.data?.items)}
        />
        <ChoiceField
          label="Compare with"
          name="of"
          value={comparedSandbox ?? ""}
          onChange={(name) => set({ of: name, to: NOW })}
          choices={sandboxes?.items.map(({ name }) => ({
            id: name,
            title: name,
            detail: name === currentSandbox ? "current" : undefined,
          }))}
        />
        <ChoiceField
          label="Its state"
          name="to"
          value={to ?? ""}
          onChange={(at) => set({ of: comparedSandbox, to: at })}
          choices={isUnknown ? [] : listStateChoices(comparedSnapshots.data?.items)}
        />
      </div>
      <LoadError error={error ?? ownSnapshots.error} />
      {isUnknown ? (
        <NotFound kind="sandbox" id={comparedSandbox} />
      ) : missing !== undefined ? (
        <NotFound kind="snapshot" id={missing} />
      ) : (
        comparedSandbox !== undefined &&
        to !== undefined && (
          <Comparison
            from={toComparedState(currentSandbox, from, comparedSandbox)}
            to={toComparedState(comparedSandbox, to, currentSandbox)}
          />
        )
      )}
    </div>
  );
}

function NothingToCompare() {
  return (
    <EmptyState title="Nothing to compare with">
      <ViewLink view="world" query={{ show: "snapshots" }}>
        Take a snapshot
      </ViewLink>
      , or fork from an entry of the <ViewLink view="timeline">timeline</ViewLink>.
    </EmptyState>
  );
}

/** The state's name, if no snapshot has it. */
function findMissing(snapshots: ReturnType<typeof useSnapshots>["data"], at: string | undefined) {
  const exists = at === NOW || (snapshots?.items.some(({ name }) => name === at) ?? true);
  return exists ? undefined : at;
}

function listStateChoices(snapshots: readonly { name: string }[] | undefined) {
  if (snapshots === undefined) return undefined;
  return [
    { id: NOW, title: "now" },
    ...snapshots.map(({ name }) => ({ id: name, title: name, detail: "snapshot" })),
  ];
}

/** The title is the snapshot if both states are of one sandbox, else the sandbox. */
function toComparedState(sandbox: string, at: string, other: string): ComparedState {
  const titleWithSandbox = at === NOW ? sandbox : `${sandbox} at ${at}`;
  return { at, sandbox, title: sandbox === other ? at : titleWithSandbox };
}

/** The live stream covers only the sandbox in the address. */
const OTHER_SANDBOX_POLL_MS = 3000;

interface ComparedState {
  /** Name of a snapshot, or `now`. */
  at: string;
  sandbox: string;
  title: string;
}

function describeState({ title, at }: ComparedState): string {
  if (title === NOW) return "in the current state";
  return title === at ? `in “${title}”` : `in ${title}`;
}

function Comparison({ from, to }: { from: ComparedState; to: ComparedState }) {
  const {
    data: changes,
    error,
    isPending,
  } = useSandboxQuery(
    ["compare", from.at, to.sandbox, to.at],
    async (calls) => {
      const [difference, { items }] = await Promise.all([
        calls.compare(from.at, to.at, to.sandbox),
        calls.collections(),
      ]);
      return toChanges(difference, new Map(items.map(({ name, id_field }) => [name, id_field])));
    },
    to.sandbox === from.sandbox ? {} : { pollMs: OTHER_SANDBOX_POLL_MS },
  );
  // Keep the last result while the server is unreachable, but not if the sandbox is gone.
  if (error && (changes === undefined || !error.isUnreachable)) return <LoadError error={error} />;
  if (isPending) return <p className="quiet">Comparing …</p>;
  const all = Object.values(changes).flat();
  if (all.length === 0) return <EmptyState title="No differences" />;
  const words: ChangeWords = {
    before: from.title,
    after: to.title,
    added: `only ${describeState(to)}`,
    removed: `only ${describeState(from)}`,
    changed: "differs",
  };
  const counts = (["changed", "added", "removed"] as const).flatMap((kind) => {
    const count = all.filter((change) => getChangeKind(change) === kind).length;
    if (count === 0) return [];
    return `${formatCount(count)} ${kind === "changed" && count > 1 ? "differ" : words[kind]}`;
  });
  return (
    <>
      <p role="status">
        {pluralize(all.length, "record")}: {counts.join(", ")}
      </p>
      <RecordChangeLists changes={changes} words={words} heading="h2" className="panel compared" />
    </>
  );
}

function toChanges(
  { added, removed, changed }: Difference,
  idFields: ReadonlyMap<string, string>,
): RecordChanges {
  const names = [...new Set([changed, added, removed].flatMap((part) => Object.keys(part)))];
  return Object.fromEntries(
    names.map((name) => {
      const findId = (record: Fields) => String(record[idFields.get(name) ?? "id"]);
      return [
        name,
        [
          ...(changed[name] ?? []).map(({ id, fields }) => ({
            id,
            before: mapValues(fields, ({ before }) => before),
            after: mapValues(fields, ({ after }) => after),
          })),
          ...(added[name] ?? []).map((record) => ({ id: findId(record), before: null, after: record })),
          ...(removed[name] ?? []).map((record) => ({ id: findId(record), before: record, after: null })),
        ],
      ];
    }),
  );
}
