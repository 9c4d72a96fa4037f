import { type Static, Type } from "typebox";
import { parseDateSpan } from "../../contract/instant.ts";
import { operation } from "../../contract/operation.ts";
import { Reply, StreamBody } from "../../contract/reply.ts";
import type { Resource } from "../../contract/resource.ts";
import { DateOrInstant, Id, StringEnum, UserId } from "../../contract/schema.ts";
import type { Settings } from "../../contract/settings.ts";
import { foldCase } from "../../contract/text.ts";
import { platform } from "../../platform.ts";
import { ADMINISTRATOR_ERRORS, requireAdministrator } from "../organizations/access.ts";
import { auditLogFixture, makeAuditLog } from "./fixtures.ts";
import { type AuditLog, auditLogs, ENTITY_TYPES, NAMED_ACTIONS } from "./schema.ts";

const Query = Type.Object({
  entity_type: Type.Optional(StringEnum(ENTITY_TYPES)),
  action_type: Type.Optional(Type.String({ description: `Such as ${NAMED_ACTIONS.join(", ")}` })),
  actor_id: Type.Optional(UserId({ description: "The user who acted" })),
  target_id: Type.Optional(
    Type.String({ pattern: "^[a-z]+_[A-Za-z0-9_-]{1,120}$", description: "The target entity" }),
  ),
  department_id: Type.Optional(Id("dept_", { description: "The department concerned" })),
  from_date: Type.Optional(DateOrInstant()),
  to_date: Type.Optional(DateOrInstant()),
  search_term: Type.Optional(
    Type.String({ description: "Part of the entity's name or of the actor's name or e-mail address" }),
  ),
});
type Query = Static<typeof Query>;

/** The fields of an entry that filters compare, by the names of the filters. */
const FILTERED_FIELDS = {
  entity_type: "entity_type",
  action_type: "action",
  actor_id: "actor_id",
  target_id: "target_id",
  department_id: "department_id",
} as const;
const SEARCHED_FIELDS = ["entity_name", "actor_name", "actor_email"] as const;

/** Returns the test of the filters other than the dates; undefined if there are none. */
function toMatcher(query: Query): ((entry: AuditLog) => boolean) | undefined {
  const names = (Object.keys(FILTERED_FIELDS) as (keyof typeof FILTERED_FIELDS)[]).filter(
    (name) => query[name] !== undefined,
  );
  const term = foldCase(query.search_term ?? "");
  if (names.length === 0 && term === "") return undefined;
  return (entry) =>
    names.every((name) => entry[FILTERED_FIELDS[name]] === query[name]) &&
    (term === "" || SEARCHED_FIELDS.some((field) => foldCase(entry[field]).includes(term)));
}

/** Older rows are left out (section 4.15). */
const MAX_ROWS = 10_000;
/** Rows per batch: few enough that other requests wait a millisecond at most. */
const BATCH_SIZE = 200;
/** Maximum number of entries that are read in one turn of the event loop. */
const MAX_SCANNED = 5_000;

/** The columns of section 2.6, in its order. */
const COLUMNS: Readonly<Record<string, (entry: AuditLog, iso: CsvSource["toIso"]) => string | null>> = {
  Timestamp: ({ timestamp }, iso) => iso(timestamp),
  "Entity Type": ({ entity_type }) => entity_type,
  "Entity Name": ({ entity_name }) => entity_name,
  Action: ({ action }) => action,
  "Actor Name": ({ actor_name }) => actor_name,
  "Actor Email": ({ actor_email }) => actor_email,
  "Target Name": ({ target_name }) => target_name,
  "Previous Value": ({ previous_value }) => previous_value,
  "New Value": ({ new_value }) => new_value,
};

interface CsvSource {
  entries: Iterable<AuditLog>;
  matches: ((entry: AuditLog) => boolean) | undefined;
  toIso: (instant: number) => string;
  formulas: Settings["csv_formulas"];
}

/**
 * The export as text, a batch at a time: memory does not depend on the number of rows, and a batch is made only when
 * it is read.
 */
export async function* writeCsv(source: CsvSource, signal: AbortSignal): AsyncGenerator<string> {
  // Loaded with the first export, not at the start. The package's browser build runs everywhere.
  const { stringify } = await import("csv-stringify/browser/esm/sync");
  const options = { escape_formulas: source.formulas === "escape" };
  yield stringify([Object.keys(COLUMNS)]);
  const columns = Object.values(COLUMNS);
  let rows: (string | null)[][] = [];
  let rowCount = 0;
  let scannedCount = 0;
  for (const entry of source.entries) {
    if (source.matches === undefined || source.matches(entry)) {
      rows.push(columns.map((toCell) => toCell(entry, source.toIso)));
      rowCount += 1;
    }
    scannedCount += 1;
    if (rowCount === MAX_ROWS) break;
    const isBatchFull = rows.length === BATCH_SIZE;
    if (isBatchFull) {
      yield stringify(rows, options);
      rows = [];
    }
    if (!isBatchFull && scannedCount % MAX_SCANNED !== 0) continue;
    // A client that reads fast would otherwise block all other requests until the last row.
    await platform().nextTurn();
    if (signal.aborted) return;
  }
  if (rows.length > 0) yield stringify(rows, options);
}

const exportAuditLog = operation({
  id: "audit_logs.export",
  section: "4.15",
  assumptions: ["G02", "G03", "G08", "G28"],
  assumed: { envelope: "G02" },
  route: "GET /v1/organizations/{organization_id}/audit-log/export",
  summary: "Export the organization's audit log as CSV",
  description: `The file has the newest ${MAX_ROWS.toLocaleString("en")} entries that pass the filters, newest first.`,
  params: Type.Object({ organization_id: Id("org_") }),
  query: Query,
  errors: ADMINISTRATOR_ERRORS,
  success: {
    status: 200,
    content_types: ["text/csv"],
    headers: ["Content-Disposition"],
    description: "One line of column names, then one line per entry",
  },
  access: (call) => requireAdministrator(call, call.params.organization_id),
  handle({ query, settings, world }, { id }) {
    const span = parseDateSpan(query, world, ["from_date", "to_date"]);
    const source = {
      entries: world.index(auditLogs, "by_organization", id).inSpan(span),
      matches: toMatcher(query),
      toIso: (instant: number) => world.toIso(instant),
      formulas: settings.csv_formulas,
    };
    const day = world.toIso(world.now).slice(0, 10);
    return new Reply(200, new StreamBody("text/csv", (signal) => writeCsv(source, signal)), {
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
