import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { UnderstudyClient } from "../connect.ts";
import { findReach, mcpServer } from "./mcp-server.ts";

/**
 * `understudy mcp`: speaks the protocol over standard input and output until its client leaves.
 * @throws UnreachableError where no server answers
 */
export async function mcpOverStdio(client: UnderstudyClient, version: string): Promise<void> {
  // Said at once, rather than with the client's first call.
  await client.health();
  const reach = await findReach(client);
  const ended = new Promise<void>((resolve) => process.stdin.once("close", resolve));
  const handle = serveStdio(() => mcpServer(reach, version), {
    onerror: ({ message }) => process.stderr.write(`understudy: ${message}\n`),
  });
  await ended;
  await handle.close();
}
