import { CommandNotFound } from "../client/suite/run-command.ts";
import { runSuite } from "../client/suite/run-suite.ts";
import { suiteHtml } from "../client/suite/suite-html.ts";
import { suiteJunit } from "../client/suite/suite-junit.ts";
import { foreignServer, ownServer, type SuiteServer } from "../client/suite/suite-server.ts";
import type { FixtureInput } from "../client/types.ts";
import type { Scenario } from "../engine/faults/scenario.ts";
import { clockChange } from "./clock-change.ts";
import { CheckFailed, EXIT_FAILED, UsageError } from "./failure.ts";
import { givenFixture } from "./given-fixture.ts";
import { isInteractive, print } from "./output.ts";
import { ownScenarios } from "./own-scenarios.ts";
import { type ReportKind, reportFiles, writeReports } from "./report-files.ts";
import { loadScenarios } from "./scenario-files.ts";
import { suiteProgress } from "./suite-progress.ts";
import { suiteText } from "./suite-text.ts";
import { untilEnded } from "./until-ended.ts";

export interface SuiteOptions {
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

/** `suite`, once its options are judged: loaded by itself, since it brings the server along. */
export async function runSuiteCommand(options: SuiteOptions, command: readonly string[]): Promise<void> {
  const reports = reportFiles(options.report);
  const fixture = await givenFixture(options.fixture);
  const scenarios = loadScenarios(options.files);
  const server =
    options.url === undefined
      ? await ownServer(
          scenarios.flatMap(({ scenario }) => scenario.file ?? []),
          ownScenarios(),
        )
      : foreignServer(options.url, options.token);
  try {
    if (options.url !== undefined) await server.client.health();
    await runIn(server, { options, fixture, command, scenarios, reports });
  } finally {
    await server.close();
  }
}

interface Suite {
  options: SuiteOptions;
  fixture: FixtureInput | undefined;
  command: readonly string[];
  scenarios: readonly { file: string; scenario: Scenario }[];
  reports: Partial<Record<ReportKind, string>>;
}

async function runIn(
  server: SuiteServer,
  { options, fixture, command, scenarios, reports }: Suite,
): Promise<void> {
  const progress = suiteProgress(process.stderr, scenarios.length, isInteractive(process.stderr));
  try {
    const { result, interrupted } = await untilEnded(async (signal) => ({
      result: await runSuite({
        ...{ server, scenarios, command, jobs: options.jobs, signal },
        world: { fixture, seed: options.seed, clock: clockChange(options.clock) },
        timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
        onStart: (name) => progress.start(name),
        onEnd: (one) => progress.end(one),
      }),
      interrupted: signal.aborted,
    }));
    progress.close();
    writeReports(reports, { junit: () => suiteJunit(result), html: () => suiteHtml(result) });
    print(options.json, result, suiteText(result));
    if (interrupted)
      throw new CheckFailed("interrupted; the commands were ended and their sandboxes deleted");
    if (!result.ok) process.exitCode = EXIT_FAILED;
  } catch (error) {
    throw error instanceof CommandNotFound ? new UsageError(error.message) : error;
  } finally {
    progress.close();
  }
}
