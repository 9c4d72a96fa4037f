import yargs, { type CommandModule } from "yargs";
import packageJson from "../../package.json" with { type: "json" };
import { clockCommand } from "./commands/clock.ts";
import { coverageCommand } from "./commands/coverage.ts";
import { fidelityCommand, openapiCommand } from "./commands/documents.ts";
import { fixtureCommand } from "./commands/fixture.ts";
import { listenCommand } from "./commands/listen.ts";
import { receiverTestCommand } from "./commands/receiver-test.ts";
import { replayCommand } from "./commands/replay.ts";
import { resetCommand } from "./commands/reset.ts";
import { scenarioCommand } from "./commands/scenario.ts";
import { snapshotCommand } from "./commands/snapshot.ts";
import { startCommand } from "./commands/start.ts";
import { statusCommand } from "./commands/status.ts";
import { suiteCommand } from "./commands/suite.ts";
import { triggerCommand } from "./commands/trigger.ts";
import { EXIT_USAGE, report } from "./failure.ts";

/** interfaces 2, one file per command; order is that of `--help`. */
const COMMANDS = [
  startCommand,
  statusCommand,
  resetCommand,
  snapshotCommand,
  clockCommand,
  scenarioCommand,
  fixtureCommand,
  triggerCommand,
  listenCommand,
  receiverTestCommand,
  suiteCommand,
  replayCommand,
  coverageCommand,
  openapiCommand,
  fidelityCommand,
] as readonly CommandModule[];

/** Runs one command line; sets the exit code rather than exiting, so that output is never cut short. */
export async function run(words: readonly string[]): Promise<void> {
  const json = words.includes("--json");
  const parser = yargs([...words])
    .scriptName("understudy")
    .version(packageJson.version)
    .usage("$0 <command>\n\nA stateful sandbox of an AI platform's HTTP API.")
    .option("json", { type: "boolean", default: false, describe: "Print the result as JSON", global: true })
    .strict()
    .recommendCommands()
    .parserConfiguration({ "populate--": true })
    .wrap(Math.min(110, process.stdout.columns ?? 100))
    .exitProcess(false)
    .fail((message, error) => {
      if (error) throw error;
      throw new UsageMistake(message);
    });
  for (const command of COMMANDS) parser.command(command);
  try {
    await parser.parseAsync();
  } catch (error) {
    if (error instanceof UsageMistake) {
      process.stderr.write(
        `understudy: ${error.message}\nRun \`understudy ${words[0] ?? ""} --help\` for the options.\n`,
      );
      process.exitCode = EXIT_USAGE;
    } else {
      process.exitCode = report(error, json);
    }
  }
}

class UsageMistake extends Error {}
