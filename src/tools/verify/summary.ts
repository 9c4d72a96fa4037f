import { ASSUMPTIONS } from "../../engine/contract/assumptions/index.ts";
import type { AssumptionReport, CheckReport, VerifyReport } from "./report.ts";
import type { Verdict } from "./verdict.ts";

export function summaryOf(checks: readonly CheckReport[]): VerifyReport["summary"] {
  const count = (outcome: CheckReport["outcome"]) => checks.filter((one) => one.outcome === outcome).length;
  return {
    total: checks.length,
    passed: count("passed"),
    failed: count("failed"),
    differs: count("differs"),
    not_observable: count("not-observable"),
  };
}

/** The assumptions that came up, with how often they fitted. */
export function assumptionsOf(
  checks: readonly CheckReport[],
  verdicts: Iterable<Pick<Verdict, "confirmed">>,
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
