import type { SuiteTest } from "../suite-share.ts";
import type { JournalEntry } from "../types.ts";

export interface RuleOutcome {
  id: string;
  hits: number;
}

export interface ExpectationOutcome {
  /** The expectation in words. */
  what: string;
  ok: boolean;
  found: number;
  /** Why it is not met, with the nearest request. */
  why?: string;
}

/** A request, with the test in whose sandbox it was made; null in the suite's own. */
export type SuiteRequest = JournalEntry & { test: string | null };

/** Of the documented outcomes, how many all sandboxes of the suite have seen together. */
export interface SuiteCoverage {
  percent: number;
  covered: number;
  total: number;
}

/** What became of one scenario. */
export interface ScenarioResult {
  name: string;
  file: string;
  description: string;
  sandbox: string;
  /** `skipped`: the suite was interrupted before it began. */
  outcome: "passed" | "failed" | "error" | "skipped";
  /** One sentence each; empty when it passed. */
  failures: string[];
  /** Of the command; null when a signal ended it or it never ran. */
  exit_code: number | null;
  signal: string | null;
  duration_ms: number;
  rules: RuleOutcome[];
  expectations: ExpectationOutcome[];
  /** Of all its sandboxes: the suite's own, and those of the tests that used the runner fixtures. */
  requests: number;
  /** Those of the command that used the runner fixtures, in the order in which they ended. */
  tests: SuiteTest[];
  /** What the command printed, the end of it when it was long. */
  output: string;
  /** Oldest first, sandbox by sandbox; of failed runs only. */
  journal: SuiteRequest[];
  /** For `understudy replay`; of failed runs only, and where the sandbox can be replayed. */
  bundle?: object;
}

export interface SuiteResult {
  ok: boolean;
  total: number;
  passed: number;
  failed: number;
  /** Never begun. */
  skipped: number;
  duration_ms: number;
  command: string[];
  coverage: SuiteCoverage;
  scenarios: ScenarioResult[];
}
