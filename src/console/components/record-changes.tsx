import { useState } from "react";
import type { RecordChanges } from "../../../types/control-api.ts";
import { clip } from "../../engine/contract/text.ts";
import { getOwn, isEqual, mapValues } from "../../engine/maps.ts";
import { ActionButton } from "./button.tsx";
import { describeAttempt, formatCount } from "./text.tsx";

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
      <DifferenceTable
        before={change.before && mapValues(change.before, describeValue)}
        after={change.after && mapValues(change.after, describeValue)}
        head="Field"
        words={words}
      />
    </details>
  );
}

type Difference = { path: string; before: unknown; after: unknown };

/** The values in which two records differ, each with its path: `memberships.org_acme`, `content[0].text`. */
export function listDifferences(before: unknown, after: unknown, path = ""): Difference[] {
  if (isEqual(before, after)) return [];
  const [was, is] = [getParts(before), getParts(after)];
  const names = Object.keys({ ...was, ...is });
  if (was === undefined || is === undefined || names.length === 0) return [{ path, before, after }];
  const isList = Array.isArray(before ?? after);
  return names.flatMap((name) => {
    const partPath = isList ? `${path}[${name}]` : path && `${path}.${name}`;
    return listDifferences(getOwn(was, name), getOwn(is, name), partPath || name);
  });
}

/** The fields of an object, or the items of a list of objects; undefined for values that are shown as one. */
function getParts(value: unknown): Record<string, unknown> | undefined {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) return undefined;
  return Array.isArray(value) && value.every((item) => typeof item !== "object") ? undefined : { ...value };
}

/** For each record, until a user asks for all. */
const MAX_LINES = 40;
const MAX_CHARACTERS = 240;

/** A line for each value in which two records differ, or for all values if there is only one record. */
export function DifferenceTable(props: {
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  head: string;
  words: Pick<ChangeWords, "before" | "after">;
}) {
  const { before, after, head, words } = props;
  const [isWhole, setIsWhole] = useState(false);
  const lines = listDifferences(before ?? undefined, after ?? undefined).map((difference) => {
    const [was, is] = toTexts(difference);
    return { path: difference.path, was, is };
  });
  const hasLongText = lines.some(({ was, is }) => Math.max(was.length, is.length) > MAX_CHARACTERS);
  const shorten = (text: string) => (isWhole ? text : clip(text, MAX_CHARACTERS));
  return (
    <>
      <table className={before && after ? "fields two-sides" : "fields"}>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            {before && <th scope="col">{words.before}</th>}
            {after && <th scope="col">{words.after}</th>}
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, isWhole ? undefined : MAX_LINES).map(({ path, was, is }) => (
            <tr key={path}>
              <th scope="row">{path}</th>
              {before && <td className="was">{shorten(was)}</td>}
              {after && <td className="is">{shorten(is)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {(hasLongText || lines.length > MAX_LINES) && (
        <ActionButton label={isWhole ? "Show less" : "Show all"} onPress={() => setIsWhole(!isWhole)} />
      )}
    </>
  );
}

/** The log of a delivery's attempts as a line for each; other values as they are. */
function describeValue(value: unknown, field: string): unknown {
  return field === "attempt_log" && Array.isArray(value) ? value.map(describeAttempt).join("\n") : value;
}

/** Values as words, or as JSON where both would look the same: `"5"` and 5. */
function toTexts({ before, after }: Difference): [was: string, is: string] {
  const [was, is] = [toText(before), toText(after)];
  return was === is ? [JSON.stringify(before) ?? was, JSON.stringify(after) ?? is] : [was, is];
}

function toText(value: unknown): string {
  if (value === undefined) return "(none)";
  if (typeof value === "string" && value !== "") return value;
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0)
    return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, part]) => (Array.isArray(value) ? toText(part) : `${name}: ${toText(part)}`))
    .join(", ");
}
