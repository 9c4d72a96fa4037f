import { BaseUrlError, readBaseUrl } from "../../exchanges/base-url.ts";
import { type HarFacts, readHar } from "../../exchanges/read-har.ts";
import type { Contract } from "../contract.ts";
import type { VerifyReport } from "../report.ts";
import { TargetUnusable, VerifyUsageError } from "../run-verify.ts";
import { assumptionsOf, summaryOf } from "../summary.ts";
import { findBase } from "./find-base.ts";
import { Judging } from "./judging.ts";
import { OperationPaths } from "./operation-paths.ts";
import { readEntry } from "./read-entry.ts";

export interface RecordedOptions {
  contract: Contract;
  /** An HTTP Archive 1.2, of any length. */
  file: string;
  /** Base URL of the service; undefined: the one that most of the archive's requests have. */
  target: string | undefined;
}

/**
 * interfaces 12: judges recorded answers by the contract and sends nothing. The archive is read twice, first to
 * find out which of its requests are the service's.
 * @throws VerifyUsageError, HarError; TargetUnusable where nothing in it is of this API
 */
export async function verifyRecorded({ contract, file, target }: RecordedOptions): Promise<VerifyReport> {
  const started = performance.now();
  const began = new Date();
  const paths = new OperationPaths(contract.operations);
  const given = target === undefined ? undefined : baseOf(target);
  const { base, facts, complete } = await findBase(file, paths, given);
  if (base === undefined) throw new TargetUnusable(nothingOf(file, facts, given));
  const judging = new Judging(contract, { paths, base, complete });
  await readHar(file, (entry) => judging.add(readEntry(entry, { exact: facts.creator !== "Understudy" })));
  if (judging.counts.judged === 0) throw new TargetUnusable(nothingOf(file, facts, base));
  const checks = judging.reports();
  const summary = summaryOf(checks);
  return {
    ...{ target: base, organization_id: judging.organization_id, write: false },
    started_at: began.toISOString(),
    duration_ms: Math.round(performance.now() - started),
    recorded: { file, creator: facts.creator, entries: facts.entries, ...judging.counts },
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

function nothingOf(
  file: string,
  { entries, hosts }: HarFacts & { hosts: readonly string[] },
  base?: string,
): string {
  if (entries === 0) return `${file} holds no entries, so there is nothing to judge`;
  const [first] = hosts;
  const whose = first === undefined ? "" : `, most of them of ${first}`;
  const under = base === undefined ? "this API" : `${base} that belongs to this API and was answered`;
  return `${file} holds no request of ${under}; its ${entries} entries are others'${whose}`;
}
