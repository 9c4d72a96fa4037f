import type { CommandModule } from "yargs";
import type { Understudy } from "../../understudy.ts";
import { banner } from "../banner.ts";
import { writeReadyFile } from "../ready-file.ts";
import { readStartOptions, type StartFlags, startFlags } from "../start-options.ts";

export const startCommand: CommandModule<object, StartFlags> = {
  command: ["start", "$0"],
  describe: "Start the server",
  builder: (argv) =>
    startFlags(argv)
      .example("$0", "The reference world at http://127.0.0.1:4747")
      .example(
        "$0 start --fixture ./my.yaml --clock frozen@2026-03-15T12:00:00Z",
        "A world of your own, time standing still",
      )
      .example("$0 start --persist ./data --durable", "A world that survives restarts, also after kill -9"),
  async handler(flags) {
    // The server's parts are only loaded by the command that needs them.
    const [{ assemble }, options] = await Promise.all([
      import("../../understudy.ts"),
      readStartOptions(flags),
    ]);
    const understudy = await assemble(options.server);
    stopOnSignals(understudy);
    let url: string;
    try {
      url = await understudy.listen(options.port, options.host);
    } catch (error) {
      await understudy.close();
      throw error;
    }
    const ready = {
      url,
      console: `${url}/_console`,
      pid: process.pid,
      token: options.server.shared?.token ?? null,
    };
    if (options.readyFile) writeReadyFile(options.readyFile, ready);
    if (flags.json) process.stdout.write(`${JSON.stringify(ready)}\n`);
    else if (!flags.quiet) process.stdout.write(banner(understudy, ready));
  },
};

/** The first signal lets open requests finish; a second does not wait. */
function stopOnSignals(understudy: Understudy): void {
  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(0);
    stopping = true;
    understudy.close().then(
      () => process.exit(0),
      (error) => {
        process.stderr.write(`understudy: ended with a failure: ${(error as Error).message}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}
