import type { CommandModule } from "yargs";
import type { ScenarioName } from "../../client/types.ts";
import { nearest } from "../../engine/contract/text.ts";
import { UsageError } from "../failure.ts";
import { print, table } from "../output.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";
import { fromHarCommand } from "./from-har.ts";

type Options = Target & { name: string; files: string[] };

export const scenarioCommand: CommandModule = {
  command: "scenario",
  describe: "List, switch and check failure scenarios",
  builder: (argv) =>
    argv
      .command({
        command: "list",
        describe: "All scenarios, and which are on",
        builder: targetOptions,
        async handler(target: Options) {
          const { items, total } = await (await openSandbox(target)).scenarios.list();
          const written = items.filter(({ origin }) => origin !== "derived");
          const derived = items.filter(({ origin }) => origin === "derived");
          const rows = [...written, ...derived].map(({ active, name, origin, description, problem }) => [
            active ? "on" : "",
            name,
            origin,
            problem === undefined
              ? description
              : `${problem.split("\n")[0]}${active ? "; the last good version is on" : ""}`,
          ]);
          print(target.json, { items, total }, table(["", "name", "from", "description"], rows));
        },
      } as CommandModule<object, Options>)
      .command({
        command: "on <name>",
        describe: "Switch one on, leaving the others as they are",
        builder: targetOptions,
        handler: (target: Options) =>
          change(target, (active) => [...active.filter((name) => name !== target.name), target.name]),
      } as CommandModule<object, Options>)
      .command({
        command: "off <name>",
        describe: "Switch one off",
        builder: targetOptions,
        handler: (target: Options) =>
          change(target, (active) => {
            if (!active.includes(target.name))
              throw new UsageError(
                `${target.name} is not on; ${suggestion(target.name, active)}on are: ${active.join(", ") || "none"}`,
              );
            return active.filter((name) => name !== target.name);
          }),
      } as CommandModule<object, Options>)
      .command({
        command: "show <name>",
        describe: "Print a scenario as YAML, without a server: a built-in one, or one of ./scenarios",
        builder: (show) =>
          show.example("$0 scenario show slow-network > scenarios/slower.yaml", "A copy to change"),
        async handler({ name, json }: Options) {
          const { showScenario } = await import("../scenario-files.ts");
          showScenario(name, json);
        },
      } as CommandModule<object, Options>)
      .command({
        command: "check <files..>",
        describe: "Check scenario files, without a server",
        builder: (check) =>
          check.example("$0 scenario check 'scenarios/*.yaml'", "Every problem with its line"),
        async handler({ files, json }: Options) {
          const { checkScenarioFiles } = await import("../check-files.ts");
          await checkScenarioFiles(files, json);
        },
      } as CommandModule<object, Options>)
      .command(
        fromHarCommand("scenario", "Write a recording's latencies and shares of errors, as a scenario"),
      )
      .demandCommand(1, "scenario needs an action: list, on, off, show, check or from-har")
      .example("$0 scenario on flaky-ten-percent", "One request in ten fails from now on"),
  handler: () => {},
};

function suggestion(name: string, active: readonly string[]): string {
  const meant = nearest(name, active);
  return meant === undefined ? "" : `did you mean "${meant}"? `;
}

async function change(target: Options, next: (active: string[]) => string[]): Promise<void> {
  const sandbox = await openSandbox(target);
  const { scenarios } = await sandbox.info();
  const names = next(scenarios);
  await sandbox.scenarios.activate(...(names as ScenarioName[]));
  print(target.json, { active: names }, `On: ${names.join(", ") || "none"}`);
}
