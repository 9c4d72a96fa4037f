import type { Row } from "./store.ts";

/**
 * A sandbox's rows as one object that a person can read: `records.departments.dept_eng`,
 * `snapshots.before.records...`. Ids may hold slashes, sections are split at theirs.
 */
export type Nested = { [section: string]: Nested | { [id: string]: unknown } };

export type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Sections whose rows stand directly below them; the others hold sections. */
const isLeaf = (path: readonly string[]): boolean => {
  const place = path[0] === "snapshots" ? path.slice(2) : path;
  return place[0] === "records" ? place.length === 2 : place.length === 1;
};

/**
 * The text of the object in pieces, one line a row, so that a change of one record is a change of one line.
 */
export function* nestedText(sections: Sections, indent: string): IterableIterator<string> {
  let open: readonly string[] = [];
  let first = true;
  for (const [section, rows] of [...sections].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (rows.size === 0) continue;
    const path = section.split("/");
    const shared = sharedLength(open, path);
    for (let depth = open.length; depth > shared; depth--) {
      yield `\n${indent}${"  ".repeat(depth - 1)}}`;
      first = false;
    }
    for (let depth = shared; depth < path.length; depth++) {
      yield `${first ? "" : ","}\n${indent}${"  ".repeat(depth)}${JSON.stringify(path[depth])}: {`;
      first = true;
    }
    const margin = `\n${indent}${"  ".repeat(path.length)}`;
    for (const [id, text] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) {
      yield `${first ? "" : ","}${margin}${JSON.stringify(id)}: ${text}`;
      first = false;
    }
    open = path;
  }
  for (let depth = open.length; depth > 0; depth--) yield `\n${indent}${"  ".repeat(depth - 1)}}`;
}

/** The inverse. What is no object where one belongs gives no rows: whoever reads them judges what is missing. */
export function* nestedRows(nested: unknown, path: readonly string[] = []): IterableIterator<Row> {
  if (typeof nested !== "object" || nested === null || Array.isArray(nested)) return;
  for (const [key, value] of Object.entries(nested)) {
    if (isLeaf(path)) yield { section: path.join("/"), id: key, text: JSON.stringify(value) };
    else yield* nestedRows(value, [...path, key]);
  }
}

function sharedLength(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
