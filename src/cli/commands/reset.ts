import { number, openSandbox, readFixture, serverCommand, text } from "../command.ts";

export const resetCommand = serverCommand({
  command: "reset",
  describe: "Reset a sandbox to its initial state",
  options: {
    fixture: text("Start from another fixture, by name or file"),
    seed: number("Start from another seed"),
  },
  examples: [["$0 reset --sandbox ci-42", "Data, clock, retries and journal as at the start"]],
  async run(options) {
    const { fixture: nameOrFile, seed } = options;
    // Read first: a broken file is reported even if no server runs.
    const fixture = await readFixture(nameOrFile);
    const state = await (await openSandbox(options)).reset({ fixture, seed });
    return {
      value: state,
      text: `${state.name} is back to ${nameOrFile ?? state.fixture}, seed ${state.seed}, at ${state.clock.now}`,
    };
  },
});
