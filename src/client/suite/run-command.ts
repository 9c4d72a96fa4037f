import { spawn } from "node:child_process";

export interface CommandRun {
  exit_code: number | null;
  signal: string | null;
  output: string;
  /** The command took longer than it may. */
  timed_out: boolean;
}

export interface CommandOptions {
  env: Readonly<Record<string, string>>;
  /** Wall milliseconds; undefined for no limit. */
  timeoutMs: number | undefined;
  signal: AbortSignal;
  /** Where its output goes at once, by file descriptor, standard output's first; kept unless given. */
  show?: readonly [number, number];
}

/** The command itself cannot be started: wrong usage, not a failed test. */
export class CommandNotFound extends Error {}

const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Time for a process to end by itself after the signal. */
const GRACE_MS = 3000;

/**
 * Runs a command in a process group of its own, so that whatever it has started ends with it.
 * @throws CommandNotFound
 */
export async function runCommand(command: readonly string[], options: CommandOptions): Promise<CommandRun> {
  const [program, ...args] = command;
  const child = spawn(program!, args, {
    env: { ...process.env, ...options.env },
    stdio: ["ignore", ...(options.show ?? (["pipe", "pipe"] as const))],
    detached: true,
  });
  const output = new Tail(MAX_OUTPUT_BYTES);
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => output.add(chunk));
  let timedOut = false;
  let kill: NodeJS.Timeout | undefined;
  const end = () => {
    signalGroup(child.pid, "SIGTERM");
    kill ??= setTimeout(() => signalGroup(child.pid, "SIGKILL"), GRACE_MS);
  };
  const expire = () => {
    timedOut = true;
    end();
  };
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(expire, options.timeoutMs);
  options.signal.addEventListener("abort", end, { once: true });
  if (options.signal.aborted) end();
  try {
    const { code, signal } = await ended(child, program!);
    return { exit_code: code, signal, output: output.text(), timed_out: timedOut };
  } finally {
    clearTimeout(timer);
    clearTimeout(kill);
    options.signal.removeEventListener("abort", end);
    // Processes that the command left behind would call a sandbox that is about to be deleted.
    signalGroup(child.pid, "SIGKILL");
  }
}

function ended(child: ReturnType<typeof spawn>, program: string) {
  return new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        new CommandNotFound(
          `cannot run ${program}: ${error.code === "ENOENT" ? "not found" : error.message}`,
        ),
      );
    });
    child.once("exit", (code, signal) => {
      // Its output may still be on the way, but a grandchild that holds the pipe open is not waited for.
      const settle = () => resolve({ code, signal });
      const late = setTimeout(settle, 200);
      child.once("close", () => {
        clearTimeout(late);
        settle();
      });
    });
  });
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The process group is empty.
  }
}

/** The last bytes of the output. */
class Tail {
  private readonly most: number;
  private chunks: Buffer[] = [];
  private size = 0;
  private lost = 0;

  constructor(most: number) {
    this.most = most;
  }

  add(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    while (this.size - this.chunks[0]!.length >= this.most) {
      const first = this.chunks.shift()!;
      this.size -= first.length;
      this.lost += first.length;
    }
  }

  text(): string {
    const text = Buffer.concat(this.chunks).toString("utf8");
    return this.lost === 0 ? text : `[${this.lost} bytes left out]\n${text}`;
  }
}
