import Type from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { parseDateOrInstant } from "../../contract/instant.ts";
import { operation } from "../../contract/operation.ts";
import { Reply, StreamBody } from "../../contract/reply.ts";
import type { Resource } from "../../contract/resource.ts";
import { DateOrInstant, Id, UserId, Words } from "../../contract/schema.ts";
import type { Settings } from "../../contract/settings.ts";
import { platform } from "../../platform.ts";
import type { WorldReader } from "../../state/transaction.ts";
import type { View } from "../../state/view.ts";
import { ADMINISTRATOR_ERRORS, requireAdministrator } from "../organizations/access.ts";
import { auditLogFixture, makeAuditLog } from "./fixtures.ts";
import { type AuditLog, auditLogs, ENTITY_TYPES, NAMED_ACTIONS } from "./schema.ts";

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

const Optional = Type.Optional;

export const exportAuditLog = operation({
  id: "audit_logs.export",
  section: "4.15",
  assumptions: ["G02", "G03", "G08", "G28"],
  assumed: { envelope: "G02" },
  method: "GET",
  path: "/v1/organizations/{organization_id}/audit-log/export",
  summary: "Export the organization's audit log as CSV",
  description: `Streams the newest ${MAX_ROWS / 1000},000 entries that pass the filters, newest first.`,
  params: Type.Object({ organization_id: Id("org_") }),
  query: Type.Object({
    entity_type: Optional(Words(ENTITY_TYPES)),
    action_type: Optional(Type.String({ description: `Such as ${NAMED_ACTIONS.join(", ")}` })),
    actor_id: Optional(UserId({ description: "The user who acted" })),
    target_id: Optional(
      Type.String({ pattern: "^[a-z]+_[A-Za-z0-9_-]{1,120}$", description: "The target entity" }),
    ),
    department_id: Optional(Id("dept_", { description: "The department concerned" })),
    from_date: Optional(DateOrInstant()),
    to_date: Optional(DateOrInstant()),
    search_term: Optional(
      Type.String({ description: "Part of the entity's name or of the actor's name or e-mail address" }),
    ),
  }),
  errors: ADMINISTRATOR_ERRORS,
  success: {
    status: 200,
    content_types: ["text/csv"],
    headers: ["Content-Disposition"],
    description: "One line of column names, then one line per entry",
  },
  access: (call) => requireAdministrator(call, call.params.organization_id),
  handle({ query, settings, world }, { id }) {
    const source = {
      entries: entriesWithin(world, id, query),
      matches: toMatcher(query),
      iso: (instant: number) => world.iso(instant),
      formulas: settings.csv_formulas,
    };
    const day = world.iso(world.now).slice(0, 10);
    return new Reply(200, new StreamBody("text/csv", (signal) => auditCsv(source, signal)), {
      "Content-Disposition": `attachment; filename="audit-log-${id}-${day}.csv"`,
    });
  },
});

export const auditLogsResource = {
  name: "audit_logs",
  collections: [auditLogs],
  operations: [exportAuditLog],
  factories: { audit_logs: makeAuditLog },
  fixture: auditLogFixture,
} satisfies Resource;
