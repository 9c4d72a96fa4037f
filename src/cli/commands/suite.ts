import { command, number, REPORT, text } from "../command.ts";
import { UsageError } from "../failure.ts";
import { CLOCK } from "../start-flags.ts";

export const suiteCommand = command({
  command: "suite <files..>",
  describe: "Run a command once per scenario, each in a fresh sandbox: suite FILES… -- COMMAND",
  args: { files: "Scenario files, names, or globs of either" },
  options: {
    jobs: number("How many commands run at once", { default: 1 }),
    ...REPORT,
    url: text("A running server, instead of one started for the suite"),
    token: text("Its control token (or UNDERSTUDY_TOKEN)", { implies: "url" }),
    fixture: text("Initial data of every sandbox: name or file of a fixture"),
    seed: number("Seed of every sandbox"),
    clock: text(CLOCK),
    timeout: number("Seconds that a command may take"),
  },
  examples: [
    ["$0 suite 'scenarios/*.yaml' --jobs 4 -- npx playwright test", "Any command, any language"],
    ["$0 suite outage.yaml --report junit=out.xml,html=out.html -- npm test", "For CI"],
  ],
  async run(options) {
    const { jobs, "--": commandLine = [] } = options;
    if (commandLine.length === 0)
      throw new UsageError("suite needs a command after --, as in: suite FILES -- npm test");
    if (!Number.isInteger(jobs) || jobs < 1) throw new UsageError("--jobs takes a whole number from 1");
    const { runSuiteCommand } = await import("../run-suite-command.ts");
    return runSuiteCommand(options, commandLine);
  },
});
