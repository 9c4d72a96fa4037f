import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

/** A command line as a page's shell has it. */
export interface Asked {
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

export const lineOf = ({ tool, args }: Asked) => [tool, ...args].join(" ");

/** Puts stand-ins of tools into a folder, for the shell to find. */
export function putStandIns(folder: string, tools: readonly string[], socket: string): void {
  mkdirSync(folder);
  for (const tool of tools) {
    writeFileSync(join(folder, tool), script(tool, socket));
    chmodSync(join(folder, tool), 0o755);
  }
}

/** Hands the command line over, and does what it is told; a Node of its own would cost more than most commands. */
const script = (tool: string, socket: string) => `#!/bin/sh
told=$({ printf '%s\\0' ${tool} "$PWD" $# "$@"; env -0; } |
  curl -q -sS --noproxy '*' --unix-socket ${quoted(socket)} --data-binary @- http://stage/) || exit 98
eval "$told"
`;

export interface Answering {
  close(): Promise<void>;
}

/** Tells stand-ins in shell what becomes of their command lines. */
export async function answerStandIns(
  socket: string,
  answer: (asked: Asked) => Promise<string>,
): Promise<Answering> {
  const server = createServer(async (request, response) => {
    const asked = readAsked(await buffer(request));
    const told = await answer(asked).catch((error) =>
      says(`${lineOf(asked)}: ${(error as Error).stack}`, 99),
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

function readAsked(sent: Buffer): Asked {
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

export const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** To standard error, and the end. */
export const says = (text: string, code: number) => `printf '%s\\n' ${quoted(text)} >&2\nexit ${code}\n`;
