import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readDocument } from "../../src/engine/documents/read-document.ts";
import { startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

let folder: string;
beforeAll(() => {
  folder = createTempFolder();
});
afterAll(removeTempFolders);

function listWarnings(text: string): string[] {
  const found: string[] = [];
  const findWarnings = ({ line, column, message }: { line: number; column: number; message: string }) =>
    found.push(`${line}:${column}: ${message}`);
  readDocument(text, { file: "a.yaml", warn: findWarnings });
  return found;
}

const FIXTURE =
  "extends: reference\norganizations:\n  - id: org_acme\nglobex_departments:\n  - id: dept_new\n    name: New\n    color: #4f46e5\n";
const SCENARIO =
  "name: lost\nrules:\n  - match: { operation: models.list }\n    times: #3\n    effect: { delay: 1s }\n";

describe("a value that YAML reads as a comment", () => {
  it("is reported with its line and column, in any position", () => {
    const message = "is a comment, and was probably meant as a value; quote it:";
    expect(listWarnings("color: #4f46e5\nname: a")).toEqual([`1:8: \`#4f46e5\` ${message} "#4f46e5"`]);
    expect(listWarnings("channels:\n  - #general\n  - b")).toEqual([
      `2:5: \`#general\` ${message} "#general"`,
    ]);
    expect(listWarnings("title: Issue #12\n")).toEqual([
      '1:8: `#12` is a comment, and was probably meant as part of the value; quote it: "Issue #12"',
    ]);
  });

  it.each(["a: { color: #4f46e5 }\nb: 1\n", "a: [x, #4f46e5]\n"])(
    "is explained if it leaves %j open",
    (text) => {
      expect(() => readDocument(text, { file: "a.yaml" })).toThrow("quote a value that begins with #");
    },
  );

  it.each([
    "color: # the team's colour\n",
    "color: '#4f46e5'\n",
    "rules: #all of them\n  - a\n",
    "rules: #all of them\n  a: 1\n",
    "port: 8080 #default\n",
    "mode: frozen # 12\n",
    "url: http://a/#4f46e5\n",
    "#4f46e5\na: 1\n",
    "a: null #none\n",
    "a:\n  #b: 1\n  #c: 2\nd: 1\n",
    "a: { b:\n  #x\n  }\n",
  ])("is not reported for %j", (text) => {
    expect(listWarnings(text)).toEqual([]);
  });

  it.each([
    [["fixture", "check"], "lost.yaml", FIXTURE, 7],
    [["scenario", "check"], "lost.yaml", SCENARIO, 4],
    [["start", "--config"], "understudy.config.yaml", "fixture: #mine\nport: none\n", 1],
    [["verify", "--target", "http://127.0.0.1:9", "--key", "ak_x", "--use"], "objects.yaml", "none: #x\n", 1],
  ])("is reported for %j", async (command, name, text, line) => {
    writeFileSync(join(folder, name), text);
    const { stdout, stderr } = await runCommand([...command, `./${name}`], { cwd: folder });
    expect(stdout + stderr).toMatch(
      new RegExp(`${name}:${line}:\\d+: \`#.+\` is a comment, and was probably meant`),
    );
  });

  it("lets a check pass with a warning, also as JSON", async () => {
    writeFileSync(join(folder, "lost.yaml"), FIXTURE);
    const { code, stdout } = await runCommand(["fixture", "check", "./lost.yaml", "--json"], { cwd: folder });
    expect(code).toBe(0);
    const [{ ok, warnings: found }] = JSON.parse(stdout).items;
    expect([ok, found]).toEqual([true, [expect.objectContaining({ line: 7, column: 12 })]]);
  });

  it("is reported in a server's log", async () => {
    writeFileSync(join(folder, "lost.yaml"), FIXTURE);
    const logged: unknown[] = [];
    const log = { error() {}, info() {}, warn: (...words: unknown[]) => void logged.push(words[0]) };
    const api = await startReference({ fixture: join(folder, "lost.yaml"), log: log as never });
    await api.close();
    expect(logged).toEqual([expect.stringMatching(/lost\.yaml:7:12: `#4f46e5` is a comment/)]);
  });
});

describe("a value that YAML reads as an anchor", () => {
  it.each([
    ["name: &Co Acme", "1:11: `&Co`", "&Co Acme"],
    ["names:\n  - &more", "2:10: `&more`", "&more"],
  ])("is reported with its line and column: %j", (text, place, quoted) => {
    const message =
      "is an anchor that no alias names, and was probably meant as part of the value; quote it:";
    expect(listWarnings(text)).toEqual([`${place} ${message} "${quoted}"`]);
  });

  it.each(["a: &x Acme\nb: *x", "a: &x 5", "a: &x\n  b: 1", "a: '&Co Acme'", "a: Tom & Co"])(
    "is not reported for %j",
    (text) => {
      expect(listWarnings(text)).toEqual([]);
    },
  );
});

it.each([
  [
    "name: - x",
    "a list begins on the line of its key; put each item on a line of its own, or quote the text",
  ],
  ["name: |x", "the text after | or > begins on the next line; quote a text that begins with | or >"],
  ["name: > y", "the text after | or > begins on the next line; quote a text that begins with | or >"],
])("the sign that begins %j is explained", (text, message) => {
  expect(() => readDocument(text, { file: "a.yaml" })).toThrow(message);
});

describe("a merge key", () => {
  it.each([
    [["fixture", "check"], "merge.yaml", "name: x\nbase: &base { a: 1 }\nother:\n  <<: *base\n"],
    [["scenario", "check"], "merge.yaml", "name: x\nrules:\n  - &one { id: a }\n  - <<: *one\n"],
    [["start", "--config"], "understudy.config.yaml", "settings: &s { preview: on }\nother:\n  <<: *s\n"],
  ])("is refused in %j with advice that works in that document", async (command, name, text) => {
    writeFileSync(join(folder, name), text);
    const { code, stdout, stderr } = await runCommand([...command, `./${name}`], { cwd: folder });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain("merge keys (<<) are not supported; write the fields out here");
    expect(stdout + stderr).not.toContain("extends");
  });
});
