import { invalidInput } from "../../contract/errors.ts";
import { parseDateOrInstant } from "../../contract/instant.ts";
import type { Settings } from "../../contract/settings.ts";
import { platform } from "../../platform.ts";
import type { WorldReader } from "../../state/transaction.ts";
import type { View } from "../../state/view.ts";
import { type AuditLog, auditLogs } from "./schema.ts";

export interface AuditFilter {
  entity_type?: string;
  action_type?: string;
  actor_id?: string;
  target_id?: string;
  department_id?: string;
  from_date?: string;
  to_date?: string;
  search_term?: string;
}

/**
 * The organization's entries between the two dates, both included, newest first (G28: a date without
 * time is the whole UTC day). The list belongs to the world as it is now, whatever happens later.
 * @throws ApiError INVALID_INPUT for `from_date` when it lies after `to_date`
 */
export function entriesWithin(
  world: WorldReader,
  organization_id: string,
  { from_date, to_date }: AuditFilter,
): View<AuditLog> {
  const all = world.index(auditLogs, "by_organization", organization_id);
  const from = from_date === undefined ? undefined : parseDateOrInstant(from_date)!.from;
  const to = to_date === undefined ? undefined : parseDateOrInstant(to_date)!.to;
  if (from === undefined && to === undefined) return all;
  if (from !== undefined && to !== undefined && from > to) {
    throw invalidInput("from_date", from_date, "from_date lies after to_date");
  }
  // The list runs backwards in time, so its bounds change sides.
  const newest = to === undefined ? Number.NEGATIVE_INFINITY : -world.relative(to);
  const oldest = from === undefined ? Number.POSITIVE_INFINITY : -world.relative(from);
  return all.between(newest, oldest);
}

/** Whether an entry passes the filters other than the dates; undefined when there are none. */
export function toMatcher(filter: AuditFilter): ((entry: AuditLog) => boolean) | undefined {
  const { entity_type, action_type, actor_id, target_id, department_id, search_term } = filter;
  const tests: ((entry: AuditLog) => boolean)[] = [];
  if (entity_type !== undefined) tests.push((entry) => entry.entity_type === entity_type);
  if (action_type !== undefined) tests.push((entry) => entry.action === action_type);
  if (actor_id !== undefined) tests.push((entry) => entry.actor_id === actor_id);
  if (target_id !== undefined) tests.push((entry) => entry.target_id === target_id);
  if (department_id !== undefined) tests.push((entry) => entry.department_id === department_id);
  if (search_term !== undefined && search_term !== "") {
    const term = search_term.toLowerCase();
    tests.push(({ entity_name, actor_name, actor_email }) =>
      [entity_name, actor_name, actor_email].some((text) => text.toLowerCase().includes(term)),
    );
  }
  return tests.length === 0 ? undefined : (entry) => tests.every((test) => test(entry));
}

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
 * The export as text, a batch at a time: memory does not depend on the number of rows, and a batch is made only when
 * it is read.
 */
export async function* auditCsv(source: CsvSource, signal: AbortSignal): AsyncGenerator<string> {
  // Loaded with the first export, not at the start; this build also runs without Node.
  const { stringify } = await import("csv-stringify/browser/esm/sync");
  const options = { escape_formulas: source.formulas === "escape" };
  yield stringify([COLUMNS]);
  let rows: (string | null)[][] = [];
  let written = 0;
  let looked = 0;
  for (const entry of source.entries) {
    if (source.matches === undefined || source.matches(entry)) {
      rows.push(toRow(entry, source.iso));
      written += 1;
    }
    looked += 1;
    if (rows.length === BATCH || written === MAX_ROWS) {
      yield stringify(rows, options);
      rows = [];
    } else if (looked % SCAN !== 0) continue;
    if (written === MAX_ROWS) return;
    // A client that reads fast would otherwise block all other requests until the last row.
    await platform().nextTurn();
    if (signal.aborted) return;
  }
  if (rows.length > 0) yield stringify(rows, options);
}

function toRow(entry: AuditLog, iso: CsvSource["iso"]): (string | null)[] {
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
