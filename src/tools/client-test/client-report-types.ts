import type { JournalEntry } from "../../../types/control-api.ts";
import type { CheckOutcome, CheckResult, countOutcomes } from "../checks/run-checks.ts";

export interface RunProgress {
  /** From 1; the first has no injected failures. */
  run: number;
  of: number;
  /** Ids of the checks that need the run. */
  checks: readonly string[];
  /** Grades the requests so far: the provisional result of each check. */
  observe: () => Promise<ClientCheckReport[]>;
}

export interface GradeClientOptions {
  /** Checks to run, by id; all unless given. */
  only?: readonly string[] | undefined;
  /** Checks to leave out, by id. */
  skip?: readonly string[] | undefined;
  /** Wall milliseconds that one run may take; 20,000 unless given. */
  timeoutMs?: number | undefined;
  /** Stops the grading before its next run, and the run under way. */
  signal?: AbortSignal | undefined;
  /** Export the sandbox after each run that failed a check, for the HTML report. */
  exportFailed?: boolean | undefined;
  onRun?: ((progress: RunProgress) => void) | undefined;
}

/**
 * Runs the client once; resolves when it has ended. A rejection is an error that its user would see. The signal aborts
 * when the time has run out.
 */
export type RunClient = (signal: AbortSignal) => Promise<unknown>;

export type ClientOutcome = Extract<CheckOutcome, "passed" | "failed" | "not-observable">;
/** `warning`: good practice; does not fail the client. */
export type ClientSeverity = "error" | "warning";

export interface ClientCheckReport extends CheckResult<ClientOutcome> {
  severity: ClientSeverity;
  why: string;
  advice: string;
  /** The requests that show it, as the timeline has them. */
  evidence: readonly JournalEntry[];
}

export interface ClientReport {
  /** `not-graded`: the client made no request, or the test did not get to its end; `stopped` says why. */
  verdict: "pass" | "fail" | "not-graded";
  stopped: string | null;
  summary: ReturnType<typeof countOutcomes>;
  /** Each failed check in one line, warnings too. */
  failures: readonly string[];
  runs: number;
  /** Requests of the first run, which has no injected failures. */
  requests: number;
  duration_ms: number;
  checks: readonly ClientCheckReport[];
  /** Sandboxes after runs that failed a check, by the check's id. */
  exports: Readonly<Record<string, Uint8Array>>;
}
