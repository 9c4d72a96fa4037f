import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

/** A command line as a page's shell has it. */
export interface ToolCall {
  tool: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
}

let curl: boolean | undefined;

/** Pages call it, and stand-ins; looked for once. */
export function hasCurl(): boolean {
  curl ??= spawnSync("curl", ["--version"]).status === 0;
  return curl;
}

export const toLine = ({ tool, args }: ToolCall) => [tool, ...args].join(" ");

/** Puts stand-ins of tools into a folder, for the shell to find. */
export function writeToolStubs(folder: string, tools: readonly string[], socket: string): void {
  mkdirSync(folder);
  for (const tool of tools) {
    writeFileSync(join(folder, tool), toStubScript(tool, socket));
    chmodSync(join(folder, tool), 0o755);
  }
}

/** Hands the command line over, and does what it is told; a Node of its own would cost more than most commands. */
const toStubScript = (tool: string, socket: string) => `#!/bin/sh
told=$({ printf '%s\\0' ${tool} "$PWD" $# "$@"; env -0; } |
  curl -q -sS --noproxy '*' --unix-socket ${quote(socket)} --data-binary @- http://stage/) || exit 98
eval "$told"
`;

export interface StubServer {
  close(): Promise<void>;
}

/** Tells stand-ins in shell what becomes of their command lines. */
export async function serveToolStubs(
  socket: string,
  answer: (asked: ToolCall) => Promise<string>,
): Promise<StubServer> {
  const server = createServer(async (request, response) => {
    const asked = parseToolCall(await buffer(request));
    const told = await answer(asked).catch((error) =>
      toFailure(`${toLine(asked)}: ${(error as Error).stack}`, 99),
    );
    response.end(told);
  });
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function parseToolCall(sent: Buffer): ToolCall {
  const [tool = "", cwd = "", count, ...rest] = sent.toString("utf8").split("\0");
  const variables = rest.slice(Number(count)).filter((one) => one.includes("="));
  return {
    tool,
    cwd,
    args: rest.slice(0, Number(count)),
    env: Object.fromEntries(
      variables.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]),
    ),
  };
}

export const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** To standard error, and the end. */
export const toFailure = (text: string, code: number) => `printf '%s\\n' ${quote(text)} >&2\nexit ${code}\n`;
