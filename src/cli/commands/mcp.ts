import packageJson from "../../../package.json" with { type: "json" };
import { getDefaultUrl } from "../../client/connect.ts";
import { findNamedSandbox } from "../../client/http.ts";
import { command, connectTo, text } from "../command.ts";
import { UsageError } from "../failure.ts";

export const mcpCommand = command({
  command: "mcp",
  describe: "Offer a running server's tools to a model, over standard input and output (MCP)",
  options: {
    url: text("The server's address (or UNDERSTUDY_URL) [default: http://127.0.0.1:4747]"),
    token: text("Control token of a shared server (or UNDERSTUDY_TOKEN)"),
  },
  examples: [["$0 mcp --url http://127.0.0.1:4747", "The command that an MCP client starts"]],
  check({ url }) {
    const sandbox = findNamedSandbox(url ?? getDefaultUrl());
    if (sandbox !== undefined)
      throw new UsageError(
        `${url === undefined ? "UNDERSTUDY_URL" : "--url"} takes the server's address, without a sandbox; the model names ${sandbox} in its calls`,
      );
  },
  async run(target) {
    const { serveMcpOverStdio } = await import("../../client/mcp/serve.ts");
    await serveMcpOverStdio(connectTo(target), packageJson.version);
  },
});
