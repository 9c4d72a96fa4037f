import type { CommandModule, Options } from "yargs";
import { START_FLAGS, type StartFlags } from "../start-flags.ts";

export const startCommand: CommandModule<object, StartFlags> = {
  command: ["start", "$0"],
  describe: "Start the server",
  builder: (argv) =>
    argv
      .options(
        Object.fromEntries(
          Object.entries(START_FLAGS as Record<string, Options>).map(([name, flag]) => [
            name,
            { ...flag, requiresArg: flag.type !== "boolean" },
          ]),
        ),
      )
      .example("$0", "The reference world at http://127.0.0.1:4747")
      .example(
        "$0 start --fixture ./my.yaml --clock frozen@2026-03-15T12:00:00Z",
        "A world of your own, time standing still",
      )
      .example("$0 start --persist ./data --durable", "A world that survives restarts, also after kill -9")
      .example(
        "$0 start --persist worlds.json",
        "The same in one document to read, edit and commit",
      ) as never,
  async handler(flags) {
    // The server's parts are only loaded by the command that needs them.
    const { startServer } = await import("../start-server.ts");
    await startServer(flags);
  },
};
