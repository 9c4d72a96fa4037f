import { BaseUrlError, readBaseUrl } from "../../har/base-url.ts";
import type { Contract } from "../contract.ts";
import type { VerifyReport } from "../report.ts";
import { VerifyUsageError } from "../run-verify.ts";
import { assumptionsOf, summaryOf } from "../summary.ts";
import { eachExchange } from "./each-exchange.ts";
import { Judging } from "./judging.ts";

export interface RecordedOptions {
  contract: Contract;
  /** An HTTP Archive 1.2, of any length. */
  file: string;
  /** Base URL of the service; undefined: the one that most of the archive's requests have. */
  target: string | undefined;
}

/**
 * interfaces 12: judges recorded answers by the contract and sends nothing.
 * @throws VerifyUsageError, HarError; TargetUnusable where nothing in it is of this API
 */
export async function verifyRecorded(options: RecordedOptions): Promise<VerifyReport> {
  const { contract, file, target } = options;
  const started = performance.now();
  const began = new Date();
  let judging!: Judging;
  const wanted = { contract, file, target: target === undefined ? undefined : baseOf(target) };
  const { base, creator, entries } = await eachExchange(wanted, ({ complete }) => {
    judging = new Judging(contract, { complete });
    return judging;
  });
  const checks = judging.reports();
  const summary = summaryOf(checks);
  return {
    ...{ target: base, organization_id: judging.organization_id, write: false },
    started_at: began.toISOString(),
    duration_ms: Math.round(performance.now() - started),
    console: null,
    recorded: { file, creator, entries, ...judging.counts },
    verdict: summary.failed === 0 ? "pass" : "fail",
    stopped: null,
    requests: judging.counts.judged,
    summary,
    changes: [],
    assumptions: assumptionsOf(checks, judging.verdicts()),
    checks,
  };
}

/** @throws VerifyUsageError */
function baseOf(target: string): string {
  try {
    return readBaseUrl(target);
  } catch (error) {
    throw error instanceof BaseUrlError ? new VerifyUsageError(error.message) : error;
  }
}
