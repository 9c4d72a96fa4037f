// Which sections and gaps do the titles of tests name? `node test/contract/clauses.mjs` prints those that no test
// proves and exits 1 when there is one; test/contract/clauses.test.ts asks the same in the test run.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../..", import.meta.url);
const anchorsOf = (page) => {
  const text = readFileSync(new URL(`docs/reference/${page}.md`, root), "utf8");
  return [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id);
};

/** Every clause of the published reference that says how the service behaves: the others only lead to their parts. */
export const SECTIONS = anchorsOf("service-api").filter(
  (id) => id.includes(".") || ["5", "8", "9"].includes(id),
);
export const GAPS = anchorsOf("assumptions");

/** A text that is the first argument of a call and followed by what a test or a group takes. */
const TITLE = /\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1\s*,\s*(?:async\b|function\b|\(|\w+\s*=>|\{)/g;
/** The citations in brackets at the end of a title, and one of them. `quality 2.3` and `interfaces 5` are of other documents. */
const BRACKETS = /\[([^\]]+)\]$/;
const CLAUSE = /^(?:section )?(G\d\d|\d\.\d{1,2}|[5-9])$/;
const LEADING = /^(?:(?:interfaces|quality|section|decision) \d|G\d\d\b|\d\.\d{1,2}[ ,:])/;

/** The clauses that a title names, in brackets at its end. */
export function clausesOf(title) {
  const cited = BRACKETS.exec(title)?.[1].split(", ") ?? [];
  return cited.map((text) => CLAUSE.exec(text)?.[1]).filter((clause) => clause !== undefined);
}

function* titles() {
  for (const folder of ["src", "test"]) {
    const files = readdirSync(new URL(folder, root), { recursive: true });
    for (const file of files.filter((name) => name.endsWith(".test.ts"))) {
      const text = readFileSync(new URL(`${folder}/${file}`, root), "utf8");
      for (const [, , title] of text.matchAll(TITLE)) yield [`${folder}/${file}`, title];
    }
  }
}

/** Titles that begin with a citation, where a title says what broke. */
export function leadingCitations() {
  return [...titles()].filter(([, title]) => LEADING.test(title)).map((place) => place.join(": "));
}

/** Test files by clause. */
export function provedClauses() {
  const proved = new Map();
  for (const [file, title] of titles()) {
    for (const clause of clausesOf(title)) {
      const files = proved.get(clause) ?? new Set();
      proved.set(clause, files.add(file));
    }
  }
  return proved;
}

export function unproved() {
  const proved = provedClauses();
  return [...SECTIONS, ...GAPS].filter((clause) => !proved.has(clause));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = unproved();
  const total = SECTIONS.length + GAPS.length;
  process.stdout.write(
    `${total - missing.length} of ${total} sections and gaps are in the title of a test\n`,
  );
  for (const clause of missing) process.stdout.write(`no test names ${clause}\n`);
  process.exit(missing.length === 0 ? 0 : 1);
}
