/** Prints a command's result: JSON for machines, text for people. */
export function print(json: boolean, value: unknown, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : text === "" ? "" : `${text}\n`);
}

/** Left-aligned columns, as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("  ")
      .trimEnd();
  return [line(head), ...rows.map(line)].join("\n");
}

/** Whether progress and colours are welcome on this stream. */
export function isInteractive(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && process.env["NO_COLOR"] === undefined && process.env["CI"] === undefined;
}
