import { CATALOGUE, type ErrorCode } from "../contract/errors.ts";
import { type AnyOperation, errorCodesOf, type Method, successesOf } from "../contract/operation.ts";
import type { OutcomeCounts } from "../sandbox/outcome-counts.ts";

export interface CoveredOutcome {
  status: number;
  /** Null for a success. */
  code: ErrorCode | null;
  hits: number;
}

export interface CoveredOperation {
  operation: string;
  section: string;
  method: Method;
  path: string;
  /** Documented outcomes that were seen, of all, as a percentage with one decimal. */
  percent: number;
  outcomes: CoveredOutcome[];
  /** What was answered without being documented: bare 5xx of faults, and `0` for no answer at all. */
  other: { outcome: string; hits: number }[];
}

/** Operations by their documented outcomes, with hits (interfaces 4). */
export interface CoverageMatrix {
  percent: number;
  covered: number;
  total: number;
  operations: CoveredOperation[];
}

/** A pure function of the declarations and of what one sandbox has answered. */
export function coverageMatrix(operations: readonly AnyOperation[], counts: OutcomeCounts): CoverageMatrix {
  const rows = operations.map((operation) => coveredOperation(operation, counts));
  const outcomes = rows.flatMap((row) => row.outcomes);
  const covered = outcomes.filter(({ hits }) => hits > 0).length;
  return { percent: percentage(covered, outcomes.length), covered, total: outcomes.length, operations: rows };
}

function coveredOperation(operation: AnyOperation, counts: OutcomeCounts): CoveredOperation {
  const hits = counts.of(operation);
  const outcomes: CoveredOutcome[] = [
    ...successesOf(operation).map(({ status }) => ({ status, code: null, hits: hits.get(status) ?? 0 })),
    ...errorCodesOf(operation)
      .map((code) => ({ status: CATALOGUE[code].status as number, code, hits: hits.get(code) ?? 0 }))
      .sort((a, b) => a.status - b.status),
  ];
  const documented = new Set<string | number>(outcomes.map(({ status, code }) => code ?? status));
  const other = [...hits].filter(([outcome]) => !documented.has(outcome));
  return {
    operation: operation.id,
    section: operation.section,
    method: operation.method,
    path: operation.path,
    percent: percentage(outcomes.filter((one) => one.hits > 0).length, outcomes.length),
    outcomes,
    other: other.map(([outcome, count]) => ({ outcome: String(outcome), hits: count })),
  };
}

/** Rounded down, so that only full coverage is called 100. */
function percentage(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.floor((part / whole) * 1000) / 10;
}
