import yargs, { type CommandModule } from "yargs";
import packageJson from "../../package.json" with { type: "json" };
import { clockCommand } from "./commands/clock.ts";
import { fidelityCommand, openapiCommand } from "./commands/documents.ts";
import { receiverTestCommand } from "./commands/receiver-test.ts";
import { resetCommand } from "./commands/reset.ts";
import { scenarioCommand } from "./commands/scenario.ts";
import { snapshotCommand } from "./commands/snapshot.ts";
import { startCommand } from "./commands/start.ts";
import { statusCommand } from "./commands/status.ts";
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
  triggerCommand,
  receiverTestCommand,
  openapiCommand,
  fidelityCommand,
] as readonly CommandModule[];

/** Every command line but a plain `start`. Sets the exit code. */
export async function runCommands(words: readonly string[]): Promise<void> {
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
    .check(onceEach, true)
    .fail((message, error) => {
      if (error) throw error;
      throw new UsageMistake(message);
    });
  for (const command of COMMANDS) parser.command(command);
  try {
    await parser.parseAsync();
  } catch (error) {
    if (error instanceof UsageMistake) {
      const command = COMMANDS.some(({ command: name }) =>
        [name].flat().join(" ").split(" ").includes(words[0]!),
      );
      process.stderr.write(
        `understudy: ${error.message}\nRun \`understudy ${command ? `${words[0]} ` : ""}--help\` for the options.\n`,
      );
      process.exitCode = EXIT_USAGE;
    } else {
      process.exitCode = report(error, json);
    }
  }
}

/** yargs makes a list of an option given twice, whatever its type. */
function onceEach(argv: Record<string, unknown>, options: unknown): true {
  const { array } = options as { array: readonly string[] };
  for (const [name, value] of Object.entries(argv)) {
    const repeated = Array.isArray(value) && name !== "_" && name !== "--" && !array.includes(name);
    if (repeated) throw new UsageMistake(`--${name} is given more than once`);
  }
  return true;
}

class UsageMistake extends Error {}
