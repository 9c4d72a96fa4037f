import type { CommandModule } from "yargs";
import type { FixtureInput } from "../../client/types.ts";
import type { Scenario } from "../../faults/scenarios/scenario.ts";
import type { SuiteServer } from "../../suite/suite-server.ts";
import { CheckFailed, EXIT_FAILED, UsageError } from "../failure.ts";
import { isInteractive, print } from "../output.ts";
import { type ReportKind, reportFiles, writeReports } from "../report-files.ts";

interface Options {
  files: string[];
  "--"?: string[];
  jobs: number;
  report: string[] | undefined;
  url: string | undefined;
  token: string | undefined;
  fixture: string | undefined;
  seed: number | undefined;
  clock: string | undefined;
  timeout: number | undefined;
  json: boolean;
}

export const suiteCommand: CommandModule<object, Options> = {
  command: "suite <files..>",
  describe: "Run a command once per scenario, each in a fresh sandbox: suite FILES… -- COMMAND",
  builder: (argv) =>
    argv
      .positional("files", {
        type: "string",
        array: true,
        demandOption: true,
        describe: "Scenario files or globs",
      })
      .option("jobs", { type: "number", default: 1, requiresArg: true, describe: "How many run at once" })
      .option("report", {
        type: "string",
        array: true,
        requiresArg: true,
        describe: "junit=FILE and html=FILE, repeatable or comma-separated",
      })
      .option("url", {
        type: "string",
        requiresArg: true,
        describe: "A running server, instead of one of its own",
      })
      .option("token", {
        type: "string",
        requiresArg: true,
        describe: "Its control token (or UNDERSTUDY_TOKEN)",
      })
      .option("fixture", {
        type: "string",
        requiresArg: true,
        describe: "The world of every sandbox, by name or file",
      })
      .option("seed", { type: "number", requiresArg: true, describe: "Its seed" })
      .option("clock", { type: "string", requiresArg: true, describe: "real, frozen, frozen@ISO, or xN" })
      .option("timeout", { type: "number", requiresArg: true, describe: "Seconds that a command may take" })
      .example("$0 suite 'scenarios/*.yaml' --jobs 4 -- npx playwright test", "Any command, any language")
      .example("$0 suite outage.yaml --report junit=out.xml,html=out.html -- npm test", "For CI") as never,
  async handler(options) {
    const command = options["--"] ?? [];
    if (command.length === 0)
      throw new UsageError("suite needs a command behind --, as in: suite FILES -- npm test");
    if (!Number.isInteger(options.jobs) || options.jobs < 1)
      throw new UsageError("--jobs takes a whole number from 1");
    if (options.timeout !== undefined && !(options.timeout > 0))
      throw new UsageError("--timeout takes seconds");
    const reports = reportFiles(options.report);
    const [{ loadScenarios }, { givenFixture }] = await Promise.all([
      import("../load-scenarios.ts"),
      import("../given-fixture.ts"),
    ]);
    const fixture = await givenFixture(options.fixture);
    const scenarios = loadScenarios(options.files);
    const { foreignServer, ownServer } = await import("../../suite/index.ts");
    const server =
      options.url === undefined
        ? await ownServer(scenarios.map(({ file }) => file))
        : foreignServer(options.url, options.token);
    try {
      if (options.url !== undefined) await server.client.health();
      await runIn(server, { options, fixture, command, scenarios, reports });
    } finally {
      await server.close();
    }
  },
};

/** Also when the terminal is closed: the commands run in groups of their own and would stay. */
const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface Suite {
  options: Options;
  fixture: FixtureInput | undefined;
  command: readonly string[];
  scenarios: readonly { file: string; scenario: Scenario }[];
  reports: Partial<Record<ReportKind, string>>;
}

async function runIn(
  server: SuiteServer,
  { options, fixture, command, scenarios, reports }: Suite,
): Promise<void> {
  const [
    { CommandNotFound, runSuite, suiteHtml, suiteJunit },
    { suiteProgress },
    { suiteText },
    { clockChange },
  ] = await Promise.all([
    import("../../suite/index.ts"),
    import("../suite-progress.ts"),
    import("../suite-text.ts"),
    import("../clock-change.ts"),
  ]);
  const progress = suiteProgress(process.stderr, scenarios.length, isInteractive(process.stderr));
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const signal of ENDINGS) process.on(signal, interrupt);
  try {
    const result = await runSuite({
      ...{ server, scenarios, command, jobs: options.jobs, signal: stop.signal },
      world: { fixture, seed: options.seed, clock: clockChange(options.clock) },
      timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
      onStart: (name) => progress.start(name),
      onEnd: (one) => progress.end(one),
    });
    progress.close();
    writeReports(reports, { junit: () => suiteJunit(result), html: () => suiteHtml(result) });
    print(options.json, result, suiteText(result));
    if (stop.signal.aborted)
      throw new CheckFailed("interrupted; the commands were ended and their sandboxes deleted");
    if (!result.ok) process.exitCode = EXIT_FAILED;
  } catch (error) {
    throw error instanceof CommandNotFound ? new UsageError(error.message) : error;
  } finally {
    progress.close();
    for (const signal of ENDINGS) process.off(signal, interrupt);
  }
}
