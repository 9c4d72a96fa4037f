import type { CommandModule, Options } from "yargs";
import { START_FLAGS, type StartFlags } from "../start-flags.ts";

export const startCommand: CommandModule<object, StartFlags> = {
  command: ["start", "$0"],
  describe: "Start the server",
  builder: (argv) => {
    const flags = Object.entries(START_FLAGS as Record<string, Options>);
    const options = flags.map(([name, flag]) => [name, { ...flag, requiresArg: flag.type !== "boolean" }]);
    return argv
      .options(Object.fromEntries(options))
      .example("$0", "The reference fixture at http://127.0.0.1:4747")
      .example(
        "$0 start --fixture ./my.yaml --clock frozen@2026-03-15T12:00:00Z",
        "Your own fixture and time",
      )
      .example("$0 start --persist ./data --durable", "Data survives restarts, and kill -9")
      .example("$0 start --persist worlds.json", "Data in one file that you can read and commit") as never;
  },
  async handler(flags) {
    // Loaded here, so that other commands start fast.
    const { startServer } = await import("../start-server.ts");
    await startServer(flags);
  },
};
