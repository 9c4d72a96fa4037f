import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

/** A command line in a page's shell. */
export interface ToolCall {
  tool: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
}

let curl: boolean | undefined;

/** Pages and stubs call curl. Checked only once. */
export function hasCurl(): boolean {
  curl ??= spawnSync("curl", ["--version"]).status === 0;
  return curl;
}

export const toLine = ({ tool, args }: ToolCall) => [tool, ...args].join(" ");

/** Writes stubs of tools into a folder of the shell's PATH. */
export function writeToolStubs(folder: string, tools: readonly string[], socket: string): void {
  mkdirSync(folder);
  for (const tool of tools) {
    writeFileSync(join(folder, tool), toStubScript(tool, socket));
    chmodSync(join(folder, tool), 0o755);
  }
}

/** Sends the command line to the test and runs the script in the response. A shell script starts faster than Node. */
const toStubScript = (tool: string, socket: string) => `#!/bin/sh
script=$({ printf '%s\\0' ${tool} "$PWD" $# "$@"; env -0; } |
  curl -q -sS --noproxy '*' --unix-socket ${quote(socket)} --data-binary @- http://stubs/) || exit 98
eval "$script"
`;

export interface StubServer {
  close(): Promise<void>;
}

/** Serves the scripts that stubs run instead of their command lines. */
export async function serveToolStubs(
  socket: string,
  answer: (call: ToolCall) => Promise<string>,
): Promise<StubServer> {
  const server = createServer(async (request, response) => {
    const call = parseToolCall(await buffer(request));
    const script = await answer(call).catch((error) =>
      toFailure(`${toLine(call)}: ${(error as Error).stack}`, 99),
    );
    response.end(script);
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

/** Prints a text to standard error and exits. */
export const toFailure = (text: string, code: number) => `printf '%s\\n' ${quote(text)} >&2\nexit ${code}\n`;
