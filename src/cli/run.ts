import { plainStartFlags } from "./start-flags.ts";

/**
 * Runs one command line; sets the exit code rather than exiting, so that output is never cut short. A plain
 * `start` goes around yargs, which takes as long to load as the server: everything else, help and mistakes
 * included, is yargs's.
 */
export async function run(words: readonly string[]): Promise<void> {
  const flags = plainStartFlags(words);
  if (flags === undefined) {
    const { runCommands } = await import("./run-commands.ts");
    return runCommands(words);
  }
  try {
    const { startServer } = await import("./start-server.ts");
    await startServer(flags);
  } catch (error) {
    const { report } = await import("./failure.ts");
    process.exitCode = report(error, flags.json);
  }
}
