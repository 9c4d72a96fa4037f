import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitUntil } from "./eventually.ts";
import { type Finished, type RunOptions, runInProcess } from "./run-in-process.ts";

export type { Finished } from "./run-in-process.ts";

const BIN = fileURLToPath(new URL("../../bin/understudy.js", import.meta.url));

export interface Running {
  child: ChildProcess;
  /** The output so far. */
  output(): { stdout: string; stderr: string };
  finished: Promise<Finished>;
}

/** Starts the command as a user does; `npm test` builds dist/ first. */
export function startCommand(args: readonly string[], { cwd, env }: RunOptions = {}): Running {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: "1", UNDERSTUDY_TOKEN: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const finished = new Promise<Finished>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, output: () => ({ stdout, stderr }), finished };
}

/** Commands that read standard input or exit the process: each needs its own process. */
const OWN_PROCESS = new Set(["mcp", "completion", "--get-yargs-completions"]);
/** Commands that run until they are stopped. `start` returns when it is up. */
const RUN_UNTIL_STOPPED = new Set(["listen", "record"]);

/**
 * Runs a command to its end in this process, which is faster. Tests of the process itself (signals, pipes, a full
 * disk, the package's files) use `startCommand` or are in test/journeys.
 */
export function runCommand(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const command = args[0] ?? "start";
  if (OWN_PROCESS.has(command) && !args.includes("--help")) return startCommand(args, options).finished;
  return RUN_UNTIL_STOPPED.has(command) ? stopWhenReady(args, options) : runInProcess(args, options);
}

/** Runs a command that should be refused. If it prints something, it is up and gets SIGTERM, so that the test ends. */
function stopWhenReady(args: readonly string[], options: RunOptions): Promise<Finished> {
  const others = process.listeners("SIGTERM");
  return runInProcess(args, options, () => {
    const own = process.listeners("SIGTERM").filter((listener) => !others.includes(listener));
    for (const end of own) setImmediate(() => end("SIGTERM"));
  });
}

export interface Ready {
  url: string;
  console: string;
  pid: number;
  token: string | null;
}

export interface RunningServer extends Running {
  ready: Ready;
  stop(signal?: NodeJS.Signals): Promise<Finished>;
}

/** Runs `understudy start` on a free or given port. Resolves when its ready file exists. */
export async function startServer(
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<RunningServer> {
  const folder = createTempFolder();
  const file = join(folder, "ready.json");
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const running = startCommand(["start", ...port, "--ready-file", file, ...args], {
    cwd: folder,
    ...options,
  });
  let ended: Finished | undefined;
  void running.finished.then((finished) => {
    ended = finished;
  });
  await waitUntil(() => existsSync(file) || ended !== undefined);
  if (ended !== undefined) throw new Error(`the server ended: ${(ended as Finished).stderr}`);
  const ready = JSON.parse(readFileSync(file, "utf8")) as Ready;
  return {
    ...running,
    ready,
    async stop(signal = "SIGTERM") {
      running.child.kill(signal);
      return running.finished;
    },
  };
}

const folders: string[] = [];

/** Creates a folder that `removeTempFolders` removes. */
export function createTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "understudy-test-"));
  folders.push(folder);
  return folder;
}

/** Call it in afterAll. */
export function removeTempFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
