import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { clausesOf } from "./clauses.mjs";

/*
 * Comments, types, error texts, scenarios and test titles cite sections of four pages and the decisions. Each
 * citation must lead to an anchor that is shipped.
 */

const ROOT = new URL("../../", import.meta.url);
const text = (file: string) => readFileSync(new URL(file, ROOT), "utf8");
const filesBelow = (folder: string, kind: RegExp) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" })
    .filter((file) => kind.test(file))
    .map((file) => `${folder}/${file}`);

function anchorsOf(page: string): Set<string> {
  return new Set([...text(`docs/reference/${page}.md`).matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!));
}

const SECTIONS = anchorsOf("service-api");
const ASSUMPTIONS = anchorsOf("assumptions");
const INTERFACES = anchorsOf("interfaces");
const QUALITY = anchorsOf("quality");
const DECISIONS = new Set(
  readdirSync(new URL("docs/decisions", ROOT)).map((name) => String(Number.parseInt(name, 10))),
);

/** By the word that a citation begins with; a word without a page is one of ours that nobody else can read. */
const PAGES: Readonly<Record<string, ReadonlySet<string>>> = {
  section: SECTIONS,
  interfaces: INTERFACES,
  quality: QUALITY,
  decision: DECISIONS,
};

const BY_WORD =
  /\b(sections?|interfaces|quality|decisions?|design|gaps?|issues?|journeys|fleet) (\d+(?:\.\d+)*(?:(?:, | and | or | to )\d+(?:\.\d+)*)*)/gi;
const ASSUMPTION = /\bG\d\d\b/g;
const COMMENT = /(?:\/\/|\/\*\*?|^\s*\*)(.*)$/gm;
const YAML_COMMENT = /^#(.*)$/gm;
/** Not versions such as HTTP/1.1, YAML 1.2 or OpenAPI 3.1, nor the tail of another number. */
const BARE = /(?<![\w./]|OpenAPI |quality )([2-9]\.\d{1,2})(?![\w.]\w)(?![\d])/g;

/** What a text cites that leads nowhere. */
function astray(source: string): string[] {
  const lost: string[] = [];
  for (const [id] of source.matchAll(ASSUMPTION)) if (!ASSUMPTIONS.has(id)) lost.push(id);
  for (const [whole, word, numbers] of source.matchAll(BY_WORD)) {
    const page = PAGES[word!.toLowerCase()] ?? PAGES[word!.toLowerCase().replace(/s$/, "")];
    for (const number of numbers!.split(/, | and | or | to /)) if (!page?.has(number)) lost.push(whole);
  }
  return lost;
}

function bare(comments: Iterable<RegExpMatchArray>): string[] {
  return [...comments].flatMap(([, comment]) =>
    [...comment!.matchAll(BARE)].map(([, number]) => number!).filter((number) => !SECTIONS.has(number)),
  );
}

const SOURCES = filesBelow("src", /\.tsx?$/);
const TESTS = filesBelow("test", /\.tsx?$/);

describe("a citation", () => {
  it.each([
    ["see section 4.99; interfaces 3 and 77", ["section 4.99", "interfaces 3 and 77"]],
    ["G08 of G00", ["G00"]],
    ["design 3 says", ["design 3"]],
    ["Sections 4.1 and 4.2, decision 2, quality 2.3", []],
  ])("that leads nowhere is reported in %j", (sentence, lost) => {
    expect(astray(sentence)).toEqual(lost);
  });

  it("in the sources and tests leads to a shipped page", () => {
    const lost = [...SOURCES, ...TESTS]
      .filter((file) => file !== "test/contract/citations.test.ts")
      .flatMap((file) => {
        const source = text(file);
        return [...astray(source), ...bare(source.matchAll(COMMENT))].map((one) => `${file}: ${one}`);
      });
    expect(lost).toEqual([]);
  });

  it("in the guides leads to a shipped page", () => {
    const guides = ["README.md", "CONTRIBUTING.md", ...filesBelow("docs", /\.md$/)];
    expect(guides.flatMap((file) => astray(text(file)).map((one) => `${file}: ${one}`))).toEqual([]);
  });

  it("in the scenarios and OpenAPI documents leads to a shipped page", () => {
    const scenarios = filesBelow("scenarios", /\.yaml$/).flatMap((file) => {
      const source = text(file);
      return [...astray(source), ...bare(source.matchAll(YAML_COMMENT))].map((one) => `${file}: ${one}`);
    });
    expect(scenarios).toEqual([]);
    for (const file of ["docs/openapi.json", "docs/control-api.json"]) {
      const document = text(file);
      const sections = [...document.matchAll(/"x-section": "([\dG.]+)"/g)].map(([, section]) => section!);
      expect(sections.filter((section) => !SECTIONS.has(section) && !ASSUMPTIONS.has(section))).toEqual([]);
      expect(astray(document), file).toEqual([]);
    }
  });

  it("in a test's title leads to a shipped page", () => {
    const titles = TESTS.concat(SOURCES).flatMap((file) =>
      [...text(file).matchAll(/\b(?:it|test|describe)(?:\.each\([^\n]*\))?\(\s*["`']([^"`'\n]+)/g)].map(
        ([, title]) => title!,
      ),
    );
    const clauses = titles.flatMap((title) => clausesOf(title));
    expect(clauses.length).toBeGreaterThan(500);
    expect(clauses.filter((clause) => !SECTIONS.has(clause) && !ASSUMPTIONS.has(clause))).toEqual([]);
  });

  it("of a reliability goal names an existing program that shows it", () => {
    const goals = text("docs/reference/quality.md")
      .split("\n")
      .filter((line) => line.startsWith('| <a id="2.'));
    expect(goals).toHaveLength(17);
    for (const goal of goals) {
      const shownBy = goal.split(" | ").at(-1)!;
      const named = [...shownBy.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
      const files = named.filter((name) => /^(src|test|bench)\//.test(name));
      expect([goal, files.length > 0]).toEqual([goal, true]);
      expect(files.filter((file) => !existsSync(new URL(file, ROOT)))).toEqual([]);
    }
  });

  it("leads to pages and decisions that the package contains", () => {
    const { files } = JSON.parse(text("package.json")) as { files: string[] };
    expect(files).toContain("docs");
    for (const page of ["service-api", "interfaces", "assumptions", "quality"]) {
      expect(existsSync(new URL(`docs/reference/${page}.md`, ROOT)), page).toBe(true);
    }
  });
});
