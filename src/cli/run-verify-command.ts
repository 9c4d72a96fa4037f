import { setTimeout as wait } from "node:timers/promises";
import packageJson from "../../package.json" with { type: "json" };
import { RESOURCES } from "../engine/resources/index.ts";
import { HarError } from "../tools/har/read-har.ts";
import { Contract } from "../tools/verify/contract.ts";
import { verifyRecorded } from "../tools/verify/recorded/verify-recorded.ts";
import type { VerifyReport } from "../tools/verify/report.ts";
import {
  runVerify,
  TargetUnusable,
  type VerifyOptions,
  VerifyUsageError,
} from "../tools/verify/run-verify.ts";
import { readUses, UseError } from "../tools/verify/uses.ts";
import { verifyHtml, verifyJunit } from "../tools/verify/verify-report.ts";
import { CheckFailed, EXIT_FAILED, UsageError } from "./failure.ts";
import { type ReportKind, reportFiles, writeReports } from "./new-files.ts";
import { isInteractive, print } from "./output.ts";
import { untilStopped } from "./until-ended.ts";
import { verifyProgress } from "./verify-progress.ts";
import { verifyText } from "./verify-text.ts";

export interface VerifyCommandOptions {
  target: string | undefined;
  key: string | undefined;
  har: string | undefined;
  write: boolean;
  use: string[] | undefined;
  report: string[] | undefined;
  timeout: number;
  json: boolean;
}

/** `verify`: loaded by itself, since it brings the whole contract along. */
export async function runVerifyCommand(options: VerifyCommandOptions): Promise<void> {
  if (!(options.timeout > 0)) throw new UsageError("--timeout takes seconds");
  const reports = reportFiles(options.report);
  refuseMixture(options);
  // What this version of the emulator declares.
  const contract = new Contract(RESOURCES);
  try {
    const uses = readUses(options.use ?? [], contract.names);
    const result =
      options.har === undefined
        ? // The first Ctrl-C ends the checks, lets what was changed be put back, and still gives the report.
          await untilStopped((signal) => run({ contract, options, uses, signal }))
        : await verifyRecorded({ contract, file: options.har, target: options.target });
    show(result, options, reports);
  } catch (error) {
    if ([VerifyUsageError, UseError, HarError].some((kind) => error instanceof kind))
      throw new UsageError((error as Error).message);
    if (error instanceof TargetUnusable) throw new CheckFailed(error.message);
    throw error;
  }
}

/** @throws UsageError */
function refuseMixture({ har, target, key, write, use }: VerifyCommandOptions): void {
  if (har === undefined) {
    if (target === undefined || key === undefined)
      throw new UsageError("verify needs --target and --key, or --har FILE for what was recorded");
    return;
  }
  for (const [name, given] of Object.entries({ key, write: write || undefined, use }))
    if (given !== undefined) throw new UsageError(`--har sends nothing, so --${name} does not go with it`);
}

interface Asked {
  contract: Contract;
  options: VerifyCommandOptions;
  uses: NonNullable<VerifyOptions["uses"]>;
  signal: AbortSignal;
}

async function run({ contract, options, uses, signal }: Asked): Promise<VerifyReport> {
  const live = !options.json && isInteractive(process.stderr);
  const progress = verifyProgress(process.stderr, live);
  try {
    return await runVerify({
      contract,
      ...{ target: options.target!, key: options.key!, write: options.write, uses, signal },
      timeoutMs: options.timeout * 1000,
      version: packageJson.version,
      wait: async (milliseconds, stop) => {
        progress.waiting(milliseconds);
        await wait(milliseconds, undefined, { signal: stop });
      },
      onStart: (check, place) => progress.start(check, place),
      onEnd: (report) => progress.end(report),
    });
  } finally {
    progress.close();
  }
}

function show(
  result: VerifyReport,
  { json }: VerifyCommandOptions,
  reports: Partial<Record<ReportKind, string>>,
): void {
  writeReports(reports, { junit: () => verifyJunit(result), html: () => verifyHtml(result) });
  print(json, result, verifyText(result));
  if (result.verdict === "fail") process.exitCode = EXIT_FAILED;
}
