import type { JournalEntry } from "../client/types.ts";

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
  requests: number;
  /** What the command printed, the end of it when it was long. */
  output: string;
  /** Oldest first; of failed runs only. */
  journal: JournalEntry[];
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
  scenarios: ScenarioResult[];
}
