import type { CommandModule } from "yargs";
import { print } from "../output.ts";
import { sandboxOf, type Target, targetOptions } from "../target.ts";

type Options = Target & { fixture: string | undefined; seed: number | undefined };

export const resetCommand: CommandModule<object, Options> = {
  command: "reset",
  describe: "Put a sandbox back to its first day",
  builder: (argv) =>
    targetOptions(argv)
      .option("fixture", { type: "string", describe: "Start from another fixture" })
      .option("seed", { type: "number", describe: "Start from another seed" })
      .example("$0 reset --sandbox ci-42", "Data, clock, retries and journal as at the start") as never,
  async handler(target) {
    const state = await (await sandboxOf(target)).reset({ fixture: target.fixture, seed: target.seed });
    print(
      target.json,
      state,
      `${state.name} is back to ${state.fixture}, seed ${state.seed}, at ${state.clock.now}`,
    );
  },
};
