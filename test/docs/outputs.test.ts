import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { blocks, pages } from "../support/docs/pages.ts";
import { removeScratch, runCommand, scratch, startServer } from "../support/run-understudy.ts";

/* What pages show of the command's output is what it prints. */

const FIXTURE = `extends: reference
departments:
  dept_archive: null
  dept_ops: null
  dept_new: { name: New, parent_id: dept_acmee }
`;
const SCENARIO = `name: flaky
rules:
  - id: one
    match: { operation: file.register }
    effect: { status: 503 }
`;

const checked = (command: "fixture" | "scenario", file: string, text: string) => async () => {
  const cwd = scratch();
  writeFileSync(join(cwd, file), text);
  const { code, stdout, stderr } = await runCommand([command, "check", file], { cwd });
  expect(code).toBe(1);
  return stdout + stderr;
};

/** By page, what prints what its \`text\` blocks show. */
const PRINTED: Record<string, () => Promise<string>> = {
  "README.md": async () => {
    const server = await startServer();
    const { stdout } = await server.stop();
    return stdout.replaceAll(server.ready.url, "http://127.0.0.1:4747");
  },
  "docs/fixtures.md": checked("fixture", "my.yaml", FIXTURE),
  "docs/scenarios.md": checked("scenario", "flaky.yaml", SCENARIO),
};

afterAll(removeScratch);

describe("outputs shown", () => {
  const shown = pages()
    .flatMap(blocks)
    .filter(({ kind }) => kind === "text");

  it("interfaces 2 are of pages that say what prints them", () => {
    expect([...new Set(shown.map(({ page }) => page))].sort()).toEqual(Object.keys(PRINTED).sort());
  });

  it.each(Object.keys(PRINTED))("interfaces 2 %s shows what is printed", async (page) => {
    const printed = (await PRINTED[page]!()).split("\n").map((line) => line.trimEnd());
    for (const { code } of shown.filter((block) => block.page === page)) {
      const lines = code.split("\n").filter((line) => line.trim() !== "");
      const places = lines.map((line) => printed.indexOf(line.trimEnd()));
      expect(lines.filter((_, index) => places[index] === -1)).toEqual([]);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }
  });
});
