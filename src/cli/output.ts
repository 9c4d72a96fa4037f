import { printable, printableJson, printableLines } from "../engine/contract/printable.ts";

/** Prints a command's result: JSON for machines, text for people. */
export function print(json: boolean, value: unknown, text: string): void {
  if (json) say(printableJson(value, 2));
  else if (text !== "") say(text);
}

/** A line or several to standard output; nothing in them steers the terminal, whoever has named what they tell of. */
export function say(text: string): void {
  process.stdout.write(`${printableLines(text)}\n`);
}

/** A report that has escaped what is not its own, with its colours. */
export function sayColoured(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** One line of JSON for a program that follows. */
export function sayJson(value: unknown): void {
  say(printableJson(value));
}

/** To standard error, as the command. */
export function complain(text: string): void {
  process.stderr.write(`understudy: ${printableLines(text)}\n`);
}

let hasLeft = false;
const leaving = new Set<() => void>();

/**
 * A reader that has seen enough (`understudy openapi | head`) is no failure and ends nothing: what was to be
 * checked is, and its exit code is that of the result. A disk that takes no more of the output is told of.
 */
export function watchOutput(): void {
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") return void readerHasLeft();
    complain(`the output cannot be written${code === undefined ? "" : ` (${code})`}`);
    process.exit(2);
  });
  process.stderr.on("error", () => {});
}

function readerHasLeft(): void {
  hasLeft = true;
  for (const end of leaving) end();
}

/** For what prints until it is stopped: calls back once nobody reads it any more. Returns what takes it back. */
export function onReaderGone(end: () => void): () => void {
  if (hasLeft) end();
  else leaving.add(end);
  return () => void leaving.delete(end);
}

/** Left-aligned columns, as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, printable(row[column] ?? "").length), title.length),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => printable(cell).padEnd(widths[i]!))
      .join("  ")
      .trimEnd();
  return [line(head), ...rows.map(line)].join("\n");
}

/** Whether progress and colours are welcome on this stream. */
export function isInteractive(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && process.env["NO_COLOR"] === undefined && process.env["CI"] === undefined;
}
