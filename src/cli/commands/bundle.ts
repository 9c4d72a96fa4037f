import { pluralize, toShellWord } from "../../engine/contract/text.ts";
import { FORCE, sandboxCommand } from "../command.ts";
import { requireOutputFile, writeNewFile } from "../write-files.ts";

export const bundleCommand = sandboxCommand({
  command: "bundle <file>",
  describe: "Write everything that happened to a sandbox to one file, for `replay`",
  args: { file: "The file to write" },
  options: FORCE,
  examples: [["$0 bundle bug.json && $0 replay bug.json", "Reproduce it on any machine"]],
  async run({ file, force }, sandbox) {
    requireOutputFile(file, force);
    const bundle = await sandbox.bundle();
    writeNewFile(file, `${JSON.stringify(bundle)}\n`, { force, isSecret: true });
    const steps = bundle.steps.length;
    return {
      value: { file, steps },
      text: `Wrote ${file}: ${pluralize(steps, "step")}. Replay it with \`understudy replay ${toShellWord(file)}\`.`,
    };
  },
});
