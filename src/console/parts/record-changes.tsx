import type { RecordChanges } from "../api/types.ts";
import { PathText } from "./path-text.tsx";

type Change = RecordChanges[string][number];
type Kind = "added" | "removed" | "changed";

/** As many of a collection as anybody reads; a reset of a large world changes thousands. */
const MAX_RECORDS = 100;

const SIGNS: Readonly<Record<Kind, string>> = { added: "+", removed: "−", changed: "~" };

/** What the two sides are called, and what each kind of change is. */
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

/** Record by record and field by field, in what a world is other than before, or than another. */
export function RecordChangeLists({
  changes,
  words = USUAL,
  heading: Heading = "h4",
}: {
  changes: RecordChanges;
  words?: ChangeWords;
  /** One level below what stands over it. */
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

export function kindOfChange({ before, after }: Change): Kind {
  return before === null ? "added" : after === null ? "removed" : "changed";
}

function RecordChange({ change, words }: { change: Change; words: ChangeWords }) {
  const { id, before, after } = change;
  const kind = kindOfChange(change);
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = names.filter((name) => textOf(before?.[name]) !== textOf(after?.[name]));
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
                  <Value text={textOf(before[name])} />
                </td>
              )}
              {after && (
                <td className="is" data-side={words.after}>
                  <Value text={textOf(after[name])} />
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

/** Where it has no room on one line, an instant breaks before its time of day, and a path after a slash. */
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

function textOf(value: unknown): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
