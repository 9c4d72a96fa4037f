import type { RecordChanges } from "../../../types/control-api.ts";
import { PathText } from "./text.tsx";

type Change = RecordChanges[string][number];
type Kind = "added" | "removed" | "changed";

/** Records shown per collection; a reset of a large world changes thousands. */
const MAX_RECORDS = 100;

const SIGNS: Readonly<Record<Kind, string>> = { added: "+", removed: "−", changed: "~" };

/** Names of the two sides and of each kind of change. */
export interface ChangeWords extends Readonly<Record<Kind, string>> {
  before: string;
  after: string;
}
const USUAL: ChangeWords = {
  before: "Before",
  after: "After",
  added: "added",
  removed: "removed",
  changed: "changed",
};

/** Changed records of each collection, with their changed fields. */
export function RecordChangeLists({
  changes,
  words = USUAL,
  heading: Heading = "h4",
}: {
  changes: RecordChanges;
  words?: ChangeWords;
  /** One level below the heading above it. */
  heading?: "h2" | "h4";
}) {
  return Object.entries(changes).map(([name, records]) => (
    <section key={name} className="changes" aria-label={name}>
      <Heading>
        {name.replaceAll("_", " ")} <span className="quiet">{records.length.toLocaleString("en-GB")}</span>
      </Heading>
      {records.slice(0, MAX_RECORDS).map((change) => (
        <RecordChange key={change.id} change={change} words={words} />
      ))}
      {records.length > MAX_RECORDS && (
        <p className="quiet">… and {(records.length - MAX_RECORDS).toLocaleString("en-GB")} more</p>
      )}
    </section>
  ));
}

export function changeKind({ before, after }: Change): Kind {
  return before === null ? "added" : after === null ? "removed" : "changed";
}

function RecordChange({ change, words }: { change: Change; words: ChangeWords }) {
  const { id, before, after } = change;
  const kind = changeKind(change);
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = names.filter((name) => toText(before?.[name]) !== toText(after?.[name]));
  return (
    <details className={`change change-${kind}`} open={kind === "changed"}>
      <summary>
        <span className="change-sign" aria-hidden="true">
          {SIGNS[kind]}
        </span>
        <code>{id}</code> <span className="quiet">{words[kind]}</span>
      </summary>
      <table className={before && after ? "fields two-sides" : "fields"}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            {before && <th scope="col">{words.before}</th>}
            {after && <th scope="col">{words.after}</th>}
          </tr>
        </thead>
        <tbody>
          {fields.map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {before && (
                <td className="was" data-side={words.before}>
                  <Value text={toText(before[name])} />
                </td>
              )}
              {after && (
                <td className="is" data-side={words.after}>
                  <Value text={toText(after[name])} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

const INSTANT = /^(\d{4}-\d\d-\d\dT)(\d\d:\d\d:\d\d(?:\.\d+)?Z)$/;

/** Wraps timestamps before the time of day, and paths after a slash. */
function Value({ text }: { text: string }) {
  const [, day, time] = INSTANT.exec(text) ?? [];
  if (day === undefined) return <PathText>{text}</PathText>;
  return (
    <>
      {day}
      <wbr />
      {time}
    </>
  );
}

function toText(value: unknown): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
