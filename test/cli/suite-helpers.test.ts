import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type RunningServer,
  removeScratch,
  runCommand,
  scratch,
  startServer,
} from "../support/run-understudy.ts";

const SAMPLES = fileURLToPath(new URL("../support/vitest-helper", import.meta.url));
const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const SCENARIO = `name: busy
rules:
  - id: models
    match: { operation: models.list }
    effect: { error: RATE_LIMIT_EXCEEDED }
  - id: threads
    match: { operation: threads.delete }
    probability: 0
    effect: { error: RATE_LIMIT_EXCEEDED }
expect:
  - description: Models are asked for
    match: { operation: models.list }
    count: 3
`;

let running: RunningServer | undefined;
afterEach(() => running?.stop("SIGKILL"));
afterAll(removeScratch);

async function suite(scenario: string, more: string[] = [], env: Record<string, string> = {}) {
  const cwd = scratch();
  writeFileSync(join(cwd, "busy.yaml"), scenario);
  const command = ["--", process.execPath, VITEST, "run", "--root", SAMPLES];
  const { code, stdout } = await runCommand(
    ["suite", "busy.yaml", "--report", "junit=junit.xml", ...more, ...command],
    { cwd, env: { VITEST: "", REPORTS: cwd, SAMPLE: "in-suite.ts", ...env } },
  );
  return { code, stdout, junit: readFileSync(join(cwd, "junit.xml"), "utf8") };
}

describe("a suite whose command uses the runner fixtures", () => {
  let passing: Awaited<ReturnType<typeof suite>>;
  beforeAll(async () => {
    passing = await suite(SCENARIO);
  });

  it("interfaces 13 strikes its scenario in every test, and adds up what they saw", () => {
    expect([passing.code, passing.stdout]).toEqual([
      0,
      expect.stringMatching(/ok {2}busy +0 +1\/2 +1\/1 +3/),
    ]);
    expect(passing.stdout).toMatch(/^coverage: 1 of \d+ documented outcomes \(0\.\d %\)$/m);
  });

  it("interfaces 13 says in JUnit what the terminal says: rules, expectations, tests, coverage", () => {
    const values = [...passing.junit.matchAll(/<property name="(\w+)" value="([^"]*)"/g)].map(
      ([, name, value]) => `${name} ${value}`,
    );
    expect(values).toEqual([
      expect.stringMatching(/^coverage 1 of \d+ documented outcomes/),
      "rule models: struck 3 times",
      "rule threads: never struck",
      "expectation met: Models are asked for (exactly 3); found 3",
      "test passed: is told to wait",
      "test passed: in the past &gt; is told to wait, too",
      "test passed: expects an answer",
      "requests 3",
    ]);
  });

  it("interfaces 13 names the failed test, the rule that never struck and the expectation that is not met", async () => {
    const scenario = SCENARIO.replace("    probability: 0\n", "").replace("count: 3", "count: 9");
    const { code, stdout, junit } = await suite(scenario, [], { FAILING: "1" });
    expect(code).toBe(1);
    for (const said of [
      "the command exited with 1",
      "the test failed: expects an answer",
      "the rule threads never struck",
      "expected Models are asked for (exactly 9), found 4",
    ]) {
      expect(stdout).toContain(said);
      expect(junit).toContain(said);
    }
    expect(junit).toMatch(/GET \/v1\/models -&gt; 429 RATE_LIMIT_EXCEEDED \([^)]+\) in expects an answer/);
  });

  it("interfaces 13 does so on a running server, too, and leaves nothing there", async () => {
    running = await startServer(["--quiet"]);
    const { url } = running.ready;
    const { code, stdout } = await suite(SCENARIO, ["--url", url]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/ok {2}busy +0 +1\/2 +1\/1 +3/)]);
    const { items } = (await (await fetch(`${url}/_control/sandboxes`)).json()) as {
      items: { name: string }[];
    };
    expect(items.map(({ name }) => name)).toEqual(["default"]);
  });
});
