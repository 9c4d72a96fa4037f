import type { CommandModule } from "yargs";
import type { CoverageMatrix } from "../../tools/reports/coverage.ts";
import { CheckFailed, EXIT_FAILED, UsageError } from "../failure.ts";
import { writeNewFile } from "../new-files.ts";
import { complain, print, table } from "../output.ts";
import { openSandbox, server, type Target, targetOptions } from "../target.ts";

type Options = Target & {
  all: boolean;
  "fail-under": number | undefined;
  html: string | undefined;
  scenarios: string | undefined;
  "--"?: string[];
};

export const coverageCommand: CommandModule<object, Options> = {
  command: "coverage",
  describe: "Show which documented outcomes a sandbox, or all that a command made, has answered",
  builder: (argv) =>
    targetOptions(argv)
      .option("all", {
        type: "boolean",
        default: false,
        describe: "Of all sandboxes, those that are gone included",
      })
      .option("fail-under", { type: "number", requiresArg: true, describe: "Exit 1 below this percentage" })
      .option("html", { type: "string", requiresArg: true, describe: "Write the heat map to this file" })
      .option("scenarios", {
        type: "string",
        requiresArg: true,
        describe: "With a command: folder of your own scenarios [default: ./scenarios]",
      })
      .example("$0 coverage --fail-under 40 -- npx vitest run", "Of all sandboxes of a test run")
      .example("$0 coverage --fail-under 80 --html coverage.html", "For CI") as never,
  async handler(options) {
    const least = options["fail-under"];
    if (least !== undefined && !(least >= 0 && least <= 100))
      throw new UsageError("--fail-under takes a percentage from 0 to 100");
    const command = options["--"] ?? [];
    if (options.scenarios !== undefined && command.length === 0)
      throw new UsageError("--scenarios stands beside a command behind --");
    const { matrix, whose, console, failure } =
      command.length === 0 ? await asked(options) : await made(options, command);
    if (options.html !== undefined) {
      const { coverageHtml } = await import("../../tools/reports/index.ts");
      writeNewFile(options.html, coverageHtml(matrix, `Coverage of ${whose}`, console), { force: true });
    }
    print(options.json, matrix, coverageText(matrix));
    if (failure !== undefined) throw new CheckFailed(failure);
    if (least === undefined || matrix.percent >= least) return;
    complain(`coverage is ${matrix.percent} percent, below ${least}`);
    process.exitCode = EXIT_FAILED;
  },
};

interface Seen {
  matrix: CoverageMatrix;
  whose: string;
  /** Where the console shows the sandbox, as long as its server runs. */
  console?: string;
  /** Of the command; its coverage is told all the same. */
  failure?: string | undefined;
}

async function asked(options: Options): Promise<Seen> {
  if (options.all) return { matrix: await server(options).coverage(), whose: "all sandboxes" };
  const sandbox = await openSandbox(options);
  const console = new URL(`/_console/s/${options.sandbox}`, options.url).href;
  return { matrix: await sandbox.coverage(), whose: `sandbox ${options.sandbox}`, console };
}

async function made({ scenarios, json }: Options, command: readonly string[]): Promise<Seen> {
  const { runCovered } = await import("../run-covered.ts");
  return { ...(await runCovered(command, { scenarios, json })), whose: command.join(" ") };
}

function coverageText({ operations, covered, total, percent }: CoverageMatrix): string {
  const rows = operations.map((row) => {
    const never = row.outcomes
      .filter(({ hits }) => hits === 0)
      .map(({ status, code }) => code ?? String(status));
    return [row.operation, `${row.percent}%`, never.length === 0 ? "" : `never: ${never.join(", ")}`];
  });
  return `${table(["operation", "seen", ""], rows)}\n\n${percent} percent: ${covered} of ${total} documented outcomes`;
}
