import { finished } from "node:stream/promises";
import { parse } from "csv-parse";
import { inPieces } from "./in-pieces.ts";
import { MAX_TEXT_LENGTH } from "./passages.ts";

/**
 * A passage each: a row as it was written, whatever line ends stand within its quotes. No more of them than are kept of a
 * file. @throws the signal's reason
 */
export async function rowsOf(csv: string, signal: AbortSignal): Promise<string[]> {
  const rows: string[] = [];
  let length = 0;
  let sinceRow = 0;
  const parser = parse({
    delimiter: delimiterOf(csv),
    bom: true,
    raw: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
  parser.on("data", ({ raw }: { raw: string }) => {
    length += raw.length;
    sinceRow = 0;
    rows.push(raw.trim());
  });
  const ended = finished(parser).then(
    () => true,
    () => false,
  );
  for await (const piece of inPieces(csv, signal)) {
    if (length > MAX_TEXT_LENGTH || parser.destroyed) break;
    sinceRow += piece.length;
    if (sinceRow > MAX_TEXT_LENGTH) parser.destroy();
    else parser.write(piece);
  }
  parser.end();
  // A quote that is never closed, or not within what is kept, makes no row; lines are what is left.
  return (await ended) ? rows : csv.split(/\r\n|\r|\n/);
}

/** Spreadsheets of other languages, and databases, separate by something else than commas. */
function delimiterOf(csv: string): string {
  const [heading = ""] = csv.split(/[\r\n]/, 1);
  const counts = [",", ";", "\t", "|"].map((one) => [one, heading.split(one).length] as const);
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}
