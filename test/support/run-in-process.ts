import { format } from "node:util";
import { run } from "../../src/cli/run.ts";

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
}

/** Runs are sequential, since they share this process's streams, folder and environment. */
let lastRun: Promise<unknown> = Promise.resolve();

/** Runs a command line in this process. Calls `onOutput` for each output. */
export function runInProcess(
  args: readonly string[],
  options: RunOptions,
  onOutput?: () => void,
): Promise<Finished> {
  const mine = lastRun.then(() => runOnce(args, options, onOutput));
  lastRun = mine.catch(() => {});
  return mine;
}

async function runOnce(
  args: readonly string[],
  { cwd, env }: RunOptions,
  onOutput?: () => void,
): Promise<Finished> {
  const folder = process.cwd();
  const given: Record<string, string> = { NO_COLOR: "1", UNDERSTUDY_TOKEN: "", ...env };
  const before = Object.keys(given).map((name) => [name, process.env[name]] as const);
  const { exitCode } = process;
  const stdout = captureOutput(process.stdout, onOutput);
  const stderr = captureOutput(process.stderr);
  const { log } = console;
  // yargs prints its help with console.log.
  console.log = (...words) => void process.stdout.write(`${format(...words)}\n`);
  process.exitCode = undefined;
  if (cwd !== undefined) process.chdir(cwd);
  Object.assign(process.env, given);
  try {
    await run(args);
    return {
      code: Number(process.exitCode ?? 0),
      signal: null,
      stdout: stdout.text(),
      stderr: stderr.text(),
    };
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    if (cwd !== undefined) process.chdir(folder);
    console.log = log;
    stdout.release();
    stderr.release();
    process.exitCode = exitCode;
  }
}

/** Captures what is written to a stream until `release` is called. */
function captureOutput(stream: NodeJS.WriteStream, onOutput = () => {}): { text(): string; release(): void } {
  const own = Object.getOwnPropertyDescriptor(stream, "write");
  const chunks: Buffer[] = [];
  stream.write = ((chunk: string | Uint8Array, encoding?: unknown, done?: unknown) => {
    chunks.push(Buffer.from(chunk as string));
    onOutput();
    const callback = typeof encoding === "function" ? encoding : done;
    if (typeof callback === "function") process.nextTick(callback as () => void);
    return true;
  }) as typeof stream.write;
  return {
    text: () => Buffer.concat(chunks).toString("utf8"),
    release() {
      if (own === undefined) delete (stream as Partial<NodeJS.WriteStream>).write;
      else Object.defineProperty(stream, "write", own);
    },
  };
}
