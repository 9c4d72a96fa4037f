import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  createTempFolder,
  type RunningServer,
  removeTempFolders,
  runCommand,
  startCommand,
  startServer,
} from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const SAMPLES = fileURLToPath(new URL("../support/vitest-helper", import.meta.url));
const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const PLAYWRIGHT_SAMPLES = fileURLToPath(new URL("../support/playwright-helper", import.meta.url));
const PLAYWRIGHT = fileURLToPath(new URL("../../node_modules/@playwright/test/cli.js", import.meta.url));
const BIN = fileURLToPath(new URL("../../bin/understudy.js", import.meta.url));
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
afterAll(removeTempFolders);

async function runSuite(scenario: string, more: string[] = [], env: Record<string, string> = {}) {
  const cwd = createTempFolder();
  writeFileSync(join(cwd, "busy.yaml"), scenario);
  const command = ["--", process.execPath, VITEST, "run", "--root", SAMPLES];
  const { code, stdout } = await runCommand(
    ["suite", "busy.yaml", "--report", "junit=junit.xml", ...more, ...command],
    { cwd, env: { VITEST: "", REPORTS: cwd, SAMPLE: "in-suite.ts", ...env } },
  );
  return { code, stdout, junit: readFileSync(join(cwd, "junit.xml"), "utf8") };
}

describe("a suite whose command uses the runner fixtures", () => {
  let passing: Awaited<ReturnType<typeof runSuite>>;
  beforeAll(async () => {
    passing = await runSuite(SCENARIO);
  });

  it("applies its scenario in every test, and adds up their hits [interfaces 13]", () => {
    expect([passing.code, passing.stdout]).toEqual([
      0,
      expect.stringMatching(/ok {2}busy +0 +1\/2 +1\/1 +3/),
    ]);
    expect(passing.stdout).toMatch(/^coverage: 1 of \d+ documented outcomes \(0\.\d %\)$/m);
  });

  it("reports in JUnit the same as on the terminal: rules, expectations, tests, coverage [interfaces 13]", () => {
    const FACT = /^(rule|expectation|test|requests): /;
    const [, facts = ""] = /<system-out>([^<]*)</.exec(passing.junit) ?? [];
    const [, coverage] = /<property name="coverage" value="([^"]*)"/.exec(passing.junit) ?? [];
    const values = [`coverage ${coverage}`, ...facts.split("\n").filter((line) => FACT.test(line))];
    expect(values).toEqual([
      expect.stringMatching(/^coverage 1 of \d+ documented outcomes/),
      "rule: models: triggered 3 times",
      "rule: threads: never triggered",
      "expectation: met: Models are asked for (exactly 3); found 3",
      "test: passed: waits after a refusal",
      "test: passed: in the past &gt; waits after a refusal, too",
      "test: passed: expects an answer",
      "requests: 3",
    ]);
  });

  it("names the failed test, the rule that never triggered and the expectation that was not met [interfaces 13]", async () => {
    const scenario = SCENARIO.replace("    probability: 0\n", "").replace("count: 3", "count: 9");
    const { code, stdout, junit } = await runSuite(scenario, [], { FAILING: "1" });
    expect(code).toBe(1);
    for (const said of [
      "the command exited with 1",
      "the test failed: expects an answer",
      "the rule threads was never triggered",
      "expected Models are asked for (exactly 9), found 4",
    ]) {
      expect(stdout).toContain(said);
      expect(junit).toContain(said);
    }
    expect(junit).toMatch(/GET \/v1\/models -&gt; 429 RATE_LIMIT_EXCEEDED \([^)]+\) in expects an answer/);
  });

  it("also runs on a running server, and leaves nothing there [interfaces 13]", async () => {
    running = await startServer(["--quiet"]);
    const { url } = running.ready;
    const { code, stdout } = await runSuite(SCENARIO, ["--url", url]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/ok {2}busy +0 +1\/2 +1\/1 +3/)]);
    const { items } = (await (await fetch(`${url}/_control/sandboxes`)).json()) as {
      items: { name: string }[];
    };
    expect(items.map(({ name }) => name)).toEqual(["default"]);
  });
});

