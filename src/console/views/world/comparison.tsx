import type { Fields } from "../../api/form-fields.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import type { Difference } from "../../api/types.ts";
import { Nothing, Problem } from "../../parts/notice.tsx";

/** As many records of a collection are drawn; the rest is counted. */
const MAX_DRAWN = 100;

interface Line {
  id: string;
  word: "added" | "removed" | "changed";
  fields: readonly (readonly [string, unknown, unknown])[];
}

const SIGNS = { added: "+", removed: "−", changed: "~" };

/** What differs between two worlds, record by record. */
export function Comparison({ from, to }: { from: string; to: string }) {
  const { data, error, isPending } = useSandboxQuery(["compare", from, to], (calls) =>
    calls.compare(from, to),
  );
  if (error) return <Problem error={error} />;
  if (isPending) return <p className="quiet">Comparing …</p>;
  const collections = linesOf(data);
  if (collections.length === 0) return <Nothing title="Both worlds hold the same records." />;
  return collections.map(([name, lines]) => (
    <section key={name} className="difference" aria-label={name}>
      <h2>
        {name} <span className="quiet">{lines.length.toLocaleString("en-GB")}</span>
      </h2>
      <ul>
        {lines.slice(0, MAX_DRAWN).map((line) => (
          <li key={`${line.word} ${line.id}`} className="difference-record">
            <span className={`sign sign-${line.word}`} aria-hidden="true">
              {SIGNS[line.word]}
            </span>
            <span>
              <code>{line.id}</code> <span className="quiet">{line.word}</span>
              {line.fields.length > 0 && (
                <dl className="field-changes">
                  {line.fields.map(([field, before, after]) => (
                    <div key={field}>
                      <dt>{field}</dt>
                      <dd>
                        <del>{JSON.stringify(before)}</del> <span aria-hidden="true">→</span>{" "}
                        <ins>{JSON.stringify(after)}</ins>
                      </dd>
                    </div>
                  ))}
                </dl>
              )}
            </span>
          </li>
        ))}
      </ul>
      {lines.length > MAX_DRAWN && (
        <p className="quiet">and {(lines.length - MAX_DRAWN).toLocaleString("en-GB")} more</p>
      )}
    </section>
  ));
}

function linesOf({ added, removed, changed }: Difference): [string, Line[]][] {
  const names = [...new Set([added, removed, changed].flatMap((part) => Object.keys(part)))];
  return names.map((name) => [
    name,
    [
      ...(changed[name] ?? []).map(({ id, fields }) => ({
        id,
        word: "changed" as const,
        fields: Object.entries(fields).map(([field, { before, after }]) => [field, before, after] as const),
      })),
      ...(added[name] ?? []).map((record) => ({ id: idOf(record), word: "added" as const, fields: [] })),
      ...(removed[name] ?? []).map((record) => ({ id: idOf(record), word: "removed" as const, fields: [] })),
    ],
  ]);
}

/** The record's own id comes first among its fields, as everywhere in the state calls. */
function idOf(record: Fields): string {
  const own = Object.entries(record).find(([name]) => name === "id" || name.endsWith("_id"));
  return String(own?.[1] ?? "");
}
