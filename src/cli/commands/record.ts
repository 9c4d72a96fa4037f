import type { CommandModule } from "yargs";
import packageJson from "../../../package.json" with { type: "json" };
import { UsageError } from "../failure.ts";

interface Options {
  target: string;
  out: string;
  port: number;
  host: string;
  force: boolean;
  json: boolean;
}

export const recordCommand: CommandModule<object, Options> = {
  command: "record",
  describe: "Pass everything on to a service, and record it as an HTTP Archive",
  builder: (argv) =>
    argv
      .option("target", {
        type: "string",
        demandOption: true,
        requiresArg: true,
        describe: "Base URL of the service, without the version",
      })
      .option("out", {
        type: "string",
        demandOption: true,
        requiresArg: true,
        describe: "The archive to write; it can be read at any moment",
      })
      .option("port", {
        type: "number",
        default: 4749,
        requiresArg: true,
        describe: "Port; 0 picks a free one",
      })
      .option("host", {
        type: "string",
        default: "127.0.0.1",
        requiresArg: true,
        describe: "Address to bind",
      })
      .option("force", { type: "boolean", default: false, describe: "Replace a file that exists" })
      .example(
        "$0 record --target https://api.example.com --out traffic.har",
        "Then call http://127.0.0.1:4749 instead, and look with: $0 verify --har traffic.har",
      ) as never,
  async handler({ target, out, port, host, force, json }) {
    if (!Number.isInteger(port) || port < 0 || port > 65535)
      throw new UsageError(`--port takes a whole number from 0 to 65535, not ${port}`);
    const { record } = await import("../record-traffic.ts");
    await record({ target, out, port, host, force, json, version: packageJson.version });
  },
};
