import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { listStateCollections } from "../../src/control/state/state-collection.ts";
import { FixtureLibrary } from "../../src/documents/fixture-library.ts";
import { CATALOGUE } from "../../src/engine/contract/errors.ts";
import { readDocument } from "../../src/engine/documents/read-document.ts";
import { RuleDocument, ScenarioDocument } from "../../src/engine/faults/rule-document.ts";
import { readScenario } from "../../src/engine/faults/scenario.ts";
import { getFixtureShape } from "../../src/engine/fixtures/fixture-shape.ts";
import { API, RESOURCES } from "../../src/engine/resources/index.ts";
import { TIMER_KINDS } from "../../src/engine/state/clock.ts";
import { CHECKS } from "../../src/tools/grader/checks/index.ts";
import { listCommands } from "../support/docs/list-commands.ts";
import {
  findBlocks,
  findDeadLinks,
  findLinkedFiles,
  findTerms,
  findWords,
  listPages,
  readPage,
  readTableRows,
} from "../support/docs/pages.ts";

const getPage = (name: string) => `docs/${name}.md`;
const findMissing = (wanted: readonly string[], known: ReadonlySet<string>) =>
  wanted.filter((word) => !known.has(word));

describe("packages that users install", () => {
  it("are each explained in CONTRIBUTING.md, and no others [interfaces 16]", () => {
    const page = readPage("CONTRIBUTING.md");
    const section = page.slice(page.indexOf("## Packages that users install"), page.indexOf("## Words"));
    const listed = section
      .split("\n")
      .flatMap((line) => (line.startsWith("- `") ? line.split(":")[0]!.match(/[\w@/.][\w@/.-]*/g)! : []));
    expect(listed.sort()).toEqual(Object.keys(JSON.parse(readPage("package.json")).dependencies).sort());
  });
});

