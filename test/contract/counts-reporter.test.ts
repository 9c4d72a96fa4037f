import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { NEEDS_TOOLS } from "../support/counts-reporter.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Runs a sample with the project's configuration. Returns the exit code and the output's lines. */
function run(sample: string, ...options: string[]) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--config",
      "test/support/counts/vitest.config.ts",
      "--root",
      ".",
      ...options,
    ],
    { cwd: ROOT, encoding: "utf8", env: { ...process.env, VITEST: "", SAMPLE: sample, NO_COLOR: "1" } },
  );
  return { status, lines: stdout.trimEnd().split("\n") };
}

it("the reporter ends a run on the line with the counts", () => {
  const { status, lines } = run("green");
  expect([lines.at(-1), status]).toEqual(["2 passed, 0 failed", 0]);
});

it("the reporter shows a failed test once, and counts a skipped one as failed", () => {
  const { status, lines } = run("red");
  expect([lines.at(-1), status]).toEqual(["1 passed, 2 failed", 1]);
});

it("the reporter counts with -t only the tests that match, skipped ones included", () => {
  const { lines, status } = run("{green,red}", "-t", "a run passes too|left out");
  expect([lines.at(-1), status]).toEqual(["1 passed, 1 failed", 1]);
});

it("every test file that may be skipped because a tool is missing is listed", () => {
  const files = ["src", "test"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => join(folder, name)),
  );
  const skipping = files.filter((file) => /\bskip\(/.test(readFileSync(join(ROOT, file), "utf8")));
  expect(skipping.length).toBeGreaterThan(5);
  expect(skipping.filter((file) => !NEEDS_TOOLS.test(file))).toEqual([]);
});

it("mutation testing reports each mutant and the test that killed it", { timeout: 300_000 }, () => {
  const asked = [
    "scripts/mutate.mjs",
    "src/engine/state/sorted-tree.ts:53",
    "--tests",
    "src/engine/state/sorted-tree.test.ts",
  ];
  const { stdout, stderr } = spawnSync(process.execPath, asked, {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, VITEST: "" },
  });
  expect(stdout, stderr).toContain("killed by src/engine/state/sorted-tree.test.ts > SortedTree > ");
  expect(stdout).toMatch(
    /src\/engine\/state\/sorted-tree\.ts:53: (\d+) of \1 mutants killed, [\d.]+ s each\n$/,
  );
});
