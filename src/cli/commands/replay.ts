import type { ReplayResult } from "../../client/replay/replay-bundle.ts";
import { readUserText } from "../../documents/files.ts";
import { pluralize } from "../../engine/contract/text.ts";
import { command, texts } from "../command.ts";
import { CheckFailed, runOrThrowUsageError } from "../failure.ts";
import { createStatusLine, isInteractive, runInterruptible } from "../process.ts";

export const replayCommand = command({
  command: "replay <bundle>",
  describe: "Replay a bundle, and compare every answer byte for byte",
  args: { bundle: "A file that `understudy bundle` or the console wrote" },
  options: {
    operations: texts("Files or folders of your own operations, if the bundle names any"),
    openapi: texts("OpenAPI documents, or files that bind them to collections, if the bundle names any"),
  },
  examples: [["$0 bundle bug.json && $0 replay bug.json", "Reproduce a failure"]],
  async run({ bundle: file, json, operations: files, openapi }) {
    const text = runOrThrowUsageError(`cannot read the bundle ${file}`, () => readUserText(file));
    const { readBundle } = await import("../../tools/bundle/bundle.ts");
    const { replayBundle } = await import("../../client/replay/replay-bundle.ts");
    const { loadOwnSources, openOwnFiles } = await import("../../documents/own-files.ts");
    const operations = await loadOwnSources(await openOwnFiles({ operations: files, openapi }));
    const showStatus = createStatusLine(!json && isInteractive(process.stderr));
    const result = await runInterruptible(async (signal) => {
      const replayed = await replayBundle(readBundle(text, file), {
        signal,
        operations,
        onStep: (done, total) => showStatus(`${done} of ${total}`),
      }).finally(() => showStatus(""));
      if (signal.aborted) throw new CheckFailed("the replay was interrupted");
      return replayed;
    });
    const ok = result.difference === undefined;
    return { value: { ok, ...result }, text: formatReplayResult(result), failed: !ok };
  },
});

function formatReplayResult({ requests, control_calls, passed_on = 0, difference }: ReplayResult): string {
  const counts = `${pluralize(requests - passed_on, "request")} and ${pluralize(control_calls, "control call")}`;
  const others =
    passed_on === 0
      ? ""
      : ` ${pluralize(passed_on, "request")} to the upstream ${passed_on === 1 ? "was" : "were"} not repeated.`;
  if (difference === undefined) return `${counts} replayed; every answer was the same.${others}`;
  const { step, what, recorded, replayed } = difference;
  return [
    `The answers differ at ${step}:`,
    `  ${what}`,
    `  recorded  ${recorded}`,
    `  replayed  ${replayed}`,
    `${counts} were replayed until then.`,
  ].join("\n");
}
