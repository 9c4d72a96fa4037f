import { toPrintable, toPrintableJson, toPrintableLines } from "../engine/contract/text.ts";

export function print(json: boolean, value: unknown, text: string): void {
  if (json) printJson(value);
  else if (text !== "") printLines(text);
}

export function printJson(value: unknown): void {
  printLines(toPrintableJson(value, 2));
}

/** Writes lines to standard output; control characters in them are escaped. */
export function printLines(text: string): void {
  process.stdout.write(`${toPrintableLines(text)}\n`);
}

/** Writes a report with its colours; the code that made the report has escaped all other control characters. */
export function printStyled(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes one line of JSON for a program that follows the output. */
export function printJsonLine(value: unknown): void {
  printLines(toPrintableJson(value));
}

export function printError(text: string): void {
  process.stderr.write(`understudy: ${toPrintableLines(text)}\n`);
}

let isOutputLost = false;
const lossListeners = new Set<() => void>();

/**
 * A command whose output cannot be written, such as to a full disk, runs to its end, reports that, and exits with 2. If
 * the reader closed the pipe (`understudy openapi | head`), it reports nothing and exits with the code of its result.
 */
export function watchOutput(): void {
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (isOutputLost) return;
    isOutputLost = true;
    if (code !== "EPIPE") {
      printError(`the output cannot be written${code === undefined ? "" : ` (${code})`}`);
      process.once("exit", () => {
        process.exitCode = 2;
      });
    }
    for (const end of lossListeners) end();
  });
  process.stderr.on("error", () => {});
}

/**
 * Calls back when output can no longer be written, for commands that print until they are stopped. Returns a function
 * that removes the listener.
 */
export function onOutputLost(end: () => void): () => void {
  if (isOutputLost) end();
  else lossListeners.add(end);
  return () => void lossListeners.delete(end);
}

/** Left-aligned columns, as wide as their widest cell. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, toPrintable(row[column] ?? "").length), title.length),
  );
  const formatRow = (cells: readonly string[]) =>
    cells
      .map((cell, i) => toPrintable(cell).padEnd(widths[i]!))
      .join("  ")
      .trimEnd();
  return [formatRow(head), ...rows.map(formatRow)].join("\n");
}

/** Whether to show progress and colours on this stream. */
export function isInteractive(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && process.env["NO_COLOR"] === undefined && process.env["CI"] === undefined;
}

/**
 * Returns a function that shows a text in one line of standard error, in place of the one before; `""` removes it.
 * @param isLive otherwise it shows nothing
 */
export function createStatusLine(isLive: boolean): (text: string) => void {
  return (text) => {
    if (!isLive) return;
    // 0 on a terminal without a size, as in some containers.
    const width = (process.stderr.columns || 80) - 1;
    process.stderr.write(`\r\u001b[K${toPrintable(text).slice(0, width)}`);
  };
}

/** SIGHUP too: commands run in process groups of their own and would outlive a closed terminal. */
const END_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls back at each signal that ends the process. Returns a function that removes the listener. */
export function onEndSignal(listener: () => void): () => void {
  for (const signal of END_SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of END_SIGNALS) process.off(signal, listener);
  };
}

/**
 * Calls back at the first signal that ends the process. Register it before the process reports that it is up: a caller
 * may end it at once. Returns a function that removes the listener.
 */
export function onTermination(end: () => void): () => void {
  const remove = onEndSignal(() => {
    remove();
    end();
  });
  return remove;
}

/** Runs work with a signal that aborts when the process is to end, and waits for the work. */
export async function runWithCleanup<T>(
  work: (signal: AbortSignal) => Promise<T>,
  listen = onEndSignal,
): Promise<T> {
  const stop = new AbortController();
  const remove = listen(() => stop.abort());
  try {
    return await work(stop.signal);
  } finally {
    remove();
  }
}

/** Like `runWithCleanup`, but a second signal ends the process at once, without waiting for the work. */
export function runInterruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return runWithCleanup(work, onTermination);
}
