import { useSandboxQuery } from "../../api/queries.ts";
import type { HistoryEntry, RecordChanges } from "../../api/types.ts";
import { Problem } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";

type Change = RecordChanges[string][number];

/** As many records as anybody reads; a reset of a large world changes thousands. */
const MAX_RECORDS = 40;

/** Record by record, what an entry changed: fields before and after. */
export function Changes({ entry }: { entry: HistoryEntry }) {
  const { data, error } = useSandboxQuery(["changes", entry.id], (calls) => calls.changes(entry.id), {
    enabled: entry.kept,
    live: false,
  });
  if (Object.keys(entry.changes).length === 0) return null;
  if (!entry.kept) {
    return (
      <Section title="Changes">
        <p className="quiet">
          The worlds before and after it were let go; only the numbers are left. Rewinding to it is no longer
          possible.
        </p>
      </Section>
    );
  }
  return (
    <Section title="Changes">
      <Problem error={error} />
      {data &&
        Object.entries(data).map(([collection, records]) => (
          <Collection key={collection} name={collection} records={records} />
        ))}
    </Section>
  );
}

function Collection({ name, records }: { name: string; records: readonly Change[] }) {
  return (
    <div className="changes">
      <h4>{name.replaceAll("_", " ")}</h4>
      {records.slice(0, MAX_RECORDS).map((change) => (
        <RecordChange key={change.id} change={change} />
      ))}
      {records.length > MAX_RECORDS && <p className="quiet">… and {records.length - MAX_RECORDS} more</p>}
    </div>
  );
}

function RecordChange({ change: { id, before, after } }: { change: Change }) {
  const word = before === null ? "added" : after === null ? "removed" : "changed";
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = names.filter((name) => textOf(before?.[name]) !== textOf(after?.[name]));
  return (
    <details className={`change change-${word}`} open={word === "changed"}>
      <summary>
        <span className="change-sign" aria-hidden="true">
          {word === "added" ? "+" : word === "removed" ? "−" : "~"}
        </span>
        <code>{id}</code> <span className="quiet">{word}</span>
      </summary>
      <table className="fields">
        <thead>
          <tr>
            <th scope="col">Field</th>
            {before && <th scope="col">Before</th>}
            {after && <th scope="col">After</th>}
          </tr>
        </thead>
        <tbody>
          {fields.map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {before && <td className="was">{textOf(before[name])}</td>}
              {after && <td className="is">{textOf(after[name])}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function textOf(value: unknown): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
