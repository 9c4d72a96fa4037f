import type { CommandModule } from "yargs";
import { UsageError } from "../failure.ts";
import type { SuiteOptions } from "../run-suite-command.ts";

export const suiteCommand: CommandModule<object, SuiteOptions> = {
  command: "suite <files..>",
  describe: "Run a command once per scenario, each in a fresh sandbox: suite FILES… -- COMMAND",
  builder: (argv) =>
    argv
      .positional("files", {
        type: "string",
        array: true,
        demandOption: true,
        describe: "Scenario files, names, or globs of either",
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
    const { runSuiteCommand } = await import("../run-suite-command.ts");
    await runSuiteCommand(options, command);
  },
};
