import { formatReport, listClientCases, renderClientHtml } from "../client/client-test/client-report.ts";
import { CommandNotFound, runCommand } from "../client/suite/run-command.ts";
import { SuiteServer } from "../client/suite/suite-server.ts";
import type { FixtureInput } from "../client/types.ts";
import { gradeClient } from "../tools/client-test/grade-client.ts";
import type { Result } from "./command.ts";
import { createStatusLine, isInteractive, runWithCleanup } from "./process.ts";
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

/** `client-test`: grades a command against a server of its own (interfaces.md 21). */
export async function runClientTest(options: ClientTestOptions, command: readonly string[]): Promise<Result> {
  const { fixture, seed, json, only, skip, timeoutMs } = options;
  const reports = parseReportFiles(options.report);
  const name = command.join(" ");
  const showStatus = createStatusLine(!json && isInteractive(process.stderr));
  const server = await SuiteServer.start();
  // Until the server has closed, so that a second signal does not lose the report.
  return runWithCleanup(async (signal) => {
    try {
      const sandbox = await server.client.sandbox({ fixture, seed, origin: true });
      const env = server.getEnvironment(sandbox);
      let notFound: CommandNotFound | undefined;
      const run = (stop: AbortSignal) =>
        runOnce(command, env, stop).catch((error: unknown) => {
          // A command that cannot be started is not a failure of the client.
          if (error instanceof CommandNotFound) notFound = error;
          throw error;
        });
      const result = await gradeClient(sandbox, run, {
        only,
        skip,
        timeoutMs,
        signal,
        exportFailed: reports.html !== undefined,
        onRun: ({ run: number, of, checks }) =>
          showStatus(`[${number}/${of}] ${checks.join(", ") || "without failures"}`),
      }).finally(() => showStatus(""));
      if (notFound !== undefined) throw notFound;
      const text = formatReport(result, { colour: isInteractive(process.stdout) });
      const reason = result.verdict === "not-graded" && "the client could not be graded";
      const failed = reason || result.verdict === "fail";
      return {
        value: { ...result, exports: undefined },
        text,
        styled: true,
        failed,
        writeReports: () =>
          writeReports(reports, {
            cases: () => listClientCases(result, name),
            html: () => renderClientHtml(result, name),
          }),
      };
    } finally {
      await server.close();
    }
  });
}

/** @throws CommandNotFound; Error with the reason if the command fails */
async function runOnce(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  stop: AbortSignal,
): Promise<void> {
  const { exit_code, signal, output } = await runCommand(command, {
    env,
    timeoutMs: undefined,
    signal: stop,
  });
  if (exit_code === 0) return;
  const errorLine = findError(output);
  const end = signal === null ? `exit code ${exit_code}` : `the signal ${signal}`;
  throw new Error(`${end}${errorLine ? `: ${errorLine}` : ""}`);
}

/** Runtimes write the error before or after their stacks; `go run` adds the exit status. */
function findError(output: string): string | undefined {
  const lines = output
    .replace(/\nexit status \d+\s*$/, "")
    .trim()
    .split("\n");
  // Ruby's line is `a.rb:1:in 'work': text (RuntimeError)`.
  const isError = (line: string) => /(error|exception|panic)\b.{0,40}: ?\S|:in .+': \S/i.test(line);
  return (lines.findLast(isError) ?? lines.at(-1))?.trim();
}
