import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { NEED_THE_MACHINE } from "../support/counts-reporter.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Runs samples under the project's own configuration; its exit code and what stands on its last lines. */
function run(sample: string, ...options: string[]) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--config",
      "test/support/retry/vitest.config.ts",
      "--root",
      ".",
      ...options,
    ],
    { cwd: ROOT, encoding: "utf8", env: { ...process.env, VITEST: "", SAMPLE: sample, NO_COLOR: "1" } },
  );
  return { status, lines: stdout.trimEnd().split("\n") };
}

it("names each test that only its second attempt let pass, above the counts", () => {
  const { status, lines } = run("unsteady");
  expect(lines.slice(-2)).toEqual([
    "!!! PASSED ONLY AT THE SECOND ATTEMPT: test/support/retry/unsteady.ts > a run > passes when repeated: at first expected 1 to be 2 // Object.is equality",
    "2 passed, 0 failed",
  ]);
  expect(status).toBe(0);
});

it("repeats a red test once, and counts what is left out as failed", () => {
  const { status, lines } = run("red");
  expect(lines.at(-1)).toBe("1 passed, 2 failed");
  expect(lines.join("\n")).not.toContain("!!! PASSED ONLY");
  expect(status).toBe(1);
});

it("counts with -t only what it asks for, skipped tests that match included", () => {
  const { lines, status } = run("{unsteady,red}", "-t", "a run passes when|left out");
  expect([lines.at(-1), status]).toEqual(["1 passed, 1 failed", 1]);
});

it("knows every file whose tests may say that the machine lacks something", () => {
  const files = ["src", "test"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => join(folder, name)),
  );
  const skipping = files.filter((file) => /\bskip\(/.test(readFileSync(join(ROOT, file), "utf8")));
  expect(skipping.length).toBeGreaterThan(5);
  expect(skipping.filter((file) => !NEED_THE_MACHINE.test(file))).toEqual([]);
});

it("mutation testing says what was changed, and which test noticed", () => {
  const asked = [
    "scripts/mutate.mjs",
    "src/engine/state/sorted-tree.ts:59",
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
    /src\/engine\/state\/sorted-tree\.ts:59: (\d+) of \1 mutants killed, [\d.]+ s each\n$/,
  );
});
