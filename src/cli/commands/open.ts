import type { CommandModule } from "yargs";
import { number, texts } from "../command.ts";

interface Flags {
  file: string;
  port?: number;
  operations?: string[];
  openapi?: string[];
  json: boolean;
}

export const openCommand: CommandModule<object, Flags> = {
  command: "open <file>",
  describe: "Start a server on the sandbox of an exported file, with the console",
  builder: (argv) =>
    argv
      .positional("file", { type: "string", describe: "A file that `sandbox export` or the console wrote" })
      .options({
        port: number("Port; 0 picks a free one", { default: 0 }),
        operations: texts("Files or folders of your own operations, if the file needs any"),
        openapi: texts("OpenAPI documents, or their bindings, if the file needs any"),
      })
      .example("$0 open failed.understudy", "What a failing test attached") as never,
  async handler({ file, ...flags }) {
    const [{ startServer }, { readFileSync }, { UsageError }] = await Promise.all([
      import("../start-server.ts"),
      import("node:fs"),
      import("../failure.ts"),
    ]);
    let bytes: Uint8Array;
    try {
      bytes = readFileSync(file);
    } catch (error) {
      throw new UsageError(`cannot read ${file}: ${(error as Error).message}`);
    }
    await startServer(flags, { file, bytes });
  },
};
