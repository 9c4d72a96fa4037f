import type { Fields } from "../../api/form-fields.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import type { Difference, RecordChanges } from "../../api/types.ts";
import { Nothing, ReadProblem } from "../../parts/notice.tsx";
import { type ChangeWords, kindOfChange, RecordChangeLists } from "../../parts/record-changes.tsx";

/** Nothing tells of what happens in a sandbox that the page does not follow. */
const ELSEWHERE_MS = 3000;

export interface World {
  /** The name of a snapshot, or `now`. */
  at: string;
  sandbox: string;
  /** As people call it. */
  title: string;
}

/** In what two worlds differ, record by record. */
export function Comparison({ from, to }: { from: World; to: World }) {
  const { data, error, isPending } = useSandboxQuery(
    ["compare", from.at, to.sandbox, to.at],
    (calls) => calls.compare(from.at, to.at, to.sandbox),
    to.sandbox === from.sandbox ? {} : { everyMs: ELSEWHERE_MS },
  );
  // What was seen last stays while the server is away, as everywhere; a world that is gone has nothing to show.
  if (error && (data === undefined || !error.unreachable)) return <ReadProblem error={error} />;
  if (isPending) return <p className="quiet">Comparing …</p>;
  const changes = changesIn(data);
  const all = Object.values(changes).flat();
  if (all.length === 0) return <Nothing title="Both worlds hold the same records." />;
  const words: ChangeWords = {
    before: from.title,
    after: to.title,
    added: `only in ${to.title}`,
    removed: `only in ${from.title}`,
    changed: "differs",
  };
  const counted = (["changed", "added", "removed"] as const).flatMap((kind) => {
    const count = all.filter((change) => kindOfChange(change) === kind).length;
    if (count === 0) return [];
    return `${count.toLocaleString("en-GB")} ${kind === "changed" && count > 1 ? "differ" : words[kind]}`;
  });
  return (
    <>
      <p role="status">{counted.join(", ")}</p>
      <div className="comparison">
        <RecordChangeLists changes={changes} words={words} heading="h2" />
      </div>
    </>
  );
}

/** Of a record that differs, the fields that do. */
function changesIn({ added, removed, changed }: Difference): RecordChanges {
  const names = [...new Set([changed, added, removed].flatMap((part) => Object.keys(part)))];
  return Object.fromEntries(
    names.map((name) => [
      name,
      [
        ...(changed[name] ?? []).map(({ id, fields }) => ({
          id,
          before: mapped(fields, ({ before }) => before),
          after: mapped(fields, ({ after }) => after),
        })),
        ...(added[name] ?? []).map((record) => ({ id: idOf(record), before: null, after: record })),
        ...(removed[name] ?? []).map((record) => ({ id: idOf(record), before: record, after: null })),
      ],
    ]),
  );
}

function mapped<T>(fields: Readonly<Record<string, T>>, side: (field: T) => unknown): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, side(field)]));
}

/** The record's own id comes first among its fields, as everywhere in the state calls. */
function idOf(record: Fields): string {
  const own = Object.entries(record).find(([name]) => name === "id" || name.endsWith("_id"));
  return String(own?.[1] ?? "");
}