describe("the package before it is published", () => {
  it("is not installed from a registry in any page or example [interfaces 16]", () => {
    const files = readdirSync("docs", { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile() && /\.(md|json|m?[jt]sx?|ya?ml|py|java|css|html)$/.test(one.name))
      .map((one) => join(one.parentPath, one.name));
    const byName =
      /\b(npm|pnpm|yarn|bun) (i|install|add)\b.*(?<![\w/-])understudy-sandbox(?![\w-])|"understudy-sandbox": "\d/;
    const found = ["README.md", "CONTRIBUTING.md", ...files].flatMap((file) =>
      readPage(file)
        .split("\n")
        .filter((line) => byName.test(line) && !line.includes("Once the package is published"))
        .map((line) => `${file}: ${line}`),
    );
    expect(found).toEqual([]);
  });
});

describe("a link in the docs", () => {
  it.each(listPages())("leads to an existing target in %s", (file) => {
    expect(findDeadLinks(file)).toEqual([]);
  });

  it("leads from a packaged page to a packaged file", () => {
    const { files } = JSON.parse(readPage("package.json")) as { files: string[] };
    const always = ["README.md", "LICENSE", "package.json"];
    const readShipped = (file: string) =>
      [...always, ...files].some((entry) => file === entry || file.startsWith(`${entry}/`)) &&
      !files.includes(`!${file}`);
    const lost = listPages()
      .filter(readShipped)
      .flatMap((page) => findLinkedFiles(page).map((file) => ({ page, file })))
      .filter(({ file }) => !readShipped(file));
    expect(lost).toEqual([]);
  });

  it("leads from the index to every page, and from the README to the index", () => {
    const index = new Set(
      [...readPage("docs/README.md").matchAll(/\]\(([^)#\s]+\.md)/g)].map(([, target]) => `docs/${target}`),
    );
    const listed = listPages().filter(
      (file) => file.startsWith("docs/") && !file.startsWith("docs/decisions/"),
    );
    expect(listed.filter((file) => file !== "docs/README.md" && !index.has(file))).toEqual([]);
    expect(readPage("README.md")).toContain("](docs/README.md)");
  });

  it("leads from the README to every page", () => {
    const reached = new Set(["README.md"]);
    for (const file of reached) {
      for (const [, target] of readPage(file).matchAll(/\]\((?!\w+:)([^)#\s]+\.md)/g)) {
        reached.add(new URL(target!, `file:///${file}`).pathname.slice(1));
      }
    }
    expect(listPages().filter((file) => !reached.has(file) && !file.startsWith("docs/decisions/"))).toEqual(
      [],
    );
  });
});

describe("the reference pages", () => {
  it("list exactly the calls of the control API [interfaces 4]", () => {
    const S = "/_control/sandboxes/{name}";
    const documented = [
      ...readPage(getPage("control-api")).matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (S?)(?:`(\/[^`]*)`)?/g),
    ]
      .filter(([, , short, path]) => short === "S" || path !== undefined)
      .map(([, method, short, path = ""]) => `${method} ${short === "S" ? S : ""}${path}`);
    const existing = CONTROL_OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(documented)].sort()).toEqual([...existing].sort());
  });

  it("name all parameters of each control call [interfaces 11]", () => {
    const known = new Set([...findWords(getPage("control-api"))].map((word) => word.toLowerCase()));
    const { paths, components } = JSON.parse(readPage("docs/control-api.json")) as ControlDocument;
    const taken = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ parameters = [], requestBody }) => [
        ...parameters.filter((one) => one.in !== "path").map(({ name }) => name),
        ...listFields(requestBody?.content["application/json"]?.schema, components.schemas),
      ]);
    expect(taken.length).toBeGreaterThan(100);
    expect(findMissing([...new Set(taken)], known)).toEqual([]);
  });

  it("name every command, action and option [interfaces 2]", async () => {
    const known = findTerms(getPage("cli"));
    const named = [...known].map((term) => term.replace(/^understudy /, ""));
    const items = readPage(getPage("cli")).split(/\n(?! )/);
    for (const { path, options } of await listCommands()) {
      const [command, action] = path;
      const isDocumented = named.some((term) => term === command || term.startsWith(`${command} `));
      expect(isDocumented, `understudy ${path.join(" ")}`).toBe(true);
      if (action !== undefined) {
        const own = new RegExp(`\`(${command} )?${action}\\b`);
        const row = items.some((item) => item.includes(`\`${command} `) && own.test(item));
        expect(row, `understudy ${path.join(" ")}`).toBe(true);
      }
      for (const option of options) {
        expect(readPage(getPage("cli")), `understudy ${path.join(" ")} --${option}`).toMatch(
          new RegExp(`--(no-)?${option}\\b`),
        );
      }
    }
  });

  it("document every code of the catalogue with its status [7.4]", () => {
    const documented = readTableRows(getPage("errors-and-limits"));
    for (const [code, { status }] of Object.entries(CATALOGUE)) {
      const row = documented.find(([codes, shown]) => codes!.includes(`\`${code}\``) && /^\d+$/.test(shown!));
      expect(row?.[1], code).toBe(String(status));
    }
  });

  it("document every key of fixtures and their records [interfaces 5]", () => {
    const known = findWords(getPage("fixtures"));
    const { document } = getFixtureShape(RESOURCES);
    expect(findMissing(listKeys(document), known)).toEqual([]);
  });

  it("document every key of scenarios and rules [interfaces 6]", () => {
    const known = findWords(getPage("scenarios"));
    expect(findMissing([...listKeys(RuleDocument), ...listKeys(ScenarioDocument)], known)).toEqual([]);
  });

  it("document every check of the receiver grader [6.1]", () => {
    expect(
      findMissing(
        CHECKS.map(({ id }) => id),
        findTerms(getPage("webhooks")),
      ),
    ).toEqual([]);
  });

  it("document the data of every event, field by field [G25]", () => {
    const readCodeSpans = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    const documented = readTableRows(getPage("events"));
    for (const { name, data } of API.events) {
      const row = documented.find(([event]) => readCodeSpans(event).includes(name));
      expect(readCodeSpans(row?.[1]), name).toEqual(data);
    }
  });

  it("document every collection of state calls and every kind of timer [interfaces 4]", () => {
    expect(
      findMissing([...listStateCollections(RESOURCES).keys()], findTerms(getPage("control-api"))),
    ).toEqual([]);
    expect(findMissing(TIMER_KINDS, findTerms(getPage("sandboxes-and-time")))).toEqual([]);
  });
});

describe("an example in the docs", () => {
  const examples = listPages().flatMap(findBlocks);

  it("passes the checker if it is a scenario [interfaces 6]", () => {
    const shown = examples.filter(({ kind }) => kind === "yaml scenario");
    expect(shown.length).toBeGreaterThan(2);
    for (const { page: file, code } of shown) {
      expect(() => readScenario({ text: code, displayName: file, file: "shown.yaml" }, API)).not.toThrow();
    }
  });

  it("makes a world if it is a fixture [interfaces 5]", () => {
    const shown = examples.filter(({ kind }) => kind === "yaml fixture");
    expect(shown.length).toBeGreaterThan(1);
    for (const { page: file, code } of shown) {
      const source = new FixtureLibrary({ resources: RESOURCES });
      const document = readDocument(code, { file }).value as object;
      expect(() => source.load(document).buildRoot(1)).not.toThrow();
    }
  });
});

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
}

interface ControlDocument {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: { name: string; in: string }[];
        requestBody?: { content: Record<string, { schema: Schema }> };
      }
    >
  >;
  components: { schemas: Record<string, Schema> };
}

/** Lists the fields of a body, including those of its alternatives. */
function listFields(schema: Schema | undefined, named: Record<string, Schema>): string[] {
  if (schema === undefined) return [];
  if (schema.$ref !== undefined) return listFields(named[schema.$ref.split("/").at(-1)!], named);
  const alternatives = (schema.anyOf ?? []).flatMap((one) => listFields(one, named));
  return [...Object.keys(schema.properties ?? {}), ...alternatives];
}

/** Lists the property names of a schema at all depths. */
function listKeys(schema: unknown): string[] {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) {
      part.forEach(visit);
      return;
    }
    if (typeof part !== "object" || part === null) return;
    const { properties, items, anyOf, patternProperties } = part as Record<string, unknown>;
    for (const name of Object.keys((properties ?? {}) as object)) found.add(name);
    for (const inner of [properties, patternProperties]) Object.values(inner ?? {}).forEach(visit);
    visit(items);
    visit(anyOf);
  };
  visit(schema);
  return [...found];
}
