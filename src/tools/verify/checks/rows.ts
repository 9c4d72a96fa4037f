/** Reads CSV as RFC 4180 has it: quoted cells may hold commas, quotes and line ends. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  let last = 0;
  for (const match of text.matchAll(CELL)) {
    if (match.index === text.length && row.length === 0) break;
    last = match.index + match[0].length;
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === ",") continue;
    rows.push(row);
    row = [];
    if (match[3] === "") break;
  }
  if (last < text.length) throw new Error(`the CSV breaks off at character ${last}`);
  return rows;
}
