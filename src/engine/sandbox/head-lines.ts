/** Headers as HTTP writes them: `Name: value` with a CRLF each. */
export function headLines(headers: readonly string[]): string {
  let lines = "";
  for (let i = 0; i < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return lines;
}

/** Name, value, name, value …, of such lines. */
export function headersIn(lines: string): string[] {
  const headers: string[] = [];
  for (const line of lines.split("\r\n").slice(0, -1)) {
    const colon = line.indexOf(": ");
    headers.push(line.slice(0, colon), line.slice(colon + 2));
  }
  return headers;
}
