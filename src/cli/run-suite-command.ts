import { runSuite } from "../client/suite/run-suite.ts";
import { renderSuiteHtml, toSuiteReport } from "../client/suite/suite-reports.ts";
import { formatCoverage, type ScenarioResult, type SuiteResult } from "../client/suite/suite-result.ts";
import { SuiteServer } from "../client/suite/suite-server.ts";
import { formatSeconds, toPrintable, toPrintableLines } from "../engine/contract/text.ts";
import { type Result, readFixture, toTimeoutMs } from "./command.ts";
import { loadScenarios } from "./document-files.ts";
import { UsageError } from "./failure.ts";
import { formatTable, isInteractive, runWithCleanup } from "./process.ts";
import { findOwnScenarios, toClockChange } from "./start-options.ts";
import { parseReportFiles, writeReports } from "./write-files.ts";

interface SuiteOptions {
  files: string[];
  jobs: number;
  report: string[] | undefined;
  url: string | undefined;
  token: string | undefined;
  fixture: string | undefined;
  seed: number | undefined;
  clock: string | undefined;
  timeout: number | undefined;
}

/** `suite`, after its options were checked; a module of its own, since it loads the server. */
export async function runSuiteCommand(options: SuiteOptions, command: readonly string[]): Promise<Result> {
  const { url, token, jobs, seed, timeout } = options;
  const timeoutMs = timeout === undefined ? undefined : toTimeoutMs(timeout);
  const reports = parseReportFiles(options.report);
  const fixture = await readFixture(options.fixture);
  const scenarios = loadScenarios(options.files);
  const files = scenarios.flatMap(({ scenario }) => scenario.file ?? []);
  const clock = toClockChange(options.clock);
  const server =
    url === undefined
      ? await SuiteServer.start({ files, scenariosFolder: findOwnScenarios(undefined) })
      : SuiteServer.connect(url, token);
  const progress = createProgress(process.stderr, scenarios.length, isInteractive(process.stderr));
  // Until the server has closed, so that a second signal does not lose the summary.
  return runWithCleanup(async (signal) => {
    try {
      if (url !== undefined) await server.client.health();
      const [missing] = await server.findMissing(scenarios.map(({ scenario }) => scenario));
      if (missing !== undefined)
        throw new UsageError(
          `${missing} has stages, and the server at ${url} does not have this scenario; put its file into that server's folder of scenarios, or leave out --url`,
        );
      const result = await runSuite({
        server,
        scenarios,
        command,
        jobs,
        signal,
        world: { fixture, seed, clock },
        timeoutMs,
        onStart: (name) => progress.start(name),
        onEnd: (one) => progress.end(one),
      });
      const reason = signal.aborted && "interrupted; the commands were ended and their sandboxes deleted";
      return {
        value: result,
        text: formatSuite(result),
        failed: reason || !result.ok,
        writeReports: () =>
          writeReports(reports, { cases: () => toSuiteReport(result), html: () => renderSuiteHtml(result) }),
      };
    } finally {
      progress.close();
      await server.close();
    }
  });
}

const MAX_OUTPUT_LINES = 60;
const MARKS = { passed: "ok", failed: "FAIL", error: "FAIL", skipped: "skip" } as const;

const STAGE_MARKS = { passed: "ok", failed: "FAIL", inconclusive: "?" } as const;

function listCounts({
  rules,
  expectations,
  requests,
}: Pick<ScenarioResult, "rules" | "expectations" | "requests">): string[] {
  return [
    `${rules.filter(({ hits }) => hits > 0).length}/${rules.length}`,
    `${expectations.filter(({ ok }) => ok).length}/${expectations.length}`,
    String(requests),
  ];
}

/** The failed scenarios with the end of their output, then the matrix of all. */
function formatSuite({ scenarios, coverage, ...total }: SuiteResult): string {
  const { passed, failed, skipped, duration_ms } = total;
  const rows = scenarios.flatMap(
    ({ name, outcome, exit_code, signal, duration_ms: ms, stages, ...counts }) => [
      [MARKS[outcome], name, String(signal ?? exit_code ?? "–"), ...listCounts(counts), formatSeconds(ms)],
      ...stages.map((stage) => [STAGE_MARKS[stage.verdict], `  ${stage.name}`, "", ...listCounts(stage), ""]),
    ],
  );
  return [
    ...scenarios.filter(({ outcome }) => MARKS[outcome] === "FAIL").map(formatFailure),
    formatTable(["", "scenario", "exit", "rules triggered", "expectations", "requests", "time"], rows),
    "",
    `coverage: ${formatCoverage(coverage)}`,
    `${passed} passed, ${failed} failed, ${skipped === 0 ? "" : `${skipped} skipped, `}${formatSeconds(duration_ms)}`,
  ].join("\n");
}

function formatFailure({ name, failures, output }: ScenarioResult): string {
  const lines = output.trimEnd().split("\n");
  const hiddenCount = Math.max(0, lines.length - MAX_OUTPUT_LINES);
  return [
    `--- ${name}`,
    ...failures.map((failure) => `  ${failure}`),
    ...(hiddenCount > 0 ? [`  | … ${hiddenCount} lines before; the reports have them`] : []),
    ...(output.trim() === "" ? [] : lines.slice(-MAX_OUTPUT_LINES).map((text) => `  | ${text}`)),
    "",
  ].join("\n");
}

const REDRAW_MS = 200;

/** Prints a line when a scenario ends; on a terminal, also shows one line for each running scenario. */
export function createProgress(stream: NodeJS.WriteStream, total: number, isLive: boolean) {
  const running = new Map<string, number>();
  let endedCount = 0;
  let drawnLines = 0;
  const wipe = () => {
    if (drawnLines > 0) stream.write(`\u001b[${drawnLines}A\u001b[J`);
    drawnLines = 0;
  };
  const draw = () => {
    wipe();
    // 0 on a terminal without a size, as in some containers.
    const width = (stream.columns || 80) - 1;
    const lines = [...running].map(
      ([name, since]) => `  … ${name}  ${formatSeconds(performance.now() - since)}`,
    );
    const all = running.size === 0 ? [] : [`${endedCount} of ${total} done`, ...lines];
    for (const line of all) stream.write(`${toPrintable(line).slice(0, width)}\n`);
    drawnLines = all.length;
  };
  const timer = isLive ? setInterval(draw, REDRAW_MS) : undefined;
  return {
    start(name: string) {
      running.set(name, performance.now());
      if (isLive) draw();
    },
    end(result: ScenarioResult) {
      running.delete(result.name);
      endedCount += 1;
      if (isLive) wipe();
      stream.write(`${toPrintableLines(formatLine(result))}\n`);
      if (isLive) draw();
    },
    close() {
      clearInterval(timer);
      if (isLive) wipe();
    },
  };
}

function formatLine({ outcome, name, duration_ms, failures }: ScenarioResult): string {
  const why = failures.length === 0 ? "" : `: ${failures.join("; ")}`;
  return `${outcome === "passed" ? "ok  " : "FAIL"} ${name} (${formatSeconds(duration_ms)})${why}`;
}
