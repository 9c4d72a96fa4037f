import { useQuery } from "@tanstack/react-query";
import type { Difference, RecordChanges } from "../../../../types/control-api.ts";
import { useParameters, useSandboxName } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import type { Fields } from "../../api/form-fields.ts";
import { sandboxKey, useSandboxes, useSandboxQuery } from "../../api/queries.ts";
import { ChoiceField } from "../../components/form.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { EmptyState, LoadError, NotFound } from "../../components/notice.tsx";
import { type ChangeWords, changeKind, RecordChangeLists } from "../../components/record-changes.tsx";
import { formatCount, pluralize } from "../../components/text.tsx";

/** The current state; no snapshot can have this name. */
export const NOW = "now";

/** Compares a state of this sandbox with a snapshot or with another sandbox, for example a fork. */
export function Compare() {
  const { get, set } = useParameters();
  const here = useSandboxName();
  const { data: sandboxes, error } = useSandboxes();
  const own = useSnapshots(here);
  const others = sandboxes?.items.filter(({ name }) => name !== here);
  const newest = own.data?.items.at(-1)?.name;
  // Defaults: from the newest snapshot to the present, else with the newest other sandbox.
  const other = get("of") ?? (get("to") || newest ? here : others?.at(-1)?.name);
  const before = other === here && newest !== get("to") ? newest : NOW;
  const from = get("from") ?? before ?? NOW;
  const to = get("to") ?? (from === NOW ? before : NOW);
  const theirs = useSnapshots(other);
  const missing = findMissing(own.data, from) ?? findMissing(theirs.data, to);
  const isKnown = sandboxes !== undefined && own.data !== undefined;
  if (isKnown && (other === undefined || to === undefined)) return <NothingToCompare />;
  return (
    <div className="page stack grow">
      <div className="tools">
        <ChoiceField
          label={`State of ${here}`}
          name="from"
          value={from}
          onChange={(at) => set({ from: at })}
          choices={listStateChoices(own.data?.items)}
        />
        <ChoiceField
          label="Compare with"
          name="of"
          value={other ?? ""}
          onChange={(name) => set({ of: name, to: NOW })}
          choices={sandboxes?.items.map(({ name }) => ({
            id: name,
            title: name,
            detail: name === here ? "current" : undefined,
          }))}
        />
        <ChoiceField
          label="State"
          name="to"
          value={to ?? ""}
          onChange={(at) => set({ of: other, to: at })}
          choices={listStateChoices(theirs.data?.items)}
        />
      </div>
      <LoadError error={error ?? own.error} />
      {sandboxes && other !== undefined && !sandboxes.items.some(({ name }) => name === other) ? (
        <NotFound kind="sandbox" id={other} />
      ) : missing !== undefined ? (
        <NotFound kind="snapshot" id={missing} />
      ) : (
        other !== undefined &&
        to !== undefined && (
          <Comparison from={toComparedState(here, from, other)} to={toComparedState(other, to, here)} />
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

function useSnapshots(sandbox: string | undefined) {
  return useQuery({
    queryKey: [...sandboxKey(sandbox ?? ""), "snapshots"],
    queryFn: () => sandboxCalls(sandbox!).snapshots(),
    enabled: sandbox !== undefined,
  });
}

/** The state's name, if no snapshot has it. */
function findMissing(snapshots: ReturnType<typeof useSnapshots>["data"], at: string | undefined) {
  const isThere = at === NOW || (snapshots?.items.some(({ name }) => name === at) ?? true);
  return isThere ? undefined : at;
}

function listStateChoices(snapshots: readonly { name: string }[] | undefined) {
  if (snapshots === undefined) return undefined;
  return [
    { id: NOW, title: "now" },
    ...snapshots.map(({ name }) => ({ id: name, title: name, detail: "snapshot" })),
  ];
}

/** States of one sandbox are named by snapshot, states of two sandboxes by sandbox. */
function toComparedState(sandbox: string, at: string, other: string): ComparedState {
  const title = sandbox === other ? at : at === NOW ? sandbox : `${sandbox} at ${at}`;
  return { at, sandbox, title };
}

/** The live stream covers only the sandbox in the address. */
const ELSEWHERE_MS = 3000;

interface ComparedState {
  /** Name of a snapshot, or `now`. */
  at: string;
  sandbox: string;
  title: string;
}

function describeState({ title }: ComparedState): string {
  return title === NOW ? "now" : `in ${title}`;
}

function Comparison({ from, to }: { from: ComparedState; to: ComparedState }) {
  const { data, error, isPending } = useSandboxQuery(
    ["compare", from.at, to.sandbox, to.at],
    (calls) => calls.compare(from.at, to.at, to.sandbox),
    to.sandbox === from.sandbox ? {} : { everyMs: ELSEWHERE_MS },
  );
  // Keep the last result while the server is unreachable, but not if the sandbox is gone.
  if (error && (data === undefined || !error.unreachable)) return <LoadError error={error} />;
  if (isPending) return <p className="quiet">Comparing …</p>;
  const changes = toChanges(data);
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
    const count = all.filter((change) => changeKind(change) === kind).length;
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

function toChanges({ added, removed, changed }: Difference): RecordChanges {
  const names = [...new Set([changed, added, removed].flatMap((part) => Object.keys(part)))];
  return Object.fromEntries(
    names.map((name) => [
      name,
      [
        ...(changed[name] ?? []).map(({ id, fields }) => ({
          id,
          before: mapValues(fields, ({ before }) => before),
          after: mapValues(fields, ({ after }) => after),
        })),
        ...(added[name] ?? []).map((record) => ({ id: recordId(record), before: null, after: record })),
        ...(removed[name] ?? []).map((record) => ({ id: recordId(record), before: record, after: null })),
      ],
    ]),
  );
}

function mapValues<T>(fields: Readonly<Record<string, T>>, side: (field: T) => unknown): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, side(field)]));
}

/** The record's own id is its first id field. */
function recordId(record: Fields): string {
  const own = Object.entries(record).find(([name]) => name === "id" || name.endsWith("_id"));
  return String(own?.[1] ?? "");
}
