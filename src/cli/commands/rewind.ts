import type { CommandModule } from "yargs";
import { print } from "../output.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

type Options = Target & { id: string; to: "before" | "after" };

export const rewindCommand: CommandModule<object, Options> = {
  command: "rewind <id>",
  describe: "Take a sandbox's world back to before an entry of its history",
  builder: (argv) =>
    targetOptions(argv)
      .positional("id", { type: "string", describe: "The entry's id, as `history` shows it" })
      .option("to", {
        choices: ["before", "after"],
        default: "before",
        describe: "To before what it did, or to after it",
      })
      .example("$0 rewind h_12", "As it was before h_12; `history` still tells what is undone") as never,
  async handler({ id, to, ...target }) {
    const state = await (await openSandbox(target)).history.rewind(id, to);
    const { name, clock, restarted_uploads: uploads } = state;
    const again = uploads.length === 0 ? "" : ` Uploads that start again: ${uploads.join(", ")}.`;
    print(target.json, state, `${name} is as it was ${to} ${id}, at ${clock.now}.${again}`);
  },
};
