import { choice, sandboxCommand } from "../command.ts";

export const rewindCommand = sandboxCommand({
  command: "rewind <id>",
  describe: "Rewind a sandbox's world to before or after an entry of its history",
  args: { id: "The entry's id, as `history` shows it" },
  options: {
    to: choice(["before", "after"], "Before or after the entry's change", { default: "before" }),
  },
  examples: [["$0 rewind h_12", "The world before h_12; `history` marks what is undone"]],
  async run({ id, to }, { history }) {
    const state = await history.rewind(id, to as "before" | "after");
    const { name, clock, restarted_uploads: uploads } = state;
    const again = uploads.length === 0 ? "" : ` Uploads that start again: ${uploads.join(", ")}.`;
    return { value: state, text: `${name} is as it was ${to} ${id}, at ${clock.now}.${again}` };
  },
});
