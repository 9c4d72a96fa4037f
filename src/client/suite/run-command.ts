import type { ChildProcess } from "node:child_process";
import spawn from "cross-spawn";
import { MAX_TIMEOUT_MS } from "../../engine/platform.ts";
import { InputError } from "../../tools/input.ts";

export interface CommandRun {
  exit_code: number | null;
  signal: string | null;
  output: string;
  timed_out: boolean;
}

interface CommandOptions {
  env: Readonly<Record<string, string>>;
  /** Wall milliseconds; undefined for no limit. */
  timeoutMs: number | undefined;
  signal: AbortSignal;
  /** File descriptors that the output is written to at once, standard output first; without them it is stored. */
  outputFds?: readonly [number, number];
}

/** Undefined if the command succeeded. */
export function describeFailedEnd({ exit_code, signal }: CommandRun): string | undefined {
  if (signal !== null) return `the command was ended by ${signal}`;
  return exit_code === 0 ? undefined : `the command exited with ${exit_code}`;
}

/** The command itself cannot be started: wrong usage, not a failed test. */
export class CommandNotFound extends InputError {}

/** The last bytes of a longer output are stored. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Time for a process to end by itself after the signal. */
const GRACE_MS = 3000;

const IS_WINDOWS = process.platform === "win32";

/**
 * Runs a command in its own process group, so that processes that it started end with it. A daemon that leaves the group
 * stays, as that of a build tool does on purpose.
 * @throws CommandNotFound
 */
export async function runCommand(command: readonly string[], options: CommandOptions): Promise<CommandRun> {
  const [program, ...args] = command;
  if (program === "") throw new CommandNotFound("the command after -- is empty");
  const child = startChild(program!, args, options);
  let output = Buffer.alloc(0);
  let omittedBytes = 0;
  const appendOutput = (chunk: Buffer) => {
    const all = Buffer.concat([output, chunk]);
    omittedBytes += Math.max(0, all.length - MAX_OUTPUT_BYTES);
    output = all.subarray(-MAX_OUTPUT_BYTES);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", appendOutput);
  let timedOut = false;
  let killTimer: NodeJS.Timeout | undefined;
  const end = () => {
    signalGroup(child, "SIGTERM");
    killTimer ??= setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS);
  };
  const expire = () => {
    timedOut = true;
    end();
  };
  const { timeoutMs } = options;
  const timer = timeoutMs && setTimeout(expire, Math.min(timeoutMs, MAX_TIMEOUT_MS));
  options.signal.addEventListener("abort", end, { once: true });
  if (options.signal.aborted) end();
  try {
    const { code, signal } = await waitForEnd(child, program!);
    const text = omittedBytes === 0 ? `${output}` : `[${omittedBytes} bytes left out]\n${output}`;
    return { exit_code: code, signal, output: text, timed_out: timedOut };
  } finally {
    clearTimeout(timer);
    clearTimeout(killTimer);
    options.signal.removeEventListener("abort", end);
    // Processes that the command left behind would call a sandbox that is about to be deleted.
    signalGroup(child, "SIGKILL");
  }
}

function startChild(program: string, args: readonly string[], { env, outputFds }: CommandOptions) {
  try {
    return spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", ...(outputFds ?? (["pipe", "pipe"] as const))],
      // Makes it the leader of a process group; on Windows it would open a window.
      detached: !IS_WINDOWS,
    });
  } catch (error) {
    // Node reports some reasons at once, and others later.
    throw toCommandNotFound(program, error as NodeJS.ErrnoException);
  }
}

function toCommandNotFound(program: string, { code, message }: NodeJS.ErrnoException): CommandNotFound {
  const isLine = code === "ENOENT" && program.includes(" ");
  const hint = isLine
    ? `; for a line of a shell, use: ${IS_WINDOWS ? "cmd /c" : "sh -c"} ${JSON.stringify(program)}`
    : "";
  return new CommandNotFound(`cannot run ${program}: ${START_ERRORS[code!] ?? message}${hint}`);
}

const START_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "not found",
  ENOTDIR: "not found",
  ENAMETOOLONG: "its name is too long",
  E2BIG: "its arguments and environment are too long",
  EACCES: "it is not an executable file",
  ENOEXEC: "it is not an executable file",
};

function waitForEnd(child: ChildProcess, program: string) {
  return new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once("error", (error) => reject(toCommandNotFound(program, error)));
    child.once("exit", (code, signal) => {
      // Its output may still be on the way, but a grandchild that holds the pipe open is not waited for.
      const settle = () => resolve({ code, signal });
      const timer = setTimeout(settle, 200);
      child.once("close", () => {
        clearTimeout(timer);
        settle();
      });
    });
  });
}

/** Ends the command and the processes that it started. Windows has neither process groups nor signals. */
function signalGroup({ pid, exitCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  if (IS_WINDOWS) {
    if (exitCode === null)
      spawn("taskkill", ["/pid", `${pid}`, "/t", "/f"], { stdio: "ignore" }).on("error", () => {});
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The process group is empty.
  }
}