describe("the coverage of a command", () => {
  const runCovered = (sample: string, ...options: string[]) => {
    const cwd = createTempFolder();
    const command = ["coverage", ...options, "--", process.execPath, VITEST, "run", "--root", SAMPLES];
    const env = { VITEST: "", REPORTS: cwd, SAMPLE: sample, UNDERSTUDY_SUITE_FILE: "" };
    // The runner's output goes to its terminal, so it must not run in the process of these tests.
    return startCommand(command, { cwd, env }).finished;
  };

  it("includes the sandboxes of every worker, also deleted ones [interfaces 11]", async () => {
    const { code, stdout, stderr } = await runCovered("covered-*.ts", "--json", "--fail-under", "0.1");
    expect([code, stderr]).toEqual([0, expect.stringContaining("3 passed")]);
    const { covered: seen, operations } = JSON.parse(stdout);
    const hits = operations
      .find((row: { operation: string }) => row.operation === "models.list")
      .outcomes.flatMap((one: { code: string; status: number; hits: number }) =>
        one.hits > 0 ? [`${one.code ?? one.status} ${one.hits}`] : [],
      );
    expect([seen, hits]).toEqual([2, ["200 2", "RATE_LIMIT_EXCEEDED 1"]]);
  });

  it("fails with the command, and below the percentage [interfaces 11]", async () => {
    const runCoverage = (...words: string[]) => runCommand(["coverage", ...words]);
    const failing = await runCoverage("--", process.execPath, "-e", "process.exit(3)");
    expect([failing.code, failing.stderr]).toEqual([1, expect.stringContaining("the command exited with 3")]);
    expect(failing.stdout).toMatch(/percent: 0 of \d+ documented outcomes/);
    const little = await runCoverage("--fail-under", "90", "--", process.execPath, "-e", "0");
    expect([little.code, little.stderr]).toEqual([1, expect.stringMatching(/percent, below 90$/m)]);
    const nothing = await runCommand(["coverage", "--", "no-such-program"]);
    expect([nothing.code, nothing.stderr]).toEqual([
      2,
      expect.stringContaining("cannot run no-such-program"),
    ]);
  });
});

describe("a suite whose command retries failed tests", () => {
  const CALM = "name: busy\nrules: []\n";
  const listFailures = (stdout: string) =>
    stdout.split("\n").flatMap((line) => /the test failed: .*/.exec(line) ?? []);

  it("names those of Vitest that failed on their last attempt [interfaces 13]", async () => {
    const { stdout, junit } = await runSuite(CALM, [], { SAMPLE: "in-suite-retried.ts" });
    expect(listFailures(stdout)).toEqual([
      "the test failed: fails on each attempt",
      "the test failed: fails on one of its repetitions",
    ]);
    expect(junit).toContain("test: retried: passes on a retry\ntest: passed: passes on a retry\n");
  });

  it("names those of Playwright, in each project of its own [interfaces 13]", async () => {
    const cwd = createTempFolder();
    writeFileSync(join(cwd, "busy.yaml"), CALM);
    const command = ["--", process.execPath, PLAYWRIGHT, "test", "--config", "in-suite.config.mjs"];
    const { stdout } = await runCommand(["suite", join(cwd, "busy.yaml"), ...command], {
      cwd: PLAYWRIGHT_SAMPLES,
      env: { VITEST: "", REPORTS: cwd },
    });
    expect(listFailures(stdout)).toEqual(["the test failed: in-suite.spec.mjs › passes on the desktop"]);
  });
});

it("commands in a suite use its server and sandbox by default [interfaces 13]", async () => {
  const cwd = createTempFolder();
  writeFileSync(join(cwd, "busy.yaml"), SCENARIO.replace("count: 3", "count: 1"));
  const asks = `curl -s -o models.json -H "api-key: ak_danMemberAcme00000000000000000000000000" $UNDERSTUDY_BASE_URL/v1/models
${process.execPath} ${BIN} journal --json > journal.json
${process.execPath} ${BIN} status --json > status.json`;
  const { code, stdout } = await runCommand(["suite", "busy.yaml", "--", "sh", "-ec", asks], { cwd });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/ok {2}busy/)]);
  const read = (file: string) => JSON.parse(readFileSync(join(cwd, file), "utf8"));
  expect(read("models.json").code ?? read("models.json").error?.code).toBe("RATE_LIMIT_EXCEEDED");
  expect(JSON.stringify(read("journal.json"))).toContain("/v1/models");
});
