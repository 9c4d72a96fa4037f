import type { Api, ApiResponse, Caller } from "./harness.ts";

export const COLUMNS =
  "Timestamp,Entity Type,Entity Name,Action,Actor Name,Actor Email,Target Name,Previous Value,New Value";

export const exportLog = (api: Api, query = "", who: Caller = "ada", organization = "org_acme") =>
  api.call(who, "GET", `/v1/organizations/${organization}/audit-log/export${query}`);

/** Parses an export into rows by column name, newest first. */
export async function exportRows(api: Api, query = "", who: Caller = "ada", organization = "org_acme") {
  return toRows(await exportLog(api, query, who, organization));
}

export function toRows({ status, text }: ApiResponse): Record<string, string>[] {
  if (status !== 200) throw new Error(`the export answered ${status}: ${text}`);
  const [header, ...rows] = parseCsv(text);
  return rows.map((cells) => Object.fromEntries(cells.map((cell, column) => [header![column], cell])));
}

/** Parses CSV (RFC 4180). Does not use the product's CSV library, so that its quoting is checked by other code. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      for (at += 1; ; at += 1) {
        if (at >= text.length) throw new Error("a quoted cell is never closed");
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at += 1;
        } else break;
      }
      at += 1;
    } else {
      while (at < text.length && text[at] !== "," && text[at] !== "\n" && text[at] !== "\r")
        cell += text[at++];
    }
    row.push(cell);
    if (text[at] === ",") at += 1;
    else {
      rows.push(row);
      row = [];
      if (text[at] === "\r") at += 1;
      if (at < text.length && text[at] !== "\n") throw new Error(`stray text after a cell at ${at}`);
      at += 1;
    }
  }
  return rows;
}
