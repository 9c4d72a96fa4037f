import type { CommandModule } from "yargs";
import type { VerifyCommandOptions } from "../run-verify-command.ts";

export const verifyCommand: CommandModule<object, VerifyCommandOptions> = {
  command: "verify",
  describe: "Run the portable contract suite against any base URL, as the key's user",
  builder: (argv) =>
    argv
      .option("target", {
        type: "string",
        requiresArg: true,
        describe: "Base URL of an Understudy or of the real service, without the version",
      })
      .option("key", {
        type: "string",
        requiresArg: true,
        describe: "API key; the suite acts as its user",
      })
      .option("har", {
        type: "string",
        requiresArg: true,
        describe: "HTTP Archive to judge instead; sends nothing",
      })
      .option("write", {
        type: "boolean",
        default: false,
        describe: "Also what changes something; without it nothing is changed",
      })
      .option("use", {
        type: "string",
        array: true,
        requiresArg: true,
        describe: "NAME=ID of what cannot be found by asking, or a YAML file of them; repeatable",
      })
      .option("report", {
        type: "string",
        array: true,
        requiresArg: true,
        describe: "junit=FILE and html=FILE, repeatable or comma-separated",
      })
      .option("timeout", {
        type: "number",
        default: 600,
        requiresArg: true,
        describe: "Seconds that the whole run may take",
      })
      .example("$0 verify --target http://127.0.0.1:4747 --key ak_… --write", "An Understudy, in full")
      .example(
        "$0 verify --target https://api.example.com --key ak_… --use transcription_id=trans_… --report html=out.html",
        "The real service, reading only",
      )
      .example("$0 verify --har traffic.har", "What somebody recorded of it") as never,
  async handler(options) {
    const { runVerifyCommand } = await import("../run-verify-command.ts");
    await runVerifyCommand(options);
  },
};
