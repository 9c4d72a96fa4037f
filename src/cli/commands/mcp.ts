import type { CommandModule } from "yargs";
import packageJson from "../../../package.json" with { type: "json" };
import { connect, usualUrl } from "../../client/connect.ts";

interface Options {
  url: string;
  token: string | undefined;
}

export const mcpCommand: CommandModule<object, Options> = {
  command: "mcp",
  describe: "Offer a running server's tools to a model, over standard input and output (MCP)",
  builder: (argv) =>
    argv
      .option("url", {
        type: "string",
        default: usualUrl(),
        requiresArg: true,
        describe: "The server's address (or UNDERSTUDY_URL)",
      })
      .option("token", {
        type: "string",
        requiresArg: true,
        describe: "Control token of a shared server (or UNDERSTUDY_TOKEN)",
      })
      .example("$0 mcp --url http://127.0.0.1:4747", "What an MCP client is to start") as never,
  async handler({ url, token }) {
    const { mcpOverStdio } = await import("../../client/mcp/serve-stdio.ts");
    await mcpOverStdio(connect(url, token === undefined ? {} : { token }), packageJson.version);
  },
};
