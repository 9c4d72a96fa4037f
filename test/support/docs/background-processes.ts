import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assemble } from "../../../src/understudy.ts";
import { until } from "../eventually.ts";
import type { ToolCall } from "./tool-stubs.ts";

interface Server {
  stop(): Promise<unknown>;
}

/** What a page starts and goes on until Ctrl-C, and the server that it takes for granted. */
export class BackgroundProcesses {
  private readonly started: ChildProcess[] = [];
  private server: Server | undefined;

  private readonly folder: string;
  private readonly bin: string;

  constructor(folder: string, bin: string) {
    this.folder = folder;
    this.bin = bin;
  }

  /** A server as a plain `understudy start` has it, in this process; pages that show the start have one of their own. */
  async startDefaultServer(port: number): Promise<string> {
    const before = process.cwd();
    process.chdir(this.folder);
    const understudy = assemble();
    process.chdir(before);
    this.server = { stop: () => understudy.close() };
    return understudy.listen(port, "127.0.0.1");
  }

  /** The page's server, in place of the one before; resolves with what it has printed. */
  async startServer(args: readonly string[], asked: ToolCall, port: string): Promise<string> {
    await this.server?.stop();
    const ready = join(this.folder, ".ready.json");
    rmSync(ready, { force: true });
    const all = ["start", ...args, "--port", port, "--ready-file", ready];
    const { child, printed } = await this.start(all, asked, () => existsSync(ready));
    writeFileSync(join(this.folder, ".server-pid"), String(child.pid));
    this.server = {
      stop: async () => {
        child.kill("SIGTERM");
        await until(() => hasEnded(child));
      },
    };
    return printed;
  }

  /** Resolves once it is up. @throws Error when it ends before */
  async start(
    args: readonly string[],
    { cwd, env }: ToolCall,
    isUp: (printed: string) => boolean,
  ): Promise<{ child: ChildProcess; printed: string }> {
    const stdio = ["ignore", "pipe", "pipe"] as const;
    const child = spawn(process.execPath, [this.bin, ...args], {
      cwd,
      env,
      stdio: [...stdio],
      detached: true,
    });
    this.started.push(child);
    let printed = "";
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on("data", (chunk) => {
        printed += chunk;
      });
    }
    await until(() => isUp(printed) || hasEnded(child));
    if (hasEnded(child))
      throw new Error(
        `understudy ${args.join(" ")} ended with ${child.exitCode ?? child.signalCode}: ${printed}`,
      );
    return { child, printed };
  }

  async close(): Promise<void> {
    for (const child of this.started) child.kill("SIGKILL");
    await this.server?.stop();
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;
