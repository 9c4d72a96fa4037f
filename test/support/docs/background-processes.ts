import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assemble } from "../../../src/understudy.ts";
import { waitUntil } from "../eventually.ts";
import type { ToolCall } from "./tool-stubs.ts";

interface Server {
  stop(): Promise<unknown>;
}

/** Processes that a page starts and that run until Ctrl-C, and the server that the page expects to run. */
export class BackgroundProcesses {
  private readonly started: ChildProcess[] = [];
  private server: Server | undefined;

  private readonly folder: string;
  private readonly bin: string;

  constructor(folder: string, bin: string) {
    this.folder = folder;
    this.bin = bin;
  }

  /**
   * Starts the server that a plain `understudy start` starts, in this process. Pages that show the start have their
   * own.
   */
  async startDefaultServer(port: number): Promise<string> {
    const before = process.cwd();
    process.chdir(this.folder);
    const understudy = assemble({ scenariosFolder: "scenarios" });
    process.chdir(before);
    this.server = { stop: () => understudy.close() };
    return understudy.listen(port, "127.0.0.1");
  }

  /** Starts the page's server in place of the one before. Resolves with its output. */
  async startServer(args: readonly string[], call: ToolCall, port: string): Promise<string> {
    await this.server?.stop();
    const ready = join(this.folder, ".ready.json");
    rmSync(ready, { force: true });
    const all = ["start", ...args, "--port", port, "--ready-file", ready];
    const { child, printed } = await this.start(all, call, () => existsSync(ready));
    writeFileSync(join(this.folder, ".server-pid"), String(child.pid));
    this.server = {
      stop: async () => {
        child.kill("SIGTERM");
        await waitUntil(() => hasEnded(child));
      },
    };
    return printed;
  }

  /** Resolves when the command is up. @throws Error if it ends before */
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
    await waitUntil(() => isUp(printed) || hasEnded(child));
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
