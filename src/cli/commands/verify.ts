import type { CommandModule } from "yargs";
import packageJson from "../../../package.json" with { type: "json" };
import type { Contract } from "../../verify/contract.ts";
import type { VerifyReport } from "../../verify/report.ts";
import type { VerifyOptions } from "../../verify/run-verify.ts";
import { CheckFailed, EXIT_FAILED, UsageError } from "../failure.ts";
import { isInteractive, print } from "../output.ts";
import { type ReportKind, reportFiles, writeReports } from "../report-files.ts";

interface Options {
  target: string | undefined;
  key: string | undefined;
  har: string | undefined;
  write: boolean;
  use: string[] | undefined;
  report: string[] | undefined;
  timeout: number;
  json: boolean;
}

export const verifyCommand: CommandModule<object, Options> = {
  command: "verify",
  describe: "Run the portable contract suite against any base URL, as the key's user",
  builder: (argv) =>
    argv
      .option("target", {
        type: "string",
        requiresArg: true,
        describe: "Base URL of an Understudy or of the real service, without the version",
      })
      .option("key", {
        type: "string",
        requiresArg: true,
        describe: "API key; the suite acts as its user",
      })
      .option("har", {
        type: "string",
        requiresArg: true,
        describe: "HTTP Archive to judge instead; sends nothing",
      })
      .option("write", {
        type: "boolean",
        default: false,
        describe: "Also what changes something; without it nothing is changed",
      })
      .option("use", {
        type: "string",
        array: true,
        requiresArg: true,
        describe: "NAME=ID of what cannot be found by asking, or a YAML file of them; repeatable",
      })
      .option("report", {
        type: "string",
        array: true,
        requiresArg: true,
        describe: "junit=FILE and html=FILE, repeatable or comma-separated",
      })
      .option("timeout", {
        type: "number",
        default: 600,
        requiresArg: true,
        describe: "Seconds that the whole run may take",
      })
      .example("$0 verify --target http://127.0.0.1:4747 --key ak_… --write", "An Understudy, in full")
      .example(
        "$0 verify --target https://api.example.com --key ak_… --use transcription_id=trans_… --report html=out.html",
        "The real service, reading only",
      )
      .example("$0 verify --har traffic.har", "What somebody recorded of it") as never,
  async handler(options) {
    if (!(options.timeout > 0)) throw new UsageError("--timeout takes seconds");
    const reports = reportFiles(options.report);
    refuseMixture(options);
    const { HarError, readUses, runVerify, TargetUnusable, UseError, VerifyUsageError } = await import(
      "../../verify/index.ts"
    );
    const contract = await declared();
    try {
      const uses = readUses(options.use ?? [], contract.names);
      const result =
        options.har === undefined
          ? await withSignals((signal) => run(runVerify, { contract, options, uses, signal }))
          : await judge(options.har, { contract, target: options.target });
      await show(result, options, reports);
    } catch (error) {
      if ([VerifyUsageError, UseError, HarError].some((kind) => error instanceof kind))
        throw new UsageError((error as Error).message);
      if (error instanceof TargetUnusable) throw new CheckFailed(error.message);
      throw error;
    }
  },
};

/** @throws UsageError */
function refuseMixture({ har, target, key, write, use }: Options): void {
  if (har === undefined) {
    if (target === undefined || key === undefined)
      throw new UsageError("verify needs --target and --key, or --har FILE for what was recorded");
    return;
  }
  for (const [name, given] of Object.entries({ key, write: write || undefined, use }))
    if (given !== undefined) throw new UsageError(`--har sends nothing, so --${name} does not go with it`);
}

async function judge(
  file: string,
  { contract, target }: { contract: Contract; target: string | undefined },
): Promise<VerifyReport> {
  const { verifyRecorded } = await import("../../verify/index.ts");
  return verifyRecorded({ contract, file, target });
}

/** What this version of the emulator declares. */
async function declared(): Promise<Contract> {
  const [{ Contract }, { RESOURCES }] = await Promise.all([
    import("../../verify/index.ts"),
    import("../../resources/index.ts"),
  ]);
  return new Contract(RESOURCES);
}

interface Asked {
  contract: Contract;
  options: Options;
  uses: NonNullable<VerifyOptions["uses"]>;
  signal: AbortSignal;
}

async function run(
  runVerify: (options: VerifyOptions) => Promise<VerifyReport>,
  { contract, options, uses, signal }: Asked,
): Promise<VerifyReport> {
  const [{ verifyProgress }, { setTimeout: wait }] = await Promise.all([
    import("../verify-progress.ts"),
    import("node:timers/promises"),
  ]);
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

/** The first Ctrl-C ends the checks, lets what was changed be put back, and still gives the report. */
async function withSignals<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, interrupt);
  try {
    return await work(stop.signal);
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, interrupt);
  }
}

async function show(
  result: VerifyReport,
  { json }: Options,
  reports: Partial<Record<ReportKind, string>>,
): Promise<void> {
  const [{ verifyJunit, verifyHtml }, { verifyText }] = await Promise.all([
    import("../../verify/index.ts"),
    import("../verify-text.ts"),
  ]);
  writeReports(reports, { junit: () => verifyJunit(result), html: () => verifyHtml(result) });
  print(json, result, verifyText(result));
  if (result.verdict === "fail") process.exitCode = EXIT_FAILED;
}
