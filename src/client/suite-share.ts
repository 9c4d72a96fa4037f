import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RuleDefinition, SandboxOptions, ScenarioName } from "./types.ts";

/** The environment variable with the path of the file through which a suite and the test-runner fixtures exchange data. */
export const SUITE_FILE_VARIABLE = "UNDERSTUDY_SUITE_FILE";

/** The test of a suite takes this over from the sandbox in which the scenario runs. */
export interface SuiteShare {
  sandbox: string;
  world: Pick<SandboxOptions, "fixture" | "seed" | "clock">;
  /** Whether the sandbox of each test has an origin of its own. */
  origin: boolean;
  scenarios: ScenarioName[];
  /** The scenario's rules, if the server does not have its file; then `scenarios` is empty. */
  rules: RuleDefinition[];
}

export interface SuiteTest {
  /** The same for each attempt of a test that its runner retries; absent if the runner has no such id. */
  id?: string | undefined;
  name: string;
  sandbox: string;
  outcome: "passed" | "failed" | "retried";
}

/** Reads what a suite shares with this test runner. `recordTest` reports a test to it. Undefined outside of a suite. */
export function readSuiteShare(): { share: SuiteShare; recordTest: (test: SuiteTest) => void } | undefined {
  const file = process.env[SUITE_FILE_VARIABLE];
  if (!file) return undefined;
  return {
    share: JSON.parse(readFileSync(file, "utf8")) as SuiteShare,
    // Each test appends one short line, so that lines of parallel workers do not mix.
    recordTest: (test) => appendFileSync(`${file}.tests`, `${JSON.stringify(test)}\n`),
  };
}

/** The files of one run of a scenario: the `SuiteShare` that `readSuiteShare` reads, and the results of the tests. */
export class ShareFile {
  readonly path: string;
  private readonly folder = mkdtempSync(join(tmpdir(), "understudy-suite-"));

  constructor(share: SuiteShare) {
    this.path = join(this.folder, "suite.json");
    writeFileSync(this.path, JSON.stringify(share), { mode: 0o600 });
    writeFileSync(`${this.path}.tests`, "", { mode: 0o600 });
  }

  /** The results of the tests, in the order in which they ended. */
  listTests(): SuiteTest[] {
    const lines = readFileSync(`${this.path}.tests`, "utf8").split("\n");
    const tests = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as SuiteTest);
    const lastAttempts = new Map(tests.map((test) => [test.id, test]));
    return tests.map((test) =>
      test.id === undefined || lastAttempts.get(test.id) === test ? test : { ...test, outcome: "retried" },
    );
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
