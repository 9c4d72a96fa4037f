import { setImmediate as turn } from "node:timers/promises";
import type { Settings } from "../../contract/settings.ts";
import type { AuditLog } from "./schema.ts";

/** 4.15: older rows are left out. */
export const MAX_ROWS = 10_000;
/** Rows per chunk: few enough that other requests wait a millisecond at most. */
const BATCH = 200;
/** Entries looked at per turn where a filter lets few of them through. */
const SCAN = 5_000;

/** Section 2.6, in its order. */
const COLUMNS = [
  "Timestamp",
  "Entity Type",
  "Entity Name",
  "Action",
  "Actor Name",
  "Actor Email",
  "Target Name",
  "Previous Value",
  "New Value",
];

export interface CsvSource {
  entries: Iterable<AuditLog>;
  matches: ((entry: AuditLog) => boolean) | undefined;
  iso: (instant: number) => string;
  formulas: Settings["csv_formulas"];
}

/**
 * The export as text, a batch at a time: memory does not depend on the number of rows, and nothing is
 * made that nobody reads.
 */
export async function* auditCsv(source: CsvSource, signal: AbortSignal): AsyncGenerator<string> {
  // Loaded with the first export, so that no start of the server pays for it.
  const { stringify } = await import("csv-stringify/sync");
  const options = { escape_formulas: source.formulas === "escape" };
  yield stringify([COLUMNS]);
  let rows: (string | null)[][] = [];
  let written = 0;
  let looked = 0;
  for (const entry of source.entries) {
    if (source.matches === undefined || source.matches(entry)) {
      rows.push(rowOf(entry, source.iso));
      written += 1;
    }
    looked += 1;
    if (rows.length === BATCH || written === MAX_ROWS) {
      yield stringify(rows, options);
      rows = [];
    } else if (looked % SCAN !== 0) continue;
    if (written === MAX_ROWS) return;
    // A client that reads fast would otherwise keep everybody else waiting until the last row.
    await turn();
    if (signal.aborted) return;
  }
  if (rows.length > 0) yield stringify(rows, options);
}

function rowOf(entry: AuditLog, iso: CsvSource["iso"]): (string | null)[] {
  return [
    iso(entry.timestamp),
    entry.entity_type,
    entry.entity_name,
    entry.action,
    entry.actor_name,
    entry.actor_email,
    entry.target_name,
    entry.previous_value,
    entry.new_value,
  ];
}
