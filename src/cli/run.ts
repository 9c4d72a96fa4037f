import { parseArgs } from "node:util";
import { report } from "./failure.ts";
import { type Flag, START_FLAGS, type StartFlags } from "./start-flags.ts";

/**
 * Runs one command line, and sets the exit code instead of exiting, so that output is never cut short. A plain `start`
 * does not load yargs, which takes as long as the server; yargs handles everything else, including help and mistakes.
 */
export async function run(words: readonly string[]): Promise<void> {
  const flags = parsePlainStart(words);
  if (flags === undefined) {
    const { runCommands } = await import("./run-commands.ts");
    return runCommands(words);
  }
  try {
    const { startServer } = await import("./start-server.ts");
    await startServer(flags);
  } catch (error) {
    process.exitCode = report(error, flags.json);
  }
}

const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * The flags of a plain `start`; undefined for other commands, and for command lines that need a message:
 * help, an unknown option, a missing value.
 */
export function parsePlainStart(words: readonly string[]): StartFlags | undefined {
  if (words[0] !== undefined && words[0] !== "start" && !words[0].startsWith("-")) return undefined;
  const knownFlags: Record<string, Flag> = START_FLAGS;
  const options = Object.entries(knownFlags).map(([name, { type, array }]) => [
    name,
    { type: type === "boolean" ? ("boolean" as const) : ("string" as const), multiple: array === true },
  ]);
  let parsed: { values: Record<string, unknown>; tokens: readonly { kind: string; name?: string }[] };
  try {
    parsed = parseArgs({
      args: words.filter((word, index) => index > 0 || word !== "start"),
      options: { ...Object.fromEntries(options), json: { type: "boolean" } },
      allowNegative: true,
      tokens: true,
    } as Parameters<typeof parseArgs>[0] & { tokens: true });
  } catch {
    return undefined;
  }
  const flags: Record<string, unknown> = { json: false };
  for (const [name, value] of Object.entries(parsed.values)) {
    const flag = knownFlags[name];
    const times = parsed.tokens.filter((token) => token.name === name).length;
    if ([value].flat().includes("") || (times > 1 && flag?.array !== true)) return undefined;
    if (flag?.type === "number" && !PLAIN_NUMBER.test(value as string)) return undefined;
    flags[name] = flag?.type === "number" ? Number(value) : value;
  }
  return flags as StartFlags;
}
