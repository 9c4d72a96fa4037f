/**
 * `differs`: the reference is silent there and the service does something else than we assume; told, not
 * failed. `not-observable`: nothing was proven either way; it never stands in for a pass.
 */
export type Outcome = "passed" | "failed" | "differs" | "not-observable";

export type Family = "credentials" | "answers" | "refusals" | "headers" | "writes";

export interface SentRequest {
  method: string;
  /** With the query, as it was sent. */
  path: string;
  /** 0: no well-formed answer. */
  status: number;
  request_id: string | null;
}

export interface CheckReport {
  /** Such as `usage.retrieve_limits/month`. */
  id: string;
  family: Family;
  /** The section of the reference, or the assumption that stands where the reference is silent. */
  section: string;
  title: string;
  outcome: Outcome;
  /** What departs from the reference. */
  failures: string[];
  /** What departs from an assumption only. */
  differences: { assumption: string; detail: string }[];
  /** Why it could not be observed. */
  not_observed: string[];
  /** Worth knowing, no reason for anything. */
  notes: string[];
  duration_ms: number;
  requests: SentRequest[];
}

export interface AssumptionReport {
  id: string;
  topic: string;
  /** How often something that rests on it was judged and fitted. */
  confirmed: number;
  differs: number;
}

/** What an archive held besides what was judged. */
export interface RecordedReport {
  file: string;
  /** Who wrote it. */
  creator: string;
  entries: number;
  judged: number;
  /** Of other hosts, or outside the base URL. */
  other_hosts: number;
  /** Of the base URL, and no operation's. */
  unknown_paths: number;
  /** Of operations, and not judged: how many for which reason. */
  not_judged: Record<string, number>;
  /** Ids of the operations that were seen. */
  operations: string[];
}

export interface VerifyReport {
  /** The base URL; of an archive the one that its requests have. */
  target: string;
  /** Of an Understudy: where its console shows the requests, while it runs; null elsewhere. */
  console: string | null;
  /** Of an archive that was judged in place of a service; null where one was asked. */
  recorded: RecordedReport | null;
  /** Of the key, as the answers say. */
  organization_id: string | null;
  write: boolean;
  started_at: string;
  duration_ms: number;
  verdict: "pass" | "fail";
  /** Why the run ended before its last check, or null. */
  stopped: string | null;
  requests: number;
  summary: { total: number; passed: number; failed: number; differs: number; not_observable: number };
  /** With `--write`: what was done and whether it was undone. */
  changes: { done: string; undone: boolean; detail: string }[];
  /** Those that came up, in their order. */
  assumptions: AssumptionReport[];
  checks: CheckReport[];
}
