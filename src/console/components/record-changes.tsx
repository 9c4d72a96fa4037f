import type { RecordChanges } from "../../../types/control-api.ts";
import { getOwn, isEqual } from "../../engine/maps.ts";
import { describeAttempt, formatCount, PathText } from "./text.tsx";

type ChangedRecord = RecordChanges[string][number];
type Kind = "added" | "removed" | "changed";

/** Records shown per collection; a reset of a large world changes thousands. */
const MAX_RECORDS = 100;

const SIGNS: Readonly<Record<Kind, string>> = { added: "+", removed: "−", changed: "~" };

const DEFAULT_WORDS = {
  before: "Before",
  after: "After",
  added: "added",
  removed: "removed",
  changed: "changed",
};

export type ChangeWords = typeof DEFAULT_WORDS;

export function RecordChangeLists(props: {
  changes: RecordChanges;
  words?: ChangeWords;
  heading?: "h2" | "h4";
  className?: string;
}) {
  const { changes, words = DEFAULT_WORDS, heading: Heading = "h4", className = "" } = props;
  return Object.entries(changes).map(([name, records]) => (
    <section key={name} className={`changes ${className}`} aria-label={name}>
      <Heading>
        {name.replaceAll("_", " ")} <span className="quiet">{formatCount(records.length)}</span>
      </Heading>
      {records.slice(0, MAX_RECORDS).map((change) => (
        <RecordChange key={change.id} change={change} words={words} />
      ))}
      {records.length > MAX_RECORDS && (
        <p className="quiet">… and {formatCount(records.length - MAX_RECORDS)} more</p>
      )}
    </section>
  ));
}

export function getChangeKind({ before, after }: ChangedRecord): Kind {
  if (before === null) return "added";
  return after === null ? "removed" : "changed";
}

function RecordChange({ change, words }: { change: ChangedRecord; words: ChangeWords }) {
  const kind = getChangeKind(change);
  return (
    <details className={`change change-${kind}`} open={kind === "changed"}>
      <summary>
        <span className="change-sign" aria-hidden="true">
          {SIGNS[kind]}
        </span>
        <code>{change.id}</code> <span className="quiet">{words[kind]}</span>
      </summary>
      <FieldTable {...change} head="Field" words={words} />
    </details>
  );
}

type Sides = Pick<ChangedRecord, "before" | "after">;

export function listDifferingFields({ before, after }: Sides): string[] {
  const names = new Set(Object.keys({ ...before, ...after }));
  return [...names].filter((name) => !isEqual(getOwn(before ?? {}, name), getOwn(after ?? {}, name)));
}

/** The fields in which two objects differ, or all fields if there is only one. */
export function FieldTable(props: Sides & { head: string; words: Pick<ChangeWords, "before" | "after"> }) {
  const { before, after, head, words } = props;
  return (
    <table className={before && after ? "fields two-sides" : "fields"}>
      <thead>
        <tr>
          <th scope="col">{head}</th>
          {before && <th scope="col">{words.before}</th>}
          {after && <th scope="col">{words.after}</th>}
        </tr>
      </thead>
      <tbody>
        {listDifferingFields(props).map((name) => {
          const [was, is] = [before, after].map((side) => describeValue(name, side?.[name]));
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              {before && <Side className="was" name={words.before} value={was} other={is} />}
              {after && <Side className="is" name={words.after} value={is} other={was} />}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const INSTANT = /^(\d{4}-\d\d-\d\dT)(\d\d:\d\d:\d\d(?:\.\d+)?Z)$/;

/**
 * A field's value, with quotes only where the other side would look the same: `"5"` and 5. Wraps timestamps before the
 * time of day, and paths after a slash.
 */
function Side(props: { className: string; name: string; value: unknown; other: unknown }) {
  const { className, name, value, other } = props;
  const plain = toText(value);
  const text = plain === toText(other) ? (JSON.stringify(value) ?? "") : plain;
  const [, day, time] = INSTANT.exec(text) ?? [];
  return (
    <td className={className} data-side={name}>
      {day ? (
        <>
          {day}
          <wbr />
          {time}
        </>
      ) : (
        <PathText>{text}</PathText>
      )}
    </td>
  );
}

/** The log of a delivery's attempts as a line for each; other values as they are. */
function describeValue(field: string, value: unknown): unknown {
  return field === "attempt_log" && Array.isArray(value) ? value.map(describeAttempt).join("\n") : value;
}

function toText(value: unknown): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
