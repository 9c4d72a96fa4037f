import type { CommandModule } from "yargs";
import { givenFixture } from "../given-fixture.ts";
import { print } from "../output.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

type Options = Target & { fixture: string | undefined; seed: number | undefined };

export const resetCommand: CommandModule<object, Options> = {
  command: "reset",
  describe: "Put a sandbox back to its first day",
  builder: (argv) =>
    targetOptions(argv)
      .option("fixture", {
        type: "string",
        requiresArg: true,
        describe: "Start from another fixture, by name or file",
      })
      .option("seed", { type: "number", requiresArg: true, describe: "Start from another seed" })
      .example("$0 reset --sandbox ci-42", "Data, clock, retries and journal as at the start") as never,
  async handler(target) {
    const fixture = await givenFixture(target.fixture);
    const state = await (await openSandbox(target)).reset({ fixture, seed: target.seed });
    print(
      target.json,
      state,
      `${state.name} is back to ${target.fixture ?? state.fixture}, seed ${state.seed}, at ${state.clock.now}`,
    );
  },
};
