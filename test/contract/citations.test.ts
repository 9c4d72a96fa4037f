import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { listClauses } from "./clauses.mjs";

/*
 * Comments, types, error messages, scenarios and test titles cite sections of four pages and the decisions. Each
 * citation must lead to an anchor in a published page.
 */

const ROOT = new URL("../../", import.meta.url);
const readText = (file: string) => readFileSync(new URL(file, ROOT), "utf8");
const listFiles = (folder: string, kind: RegExp) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" })
    .filter((file) => kind.test(file))
    .map((file) => `${folder}/${file}`);

function listAnchors(page: string): Set<string> {
  return new Set(
    [...readText(`docs/reference/${page}.md`).matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!),
  );
}

const SECTIONS = listAnchors("service-api");
const ASSUMPTIONS = listAnchors("assumptions");
const INTERFACES = listAnchors("interfaces");
const QUALITY = listAnchors("quality");
const DECISIONS = new Set(
  readdirSync(new URL("docs/decisions", ROOT)).map((name) => String(Number.parseInt(name, 10))),
);

/**
 * The page's anchors by the word that a citation begins with. A word without a page is an internal name that users
 * cannot look up.
 */
const PAGES: Readonly<Record<string, ReadonlySet<string>>> = {
  section: SECTIONS,
  interfaces: INTERFACES,
  quality: QUALITY,
  decision: DECISIONS,
};

const BY_WORD =
  /\b(sections?|interfaces|quality|decisions?|design|gaps?|issues?|journeys|fleet)(?:\.md)? (\d+(?:\.\d+)*(?:(?:, | and | or | to )\d+(?:\.\d+)*)*)/gi;
const ASSUMPTION = /\bG\d\d\b/g;
const COMMENT = /(?:\/\/|\/\*\*?|^\s*\*)(.*)$/gm;
const YAML_COMMENT = /^#(.*)$/gm;
/** Not versions such as HTTP/1.1, YAML 1.2 or OpenAPI 3.1, and not the end of another number. */
const BARE = /(?<![\w./]|OpenAPI |quality |quality\.md )([2-9]\.\d{1,2})(?![\w.]\w)(?![\d])/g;

/** Lists the citations of a text that have no target. */
function findBrokenCitations(source: string): string[] {
  const lost: string[] = [];
  for (const [id] of source.matchAll(ASSUMPTION)) if (!ASSUMPTIONS.has(id)) lost.push(id);
  for (const [whole, word, numbers] of source.matchAll(BY_WORD)) {
    const page = PAGES[word!.toLowerCase()] ?? PAGES[word!.toLowerCase().replace(/s$/, "")];
    for (const number of numbers!.split(/, | and | or | to /)) if (!page?.has(number)) lost.push(whole);
  }
  return lost;
}

function findBareNumbers(comments: Iterable<RegExpMatchArray>): string[] {
  return [...comments].flatMap(([, comment]) =>
    [...comment!.matchAll(BARE)].map(([, number]) => number!).filter((number) => !SECTIONS.has(number)),
  );
}

const SOURCES = listFiles("src", /\.tsx?$/);
const TESTS = listFiles("test", /\.tsx?$/);

describe("a citation", () => {
  it.each([
    ["see section 4.99; interfaces.md 3 and 77", ["section 4.99", "interfaces.md 3 and 77"]],
    ["G08 of G00", ["G00"]],
    ["design 3 says", ["design 3"]],
    ["Sections 4.1 and 4.2, decision 2, quality 2.3", []],
  ])("that leads nowhere is reported in %j", (sentence, lost) => {
    expect(findBrokenCitations(sentence)).toEqual(lost);
  });

  it("in the sources and tests leads to a shipped page", () => {
    const lost = [...SOURCES, ...TESTS]
      .filter((file) => file !== "test/contract/citations.test.ts")
      .flatMap((file) => {
        const source = readText(file);
        return [...findBrokenCitations(source), ...findBareNumbers(source.matchAll(COMMENT))].map(
          (one) => `${file}: ${one}`,
        );
      });
    expect(lost).toEqual([]);
  });

  it("in the guides leads to a shipped page", () => {
    const guides = ["README.md", "CONTRIBUTING.md", ...listFiles("docs", /\.md$/)];
    expect(
      guides.flatMap((file) => findBrokenCitations(readText(file)).map((one) => `${file}: ${one}`)),
    ).toEqual([]);
  });

  it("in the scenarios and OpenAPI documents leads to a shipped page", () => {
    const scenarios = listFiles("scenarios", /\.yaml$/).flatMap((file) => {
      const source = readText(file);
      return [...findBrokenCitations(source), ...findBareNumbers(source.matchAll(YAML_COMMENT))].map(
        (one) => `${file}: ${one}`,
      );
    });
    expect(scenarios).toEqual([]);
    for (const file of ["docs/openapi.json", "docs/control-api.json"]) {
      const document = readText(file);
      const sections = [...document.matchAll(/"x-section": "([\dG.]+)"/g)].map(([, section]) => section!);
      expect(sections.filter((section) => !SECTIONS.has(section) && !ASSUMPTIONS.has(section))).toEqual([]);
      expect(findBrokenCitations(document), file).toEqual([]);
    }
  });

  it("in a test's title leads to a shipped page", () => {
    const titles = TESTS.concat(SOURCES).flatMap((file) =>
      [...readText(file).matchAll(/\b(?:it|test|describe)(?:\.each\([^\n]*\))?\(\s*["`']([^"`'\n]+)/g)].map(
        ([, title]) => title!,
      ),
    );
    const clauses = titles.flatMap((title) => listClauses(title));
    expect(clauses.length).toBeGreaterThan(500);
    expect(clauses.filter((clause) => !SECTIONS.has(clause) && !ASSUMPTIONS.has(clause))).toEqual([]);
  });

  it("of a reliability goal names an existing program that shows it", () => {
    const goals = readText("docs/reference/quality.md")
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
    const { files } = JSON.parse(readText("package.json")) as { files: string[] };
    expect(files).toContain("docs");
    for (const page of ["service-api", "interfaces", "assumptions", "quality"]) {
      expect(existsSync(new URL(`docs/reference/${page}.md`, ROOT)), page).toBe(true);
    }
  });
});
