import type { CommandModule } from "yargs";
import type { CoverageMatrix } from "../../reports/coverage.ts";
import { EXIT_FAILED, UsageError } from "../failure.ts";
import { writeNewFile } from "../new-file.ts";
import { complain, print, table } from "../output.ts";
import { sandboxOf, server, type Target, targetOptions } from "../target.ts";

type Options = Target & { all: boolean; "fail-under": number | undefined; html: string | undefined };

export const coverageCommand: CommandModule<object, Options> = {
  command: "coverage",
  describe: "Show which documented outcomes a sandbox has answered",
  builder: (argv) =>
    targetOptions(argv)
      .option("all", {
        type: "boolean",
        default: false,
        describe: "Of all sandboxes, those that are gone included",
      })
      .option("fail-under", { type: "number", requiresArg: true, describe: "Exit 1 below this percentage" })
      .option("html", { type: "string", requiresArg: true, describe: "Write the heat map to this file" })
      .example("$0 coverage --fail-under 80 --html coverage.html", "For CI") as never,
  async handler(options) {
    const least = options["fail-under"];
    if (least !== undefined && !(least >= 0 && least <= 100))
      throw new UsageError("--fail-under takes a percentage from 0 to 100");
    const matrix = options.all
      ? await server(options).coverage()
      : await (await sandboxOf(options)).coverage();
    const whose = options.all ? "all sandboxes" : `sandbox ${options.sandbox}`;
    if (options.html !== undefined) {
      const { coverageHtml } = await import("../../reports/index.ts");
      writeNewFile(options.html, coverageHtml(matrix, `Coverage of ${whose}`), {
        force: true,
      });
    }
    print(options.json, matrix, coverageText(matrix));
    if (least === undefined || matrix.percent >= least) return;
    complain(`coverage is ${matrix.percent} percent, below ${least}`);
    process.exitCode = EXIT_FAILED;
  },
};

function coverageText({ operations, covered, total, percent }: CoverageMatrix): string {
  const rows = operations.map((row) => {
    const never = row.outcomes
      .filter(({ hits }) => hits === 0)
      .map(({ status, code }) => code ?? String(status));
    return [row.operation, `${row.percent}%`, never.length === 0 ? "" : `never: ${never.join(", ")}`];
  });
  return `${table(["operation", "seen", ""], rows)}\n\n${percent} percent: ${covered} of ${total} documented outcomes`;
}
