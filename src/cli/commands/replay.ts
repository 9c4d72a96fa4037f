import { readFileSync } from "node:fs";
import type { CommandModule } from "yargs";
import type { ReplayResult } from "../../client/replay/replay-bundle.ts";
import { CheckFailed, EXIT_FAILED, UsageError } from "../failure.ts";
import { isInteractive, print } from "../output.ts";
import { untilStopped } from "../until-ended.ts";

interface Options {
  bundle: string;
  json: boolean;
}

export const replayCommand: CommandModule<object, Options> = {
  command: "replay <bundle>",
  describe: "Repeat a bundle, and compare every answer byte for byte",
  builder: (argv) =>
    argv
      .positional("bundle", { type: "string", demandOption: true, describe: "A file made by POST S/bundle" })
      .example(
        "curl -X POST http://127.0.0.1:4747/_control/sandboxes/default/bundle > bug.json && $0 replay bug.json",
        "From a failure to its replay",
      ) as never,
  async handler({ bundle: file, json }) {
    const text = read(file);
    const { readBundle } = await import("../../tools/bundle/read-bundle.ts");
    const { replayBundle } = await import("../../client/replay/replay-bundle.ts");
    const live = !json && isInteractive(process.stderr);
    const onStep = (done: number, total: number) => void process.stderr.write(`\r${done} of ${total}`);
    const result = await untilStopped(async (signal) => {
      const replayed = await replayBundle(readBundle(text, file), { signal, ...(live ? { onStep } : {}) });
      if (live) process.stderr.write("\r\u001b[K");
      if (signal.aborted) throw new CheckFailed("the replay was interrupted");
      return replayed;
    });
    print(json, { ok: result.difference === undefined, ...result }, resultText(result));
    if (result.difference !== undefined) process.exitCode = EXIT_FAILED;
  },
};

function resultText({ requests, control_calls, difference }: ReplayResult): string {
  const counts = `${requests} request(s) and ${control_calls} control call(s)`;
  if (difference === undefined) return `${counts} replayed; every answer was the same.`;
  const { step, what, recorded, replayed } = difference;
  return [
    `The answers differ at ${step}:`,
    `  ${what}`,
    `  then  ${recorded}`,
    `  now   ${replayed}`,
    `${counts} were replayed until then.`,
  ].join("\n");
}

/** @throws UsageError */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read the bundle ${file}: ${(error as Error).message}`);
  }
}
