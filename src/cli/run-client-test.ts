import { formatReport, listClientCases, renderClientHtml } from "../client/client-test/client-report.ts";
import type { SandboxClient } from "../client/sandbox.ts";
import { CommandNotFound, runCommand } from "../client/suite/run-command.ts";
import { SuiteServer } from "../client/suite/suite-server.ts";
import type { FixtureInput } from "../client/types.ts";
import type { RunClient } from "../tools/client-test/client-report-types.ts";
import { gradeClient } from "../tools/client-test/grade-client.ts";
import { CheckFailed, EXIT_FAILED } from "./failure.ts";
import { createStatusLine, isInteractive, printJson, printStyled, runWithCleanup } from "./process.ts";
import { parseReportFiles, writeReports } from "./write-files.ts";

interface ClientTestOptions {
  only: string[] | undefined;
  skip: string[] | undefined;
  /** Wall milliseconds. */
  timeoutMs: number;
  report: string[] | undefined;
  fixture: FixtureInput | undefined;
  seed: number | undefined;
  json: boolean;
}

/** `client-test`: grades a command against a server of its own (interfaces 21). */
export async function runClientTest(options: ClientTestOptions, command: readonly string[]): Promise<void> {
  const { fixture, seed, json, only, skip, timeoutMs } = options;
  const reports = parseReportFiles(options.report);
  const name = command.join(" ");
  const showStatus = createStatusLine(!json && isInteractive(process.stderr));
  const server = await SuiteServer.start();
  try {
    const sandbox = await server.client.sandbox({ fixture, seed, origin: true });
    const runs = createRun(command, { server, sandbox });
    const result = await runWithCleanup((signal) =>
      gradeClient(sandbox, runs.run, {
        only,
        skip,
        timeoutMs,
        signal,
        exportFailed: reports.html !== undefined,
        onRun: (run) => showStatus(`[${run.run}/${run.of}] ${run.checks.join(", ") || "without failures"}`),
      }).finally(() => showStatus("")),
    );
    if (runs.notFound !== undefined) throw runs.notFound;
    writeReports(reports, {
      cases: () => listClientCases(result, name),
      html: () => renderClientHtml(result, name),
    });
    if (json) printJson({ ...result, exports: undefined });
    else printStyled(formatReport(result, { colour: isInteractive(process.stdout) }));
    if (result.verdict === "not-graded") throw new CheckFailed("the client could not be graded");
    if (result.verdict === "fail") process.exitCode = EXIT_FAILED;
  } finally {
    await server.close();
  }
}

/** `run` runs the command once; `notFound` is set if the command cannot be started, which is not a failure of the client. */
function createRun(
  command: readonly string[],
  { server, sandbox }: { server: SuiteServer; sandbox: SandboxClient },
): { run: RunClient; notFound: CommandNotFound | undefined } {
  const env = server.getEnvironment(sandbox);
  const runs = { run, notFound: undefined as CommandNotFound | undefined };
  async function run(signal: AbortSignal) {
    try {
      const result = await runCommand(command, { env, timeoutMs: undefined, signal });
      const { exit_code, signal: endSignal, output } = result;
      const errorLine = findError(output);
      const end = endSignal === null ? `exit code ${exit_code}` : `the signal ${endSignal}`;
      if (exit_code !== 0) throw new Error(`${end}${errorLine ? `: ${errorLine}` : ""}`);
    } catch (error) {
      if (error instanceof CommandNotFound) runs.notFound = error;
      throw error;
    }
  }
  return runs;
}

/** Runtimes write the error before or after their stacks. */
function findError(output: string): string | undefined {
  const lines = output.trim().split("\n");
  return (
    lines.findLast((line) => /(error|exception|panic)\b.{0,40}: ?\S/i.test(line)) ?? lines.at(-1)
  )?.trim();
}
