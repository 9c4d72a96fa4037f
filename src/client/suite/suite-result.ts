import { pluralize } from "../../engine/contract/text.ts";
import { formatRequestLine } from "../evidence.ts";
import type { SandboxClient } from "../sandbox.ts";
import type { SuiteTest } from "../suite-share.ts";
import type { CoverageMatrix, JournalEntry } from "../types.ts";

export interface RuleOutcome {
  id: string;
  hits: number;
}

export interface ExpectationOutcome {
  /** The expectation in words. */
  what: string;
  ok: boolean;
  /** How many were found; absent for a check of the client. */
  found?: number;
  /** Why it is not met, with the nearest request. */
  why?: string;
  /** Set for a check of the client that the requests did not show. */
  unclear?: true;
}

/** `inconclusive`: the run never reached the stage, or the stage has not ended, or no request showed what it checks. */
type StageVerdict = "passed" | "failed" | "inconclusive";

/** The result of one stage of a scenario (interfaces.md 21). */
export interface StageResult {
  name: string;
  verdict: StageVerdict;
  /** One sentence each; empty if it passed. */
  why: string[];
  requests: number;
  rules: RuleOutcome[];
  expectations: ExpectationOutcome[];
}

/** A request, with the test in whose sandbox it was made; null in the suite's own. */
export type SuiteRequest = JournalEntry & { test: string | null };

/** The number of documented outcomes that all sandboxes of the suite have seen together. */
type SuiteCoverage = Pick<CoverageMatrix, "percent" | "covered" | "total">;

export interface ScenarioResult {
  name: string;
  file: string;
  description: string;
  sandbox: string;
  /** `error`: it could not be run or judged. `skipped`: the suite was interrupted before it began. */
  outcome: "passed" | "failed" | "error" | "skipped";
  /** One sentence each; when it passed, only that its sandboxes could not be deleted. */
  failures: string[];
  /** Exit code of the command; null if a signal ended it or it never ran. */
  exit_code: number | null;
  signal: string | null;
  duration_ms: number;
  rules: RuleOutcome[];
  expectations: ExpectationOutcome[];
  /** Empty unless the scenario has stages. */
  stages: StageResult[];
  /** For all its sandboxes: the suite's own, and those of the tests that used the test-runner fixtures. */
  requests: number;
  /** The command's tests that used the test-runner fixtures, in the order in which they ended. */
  tests: SuiteTest[];
  /** The end of the command's output. */
  output: string;
  /** Oldest first, sandbox by sandbox; of failed runs only. */
  journal: SuiteRequest[];
  /** For `understudy replay`; of failed runs only, and only if the sandbox can be replayed. */
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

/** A request on one line, as reports show it. */
export function formatJournalLine(entry: SuiteRequest): string {
  const { request, test } = entry;
  return (
    formatRequestLine(entry, request.query && `?${request.query}`) + (test === null ? "" : ` in ${test}`)
  );
}

export function formatRule({ id, hits }: RuleOutcome): string {
  if (hits === 0) return `${id}: never triggered`;
  return `${id}: triggered ${hits === 1 ? "once" : `${hits} times`}`;
}

export function formatExpectation({ what, ok, found, why, unclear }: ExpectationOutcome): string {
  const detail = found === undefined ? (why ?? "") : `found ${found}`;
  const unmet = unclear ? "not shown" : "not met";
  return `${ok ? "met" : unmet}: ${what}${detail && `; ${detail}`}`;
}

export function formatStage({ name, verdict, why, requests }: StageResult): string {
  return `${verdict}: ${name}, ${pluralize(requests, "request")}${why.length === 0 ? "" : `; ${why.join("; ")}`}`;
}

export function formatTest({ name, outcome }: SuiteTest): string {
  return `${outcome}: ${name}`;
}

/** Adds up the coverage of sandboxes that are deleted before the suite ends. */
export class CoverageSum {
  private readonly seenOutcomes = new Set<string>();
  private readonly allOutcomes = new Set<string>();

  async add(sandbox: SandboxClient): Promise<void> {
    const { operations }: CoverageMatrix = await sandbox.coverage();
    for (const { operation, outcomes } of operations) {
      for (const { status, code, hits } of outcomes) {
        const outcome = `${operation} ${code ?? status}`;
        this.allOutcomes.add(outcome);
        if (hits > 0) this.seenOutcomes.add(outcome);
      }
    }
  }

  /** The percentage has one decimal, rounded down, so that only full coverage is called 100. */
  sum(): SuiteCoverage {
    const [covered, total] = [this.seenOutcomes.size, this.allOutcomes.size];
    return { percent: total === 0 ? 0 : Math.floor((covered / total) * 1000) / 10, covered, total };
  }
}

export function formatCoverage({ percent, covered, total }: SuiteCoverage): string {
  return `${covered} of ${total} documented outcomes (${percent} %)`;
}
