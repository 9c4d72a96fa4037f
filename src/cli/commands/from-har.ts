import type { CommandModule } from "yargs";

interface Options {
  file: string;
  out: string | undefined;
  force: boolean;
  json: boolean;
}

/** The action `from-har`, which fixtures and scenarios have alike. */
export function fromHarCommand(
  what: "fixture" | "scenario",
  describe: string,
): CommandModule<object, Options> {
  return {
    command: "from-har <file>",
    describe,
    builder: (argv) =>
      argv
        .positional("file", { type: "string", demandOption: true, describe: "An HTTP Archive" })
        .option("out", { type: "string", requiresArg: true, describe: "File to write, instead of printing" })
        .option("force", { type: "boolean", default: false, describe: "Replace a file that exists" })
        .example(`$0 ${what} from-har traffic.har --out seen.yaml`, "") as never,
    async handler(options) {
      const { writeFixture, writeScenario } = await import("../from-har.ts");
      await (what === "fixture" ? writeFixture(options) : writeScenario(options));
    },
  };
}
