import type { CommandModule } from "yargs";
import { pluralize } from "../../engine/contract/text.ts";
import { confirmOverwrite } from "../new-files.ts";
import { print } from "../output.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

type Options = Target & { file: string; force: boolean };

export const bundleCommand: CommandModule<object, Options> = {
  command: "bundle <file>",
  describe: "Put what happened to a sandbox into one file, for `replay`",
  builder: (argv) =>
    targetOptions(argv)
      .positional("file", { type: "string", describe: "The file to write", demandOption: true })
      .option("force", { type: "boolean", default: false, describe: "Replace a file that exists" })
      .example("$0 bundle bug.json && $0 replay bug.json", "What happened here, on any machine") as never,
  async handler({ file, force, ...target }) {
    const sandbox = await openSandbox(target);
    const write = await confirmOverwrite(file, { force, secret: true });
    const bundle = await sandbox.bundle();
    write(`${JSON.stringify(bundle)}\n`);
    const { steps } = bundle;
    print(
      target.json,
      { file, steps: steps.length },
      `Wrote ${file}: ${pluralize(steps.length, "step")}. Replay it with \`understudy replay ${file}\`.`,
    );
  },
};
