import { parse } from "csv-parse/sync";

/** A passage each: a row as it was written, whatever line ends stand within its quotes. */
export function rowsOf(csv: string): string[] {
  const delimiter = delimiterOf(csv);
  try {
    const rows = parse(csv, {
      delimiter,
      bom: true,
      raw: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    }) as unknown as { raw: string }[];
    return rows.map(({ raw }) => raw.trim());
  } catch {
    // A quote that is never closed makes no row; lines are what is left.
    return csv.split(/\r\n|\r|\n/);
  }
}

/** Spreadsheets of other languages, and databases, separate by something else than commas. */
function delimiterOf(csv: string): string {
  const [heading = ""] = csv.split(/[\r\n]/, 1);
  const counts = [",", ";", "\t", "|"].map((one) => [one, heading.split(one).length] as const);
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}
