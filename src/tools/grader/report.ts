import type { Unseen } from "./unseen.ts";

/** From the least to the worst. */
export const SEVERITIES = ["minor", "major", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** `not-observable` means that nothing was proven either way; it never stands in for a pass. */
export type Outcome = "passed" | "failed" | "not-observable" | "error";

/** How the detail of a check begins that was left out because an earlier one ended the grading. */
export const NOT_RUN = "Not run. ";

export interface ReportedRequest {
  method: string;
  url: string;
  /** In the order and letter case in which they were sent. */
  headers: [name: string, value: string][];
  /** Long bodies are abbreviated here; `curl` rebuilds every byte. */
  body: string;
  body_bytes: number;
}

export interface CheckReport {
  id: string;
  title: string;
  severity: Severity;
  why: string;
  outcome: Outcome;
  detail: string;
  /** What to change when the check fails. */
  advice: string;
  /** Worth knowing, but no reason to fail the receiver. */
  note: string | null;
  duration_ms: number;
  request: ReportedRequest | null;
  curl: string | null;
}

export interface ReceiverReport {
  url: string;
  probe: string | null;
  started_at: string;
  duration_ms: number;
  verdict: "pass" | "fail";
  /** The least severity whose failure fails the receiver. */
  fail_on: Severity;
  /** Why grading ended before the last check, or null when every check ran. */
  stopped: string | null;
  summary: { total: number; passed: number; failed: number; not_observable: number; error: number };
  checks: CheckReport[];
  /** What no grading from outside can show. */
  unseen: Unseen[];
}

/** Whether the check's failure is one that fails the receiver. */
export function isGrave({ severity }: Pick<CheckReport, "severity">, failOn: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(failOn);
}
