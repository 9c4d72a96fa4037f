import type { CoverageMatrix } from "../../tools/reports/coverage.ts";
import {
  connectTo,
  flag,
  listGivenTargetOptions,
  number,
  openSandbox,
  serverCommand,
  type Target,
  text,
} from "../command.ts";
import { UsageError } from "../failure.ts";
import { formatTable, runWithCleanup } from "../process.ts";
import { findOwnScenarios } from "../start-options.ts";
import { requireOutputFile, writeNewFile } from "../write-files.ts";

export const coverageCommand = serverCommand({
  command: "coverage",
  describe: "Show which documented outcomes occurred in a sandbox, or while a command ran",
  options: {
    all: flag("Count all sandboxes, including deleted ones"),
    "fail-under": number("Exit 1 below this percentage"),
    html: text("Write the coverage to this file, as a heat map"),
    scenarios: text("With a command: folder of your own scenarios [default: ./scenarios]"),
  },
  examples: [
    ["$0 coverage --fail-under 40 -- npx vitest run", "Coverage of a test run"],
    ["$0 coverage --fail-under 80 --html coverage.html", "For CI"],
  ],
  check({ "fail-under": minimum, html, scenarios, all, "--": command = [], ...target }) {
    if (minimum !== undefined && !(minimum >= 0 && minimum <= 100))
      throw new UsageError("--fail-under takes a percentage from 0 to 100");
    if (scenarios !== undefined && command.length === 0)
      throw new UsageError("--scenarios needs a command after --");
    const given = listGivenTargetOptions(target);
    const ignored = all ? [...given, "--all"] : given;
    if (command.length > 0 && ignored.length > 0)
      throw new UsageError(
        `with a command, coverage starts a server of its own and counts all its sandboxes; leave out ${ignored.join(" and ")}`,
      );
    if (all && given.includes("--sandbox"))
      throw new UsageError("--all counts every sandbox; leave out --sandbox");
    if (html !== undefined) requireOutputFile(html);
  },
  async run(options) {
    const { html, "fail-under": minimum, "--": command = [] } = options;
    const { matrix, subject, consoleUrl, failure } =
      command.length > 0 ? await measureCoverage(command, options) : await fetchCoverage(options);
    const { renderCoverageHtml } = await import("../../tools/reports/coverage-html.ts");
    const isBelow = minimum !== undefined && matrix.percent < minimum;
    const failed = failure ?? (isBelow && `coverage is ${matrix.percent} percent, below ${minimum}`);
    return {
      value: matrix,
      text: formatCoverage(matrix),
      failed,
      writeReports() {
        if (html === undefined) return;
        writeNewFile(html, renderCoverageHtml(matrix, `Coverage of ${subject}`, consoleUrl), { force: true });
      },
    };
  },
});

interface MeasuredCoverage {
  matrix: CoverageMatrix;
  subject: string;
  /** The console's page of the sandbox, which works as long as its server runs. */
  consoleUrl?: string;
  /** Why the command failed; its coverage is reported anyway. */
  failure?: string | undefined;
}

async function fetchCoverage({ all, ...target }: Target & { all: boolean }): Promise<MeasuredCoverage> {
  if (all) return { matrix: await connectTo(target).coverage(), subject: "all sandboxes" };
  const sandbox = await openSandbox(target);
  const consoleUrl = `${connectTo(target).url}/_console/s/${target.sandbox}`;
  return { matrix: await sandbox.coverage(), subject: `sandbox ${target.sandbox}`, consoleUrl };
}

/**
 * Runs a command with a server of its own; returns the coverage of all its sandboxes, also deleted ones (interfaces.md 11).
 * @throws UsageError, CommandNotFound
 */
async function measureCoverage(
  command: readonly string[],
  { scenarios, json }: { scenarios: string | undefined; json: boolean },
): Promise<MeasuredCoverage> {
  const { SuiteServer } = await import("../../client/suite/suite-server.ts");
  const { describeFailedEnd, runCommand } = await import("../../client/suite/run-command.ts");
  const server = await SuiteServer.start({ scenariosFolder: findOwnScenarios(scenarios) });
  // Until the server has closed, so that a second signal does not lose the coverage.
  return runWithCleanup(async (signal) => {
    try {
      const result = await runCommand(command, {
        env: { UNDERSTUDY_URL: server.client.url },
        timeoutMs: undefined,
        signal,
        outputFds: [json ? 2 : 1, 2],
      });
      const matrix = await server.client.coverage();
      return { matrix, subject: command.join(" "), failure: describeFailedEnd(result) };
    } finally {
      await server.close();
    }
  });
}

function formatCoverage({ operations, covered, total, percent }: CoverageMatrix): string {
  const rows = operations.map((row) => {
    const unseen = row.outcomes.filter(({ hits }) => hits === 0);
    const neverSeen = unseen.map(({ status, code }) => code ?? String(status)).join(", ");
    return [row.operation, `${row.percent}%`, neverSeen && `never: ${neverSeen}`];
  });
  return `${formatTable(["operation", "seen", ""], rows)}\n\n${percent} percent: ${covered} of ${total} documented outcomes`;
}
