// Checks which sections and assumptions the titles of tests name. `node test/contract/clauses.mjs` prints those
// without a test and exits with 1 if there are any; test/contract/clauses.test.ts checks the same.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../..", import.meta.url);
const listAnchors = (page) => {
  const text = readFileSync(new URL(`docs/reference/${page}.md`, root), "utf8");
  return [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id);
};

/** All sections of the published reference that describe behaviour; the others only contain subsections. */
export const SECTIONS = listAnchors("service-api").filter(
  (id) => id.includes(".") || ["5", "8", "9"].includes(id),
);
export const GAPS = listAnchors("assumptions");

/** Matches a string that is the first argument of a call with the shape of a test or group. */
const TITLE = /\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1\s*,\s*(?:async\b|function\b|\(|\w+\s*=>|\{)/g;
/**
 * Citations in brackets at the end of a title, and a single one. `quality 2.3` and `interfaces 5` cite other
 * documents.
 */
const BRACKETS = /\[([^\]]+)\]$/;
const CLAUSE = /^(?:section )?(G\d\d|\d\.\d{1,2}|[5-9])$/;
const LEADING = /^(?:(?:interfaces|quality|section|decision) \d|G\d\d\b|\d\.\d{1,2}[ ,:])/;

/** Lists the clauses in brackets at the end of a title. */
export function listClauses(title) {
  const cited = BRACKETS.exec(title)?.[1].split(", ") ?? [];
  return cited.map((text) => CLAUSE.exec(text)?.[1]).filter((clause) => clause !== undefined);
}

function* listTitles() {
  for (const folder of ["src", "test"]) {
    const files = readdirSync(new URL(folder, root), { recursive: true });
    for (const file of files.filter((name) => name.endsWith(".test.ts"))) {
      const text = readFileSync(new URL(`${folder}/${file}`, root), "utf8");
      for (const [, , title] of text.matchAll(TITLE)) yield [`${folder}/${file}`, title];
    }
  }
}

/** Lists titles that begin with a citation. A title must say what broke. */
export function listLeadingCitations() {
  return [...listTitles()].filter(([, title]) => LEADING.test(title)).map((place) => place.join(": "));
}

/** Returns test files by clause. */
export function listTestedClauses() {
  const tested = new Map();
  for (const [file, title] of listTitles()) {
    for (const clause of listClauses(title)) {
      const files = tested.get(clause) ?? new Set();
      tested.set(clause, files.add(file));
    }
  }
  return tested;
}

export function listUntested() {
  const tested = listTestedClauses();
  return [...SECTIONS, ...GAPS].filter((clause) => !tested.has(clause));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = listUntested();
  const total = SECTIONS.length + GAPS.length;
  process.stdout.write(
    `${total - missing.length} of ${total} sections and gaps are in the title of a test\n`,
  );
  for (const clause of missing) process.stdout.write(`no test names ${clause}\n`);
  process.exit(missing.length === 0 ? 0 : 1);
}
