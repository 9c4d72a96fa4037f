import { appendFileSync, readFileSync } from "node:fs";
import type { ClockChange, FixtureInput, RuleDefinition, ScenarioName } from "./types.ts";

/** The environment's name for the file with which a suite tells the runner fixtures of itself. */
export const SUITE_FILE = "UNDERSTUDY_SUITE_FILE";

/** The start of each test in a suite's command: the world and the scenario of the suite's sandbox. */
export interface SuiteShare {
  sandbox: string;
  world: { fixture?: FixtureInput; seed?: number; clock?: ClockChange };
  scenarios: ScenarioName[];
  /** Of a scenario whose file the server does not have. */
  rules: RuleDefinition[];
}

/** The result of a test that ran in a suite. */
export interface SuiteTest {
  name: string;
  sandbox: string;
  outcome: "passed" | "failed";
}

/** Sandboxes of a suite's tests are called like the suite's own, so that it finds them, counts what they saw and deletes them. */
export function isOfSuite(name: string, sandbox: string): boolean {
  return name === sandbox || name.startsWith(`${sandbox}--`);
}

/** Undefined outside of a suite. */
export function suiteShare(): { share: SuiteShare; note: (test: SuiteTest) => void } | undefined {
  const file = process.env[SUITE_FILE];
  if (!file) return undefined;
  return {
    share: JSON.parse(readFileSync(file, "utf8")) as SuiteShare,
    // One short line at a time, so that workers do not write into each other's.
    note: (test) => appendFileSync(`${file}.tests`, `${JSON.stringify(test)}\n`),
  };
}

/** The results of the tests, in the order in which they ended. */
export function notedTests(file: string): SuiteTest[] {
  let text: string;
  try {
    text = readFileSync(`${file}.tests`, "utf8");
  } catch {
    return [];
  }
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as SuiteTest);
}
