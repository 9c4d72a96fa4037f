import { readFileSync } from "node:fs";
import { command, number, texts } from "../command.ts";
import { runOrThrowUsageError } from "../failure.ts";

export const openCommand = command({
  command: "open <file>",
  describe: "Serve the sandbox of an exported file, with the console",
  args: { file: "A file that `sandbox export` or the console wrote" },
  options: {
    port: number("Port; 0 picks a free one", { default: 0 }),
    operations: texts("Files or folders of your own operations, if the file needs any"),
    openapi: texts("OpenAPI documents, or files that bind them to collections, if the file needs any"),
  },
  examples: [["$0 open failed.understudy", "What a failing test attached"]],
  async run({ file, ...flags }) {
    const bytes = runOrThrowUsageError(`cannot read ${file}`, () => readFileSync(file));
    const { startServer } = await import("../start-server.ts");
    await startServer(flags, { file, bytes });
  },
});
