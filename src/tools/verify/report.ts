import { ASSUMPTIONS } from "../../engine/contract/assumptions/index.ts";
import { type CheckOutcome, type CheckResult, countOutcomes } from "../checks/frame.ts";

/** `differs`: the reference is silent, and the service does something else than we assume; not a failure. */
export type Outcome = Exclude<CheckOutcome, "error">;

export type Family = "credentials" | "answers" | "refusals" | "headers" | "writes";

export interface SentRequest {
  method: string;
  /** With the query, as sent. */
  path: string;
  /** 0: no well-formed answer. */
  status: number;
  request_id: string | null;
}

export interface CheckReport extends CheckResult<Outcome> {
  family: Family;
  /** Of the reference, or the assumption that fills its gap. */
  section: string;
  /** Departures from the reference. */
  failures: string[];
  /** Departures from assumptions only. */
  differences: { assumption: string; detail: string }[];
  /** Why it could not be observed. */
  not_observed: string[];
  /** Worth knowing, but without effect on the outcome. */
  notes: string[];
  requests: SentRequest[];
}

export interface AssumptionReport {
  id: string;
  topic: string;
  /** How often a judgement that rests on it fitted. */
  confirmed: number;
  differs: number;
}

/** The entries of an archive, judged or not. */
export interface RecordedReport {
  file: string;
  /** The program that wrote it. */
  creator: string;
  entries: number;
  judged: number;
  /** Entries of other hosts, or outside the base URL. */
  other_hosts: number;
  /** Entries below the base URL that match no operation. */
  unknown_paths: number;
  /** Entries of operations that were not judged: the number for each reason. */
  not_judged: Record<string, number>;
  /** Ids of the operations that occur. */
  operations: string[];
}

export interface VerifyReport {
  /** The base URL; for an archive, that of its requests. */
  target: string;
  /** Where an Understudy's console shows the requests while it runs; null for other services. */
  console: string | null;
  /** The archive that was judged instead of a live service, or null. */
  recorded: RecordedReport | null;
  /** The key's, as the answers say. */
  organization_id: string | null;
  write: boolean;
  started_at: string;
  duration_ms: number;
  verdict: "pass" | "fail";
  /** Why the run ended before its last check, or null. */
  stopped: string | null;
  requests: number;
  summary: { total: number; passed: number; failed: number; differs: number; not_observable: number };
  /** Changes made with `--write`, and whether they were undone. */
  changes: { done: string; undone: boolean; detail: string }[];
  /** Those that were judged, in their order. */
  assumptions: AssumptionReport[];
  checks: CheckReport[];
}

export function summarize(checks: readonly CheckReport[]): VerifyReport["summary"] {
  const { error: _, ...summary } = countOutcomes(checks);
  return summary;
}

/** The assumptions that were judged, with how often they fitted. */
export function countAssumptions(
  checks: readonly CheckReport[],
  verdicts: Iterable<{ confirmed: ReadonlyMap<string, number> }>,
): AssumptionReport[] {
  const confirmed = new Map<string, number>();
  for (const verdict of verdicts)
    for (const [id, times] of verdict.confirmed) confirmed.set(id, (confirmed.get(id) ?? 0) + times);
  const differences = checks.flatMap((one) => one.differences.map(({ assumption }) => assumption));
  return ASSUMPTIONS.map(({ id, topic }) => ({
    id,
    topic,
    confirmed: confirmed.get(id) ?? 0,
    differs: differences.filter((one) => one === id).length,
  })).filter((one) => one.confirmed + one.differs > 0);
}
