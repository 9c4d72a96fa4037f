import type { JunitCase } from "../reports/junit.ts";

/** How a check ended. `not-observable` proves nothing, and never counts as passed. */
export type CheckOutcome = "passed" | "failed" | "differs" | "not-observable" | "error";

/**
 * One requirement for a webhook receiver, a service or a client. A check sends requests with its context and reads the
 * results. Families add fields of their own, such as a severity or a section.
 */
export interface Check<Context, Finding> {
  id: string;
  title: string;
  /** Only reads what earlier checks exchanged, so it runs even after the run was stopped. */
  sendsNothing?: true;
  run(context: Context): Promise<Finding> | Finding;
}

/** The fields that every family's report of a check has. */
export interface CheckResult<O extends CheckOutcome = CheckOutcome> {
  id: string;
  title: string;
  outcome: O;
  duration_ms: number;
}

interface RunSteps<C, Finding, Report> {
  /** `index` counts from 0. */
  onStart?: ((check: C, position: { index: number; total: number }) => void) | undefined;
  onEnd?: ((report: Report) => void) | undefined;
  run: (check: C) => Promise<Finding>;
  /** The finding for a check that is left out because the run was stopped. */
  skip: (check: C, reason: string) => Finding;
  report: (check: C, finding: Finding, durationMs: number) => Report;
  /** Why the run cannot go on after this check; null if it can. */
  findReasonToStop: (check: C) => Promise<string | null> | string | null;
}

/** Runs checks one after the other until one gives a reason to stop; the others are then reported as left out. */
export async function runChecks<C extends { sendsNothing?: true }, Finding, Report>(
  checks: readonly C[],
  steps: RunSteps<C, Finding, Report>,
): Promise<{ reports: Report[]; stopped: string | null }> {
  const reports: Report[] = [];
  let stopped: string | null = null;
  for (const [index, check] of checks.entries()) {
    steps.onStart?.(check, { index, total: checks.length });
    const started = performance.now();
    const finding =
      stopped !== null && !check.sendsNothing ? steps.skip(check, stopped) : await steps.run(check);
    const report = steps.report(check, finding, performance.now() - started);
    reports.push(report);
    steps.onEnd?.(report);
    stopped ??= await steps.findReasonToStop(check);
  }
  return { reports, stopped };
}

/** For a line in a terminal, the worst outcome first; colours are ANSI codes. */
export const OUTCOME_MARKS: Readonly<Record<CheckOutcome, { mark: string; colour: number }>> = {
  failed: { mark: "FAIL", colour: 31 },
  error: { mark: "ERR ", colour: 35 },
  differs: { mark: "diff", colour: 33 },
  "not-observable": { mark: " ?  ", colour: 33 },
  passed: { mark: "pass", colour: 32 },
};

export const WORST_FIRST = Object.keys(OUTCOME_MARKS) as CheckOutcome[];

export function sortWorstFirst<R extends { outcome: CheckOutcome }>(results: readonly R[]): R[] {
  return results.toSorted((a, b) => WORST_FIRST.indexOf(a.outcome) - WORST_FIRST.indexOf(b.outcome));
}

/** The outcome in words: `not observable`. */
export function nameOutcome(outcome: CheckOutcome): string {
  return outcome.replace("-", " ");
}

export function countOutcomes(results: readonly { outcome: CheckOutcome }[]) {
  const count = (outcome: CheckOutcome) => results.filter((one) => one.outcome === outcome).length;
  return {
    total: results.length,
    passed: count("passed"),
    failed: count("failed"),
    differs: count("differs"),
    not_observable: count("not-observable"),
    error: count("error"),
  };
}

/** A check as a JUnit test case. A check that differs from an assumption passes; `output` says how. */
export function toJunitCase(
  { outcome, duration_ms }: CheckResult,
  about: {
    name: string;
    classname: string;
    /** The finding in one line, and in full. */
    message: string;
    detail: string;
    output?: string | undefined;
    /** Why a failure does not fail the run; ignored for other outcomes. */
    failureToleratedBecause?: string | undefined;
  },
): JunitCase {
  const { name, classname, message, detail, output, failureToleratedBecause } = about;
  const testCase: JunitCase = { name, classname, time_seconds: duration_ms / 1000 };
  if (outcome === "failed" && failureToleratedBecause === undefined) testCase.failure = { message, detail };
  if (outcome === "failed" && failureToleratedBecause !== undefined)
    testCase.skipped = `${failureToleratedBecause}: ${message}`;
  if (outcome === "error") testCase.error = { message, detail };
  if (outcome === "not-observable") testCase.skipped = message;
  if (output) testCase.system_out = output;
  return testCase;
}
