import type { CommandModule } from "yargs";
import type { SandboxOptions, SandboxState, ScenarioName } from "../../client/types.ts";
import { givenFixture } from "../given-fixture.ts";
import { keyedValues, typedValue } from "../option-values.ts";
import { print, table } from "../output.ts";
import { clockChange } from "../start-options.ts";
import { server, type Target, targetOptions } from "../target.ts";

type CreateOptions = Target & {
  name: string | undefined;
  fixture: string | undefined;
  seed: number | undefined;
  clock: string | undefined;
  scenario: string[] | undefined;
  setting: string[] | undefined;
};

export const sandboxCommand: CommandModule = {
  command: "sandbox",
  describe: "Make, list, copy and delete sandboxes: a world each",
  builder: (argv) =>
    argv
      .command({
        command: "list",
        describe: "All sandboxes of the server",
        builder: targetOptions,
        async handler(target: Target) {
          const items = await server(target).list();
          const rows = items.map(({ name, fixture, clock, scenarios, base_url }) => [
            name,
            fixture,
            clock.mode,
            scenarios.join(", "),
            base_url,
          ]);
          const total = items.length;
          print(
            target.json,
            { items, total },
            table(["name", "fixture", "clock", "scenarios", "base URL"], rows),
          );
        },
      } as CommandModule<object, Target>)
      .command({
        command: "create [name]",
        describe: "Make one; without a name it is given one",
        builder: (create) =>
          targetOptions(create)
            .option("fixture", {
              type: "string",
              requiresArg: true,
              describe: "Its world: a fixture's name or file",
            })
            .option("seed", { type: "number", requiresArg: true, describe: "Of everything generated" })
            .option("clock", {
              type: "string",
              requiresArg: true,
              describe: "real, frozen, frozen@ISO, or xN",
            })
            .option("scenario", {
              type: "string",
              array: true,
              requiresArg: true,
              describe: "In force from the start; repeatable",
            })
            .option("setting", {
              type: "string",
              array: true,
              requiresArg: true,
              describe: "NAME=VALUE; repeatable",
            })
            .example("$0 sandbox create ci-42 --clock frozen", "Its base URL ends in /_s/ci-42") as never,
        handler: create,
      } as CommandModule<object, CreateOptions>)
      .command({
        command: "delete <name>",
        describe: "Delete one; `default`, which always exists, is reset instead",
        builder: targetOptions,
        async handler({ name, ...target }: Target & { name: string }) {
          await (await server(target).open(name)).delete();
          print(
            target.json,
            { deleted: name },
            name === "default" ? "default is as on its first day." : `Deleted ${name}.`,
          );
        },
      } as CommandModule<object, Target & { name: string }>)
      .command({
        command: "fork <source> <name>",
        describe: "Make a second one with the same state",
        builder: targetOptions,
        async handler({ source, name, ...target }: Target & { source: string; name: string }) {
          const state = await (await server(target).fork(source, name)).info();
          print(target.json, state, madeText(state));
        },
      } as CommandModule<object, Target & { source: string; name: string }>)
      .demandCommand(1, "sandbox needs an action: list, create, delete or fork")
      .example("$0 sandbox fork default before-upgrade", "Try something in a copy"),
  handler: () => {},
};

async function create({
  name,
  fixture,
  seed,
  clock,
  scenario,
  setting,
  ...target
}: CreateOptions): Promise<void> {
  const settings = Object.entries(keyedValues("--setting", setting) ?? {}).map(([key, text]) => [
    key,
    typedValue(text),
  ]);
  const options: SandboxOptions = {
    name,
    fixture: await givenFixture(fixture),
    seed,
    clock: clockChange(clock),
    // The server knows better which there are, and which was meant.
    scenarios: scenario as ScenarioName[] | undefined,
    settings: setting === undefined ? undefined : Object.fromEntries(settings),
  };
  const state = await (await server(target).sandbox(options)).info();
  print(target.json, state, madeText(state));
}

const madeText = ({ name, base_url }: SandboxState) => `${name} is at ${base_url}`;
