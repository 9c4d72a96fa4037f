import { command, group } from "../command.ts";
import { formatTable } from "../process.ts";

const setup = command({
  command: "setup [dir]",
  describe: "Write a page for coding agents on how to use Understudy in a project",
  args: { dir: "The project's folder [default: .]" },
  examples: [["$0 agent setup", "A skill, and a pointer to it in AGENTS.md"]],
  async run({ dir = "." }) {
    const { writeAgentFiles } = await import("../agent-files.ts");
    const files = writeAgentFiles(dir);
    const leftAlone = files.some(({ did }) => did === "left alone");
    const text = [
      formatTable(
        ["", "file"],
        files.map(({ file, did }) => [did, file]),
      ),
      ...(leftAlone
        ? ["", "Files that were left alone contain your own text. Move them away to get the page."]
        : []),
    ].join("\n");
    return { value: { files }, text };
  },
});

export const agentCommand = group(
  "agent",
  "Set up coding agents to use Understudy",
  [setup],
  ["$0 agent setup", "Writes a skill page into the project"],
);
