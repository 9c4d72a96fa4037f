import packageJson from "../../../package.json" with { type: "json" };
import { command, FORCE, number, requirePort, text } from "../command.ts";

export const recordCommand = command({
  command: "record",
  describe: "Forward requests to a service, and record them as an HTTP Archive",
  options: {
    target: text("Base URL of the service, without the version", { demandOption: true }),
    out: text("The archive to write; it can be read at any time", { demandOption: true }),
    port: number("Port; 0 picks a free one", { default: 4749 }),
    host: text("Address to bind", { default: "127.0.0.1" }),
    ...FORCE,
  },
  examples: [
    [
      "$0 record --target https://api.example.com --out traffic.har",
      "Then send requests to http://127.0.0.1:4749 instead",
    ],
  ],
  async run(options) {
    requirePort(options.port);
    const { record } = await import("../record-traffic.ts");
    await record({ ...options, version: packageJson.version });
  },
});
