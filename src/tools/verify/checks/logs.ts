import { parse as parseCsv } from "csv-parse/sync";
import { type Check, type Context, looksAt, seenIn } from "../check.ts";
import { excerpt } from "../judge-answer.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";

interface Entry {
  id: string;
  timestamp: string;
  action: string;
  resource_type: string;
  changes: unknown[];
}

/** G28: newest first, ties by id. */
function judgeNewestFirst(verdict: Verdict, name: string, entries: readonly Entry[]): void {
  const wrong = entries.findIndex((entry, i) => {
    const before = entries[i - 1];
    if (before === undefined) return false;
    const gap = Date.parse(before.timestamp) - Date.parse(entry.timestamp);
    return gap < 0 || (gap === 0 && before.id > entry.id);
  });
  verdict.expect(wrong === -1, `${name}: entry ${wrong} is newer than the one before it`, "G28");
}

interface Log {
  operation: "assistants.list_history" | "change_logs.list";
  section: string;
  entries: string;
  filter: Readonly<Record<string, string>>;
}

const LOGS: readonly Log[] = [
  {
    operation: "assistants.list_history",
    section: "4.8",
    entries: "audit_logs",
    filter: { action: "updated" },
  },
  {
    operation: "change_logs.list",
    section: "4.16",
    entries: "logs",
    filter: { resource_type: "assistant", action: "updated" },
  },
];

/** Which fields of an entry a filter of the same name asks for. */
const EXACT_FILTERS = ["action", "user_id", "resource_type"] as const;

/** Order, creations, and each filter that was asked for. */
function judgeEntries(verdict: Verdict, log: Log, { asked, json }: Exchange): void {
  const entries = json[log.entries] as (Entry & Record<string, unknown>)[];
  judgeNewestFirst(verdict, log.operation, entries);
  for (const { id, action, changes } of entries) {
    if (action === "created")
      verdict.expect(changes?.length === 0, `${log.operation}: ${id} is a creation with changes`);
  }
  const filters = { ...(asked.body as object | undefined), ...asked.query } as Record<string, unknown>;
  for (const field of EXACT_FILTERS) {
    const wanted = filters[field];
    if (wanted === undefined) continue;
    const wrong = entries.find((entry) => entry[field] !== wanted);
    verdict.expect(!wrong, `${log.operation} with ${field}=${wanted} answers ${excerpt(wrong)}`);
  }
  const since = Date.parse(String(filters["start_date"]));
  const early = entries.find(({ timestamp }) => Date.parse(timestamp) < since);
  verdict.expect(!early, `${log.operation} since ${filters["start_date"]} answers ${excerpt(early)}`);
}

async function judgeLog(context: Context, log: Log): Promise<void> {
  const { verdict, answered } = context;
  const first = answered.get(log.operation);
  const entries = first?.exchange.json?.[log.entries] as Entry[] | undefined;
  if (first === undefined || !Array.isArray(entries))
    return verdict.notObservable(`${log.operation} has not answered`);
  judgeEntries(verdict, log, first.exchange);
  const ask = async (filter: Readonly<Record<string, string>>) => {
    const sent = log.operation === "change_logs.list" ? { body: filter } : { query: filter };
    const exchange = await context.sendAndJudge(log.operation, { params: first.params, ...sent });
    if (exchange === undefined) return undefined;
    judgeEntries(verdict, log, exchange);
    return exchange.json[log.entries] as Entry[];
  };
  await ask(log.filter);
  const middle = entries[Math.floor(entries.length / 2)];
  if (middle === undefined) return verdict.note("the log is empty, so filters by date show nothing");
  const since = await ask({ start_date: middle.timestamp });
  const kept = since === undefined || since.some(({ id }) => id === middle.id);
  verdict.expect(kept, `${log.operation} since ${middle.timestamp} leaves that entry out`, "G28");
}

const logs: Check[] = LOGS.map((log) => ({
  id: `${log.operation}/filters`,
  family: "answers",
  section: log.section,
  title: `${log.operation} filters, newest first`,
  observe: seenIn(log.operation, (verdict, exchange) => judgeEntries(verdict, log, exchange)),
  run: (context) => judgeLog(context, log),
}));

const noMetadata = looksAt(
  "change_logs.list",
  { id: "change_logs.list/no-metadata", section: "4.16", title: "change log entries carry no metadata" },
  (verdict, { json }) => {
    const entries = json.logs as object[];
    verdict.expect(!entries.some((entry) => "metadata" in entry), "an entry carries metadata");
  },
);

/** Section 2.6. */
const COLUMNS =
  "Timestamp,Entity Type,Entity Name,Action,Actor Name,Actor Email,Target Name,Previous Value,New Value";
const MAX_ROWS = 10_000;
const CSV = { relax_column_count: true, record_delimiter: ["\r\n", "\n"] };

/** Columns, rows, order and file name, and the filters that columns show. */
function judgeAudit(verdict: Verdict, { text, headers, asked }: Exchange): void {
  const [head = [], ...rows] = parseCsv(text, CSV) as string[][];
  verdict.expect(head.join(",") === COLUMNS, `the columns are ${head.join(",")}`);
  verdict.expect(rows.length <= MAX_ROWS, `${rows.length} rows are more than ${MAX_ROWS}`);
  const ragged = rows.find((row) => row.length !== head.length);
  verdict.expect(!ragged, `a row has other columns than the head: ${excerpt(ragged)}`);
  const times = rows.map(([time = ""]) => Date.parse(time));
  verdict.expect(times.every(Number.isFinite), "a timestamp cannot be read");
  verdict.expect(
    times.every((time, i) => i === 0 || time <= times[i - 1]!),
    "a row is newer than the one before",
    "G28",
  );
  judgeFileName(verdict, headers.get("content-disposition") ?? "", asked.params["organization_id"]!);
  for (const [field, column] of [
    ["entity_type", 1],
    ["action_type", 3],
  ] as const) {
    const wanted = asked.query[field];
    const other = wanted === undefined ? undefined : rows.find((row) => row[column] !== wanted);
    verdict.expect(!other, `with ${field}=${wanted} it answers ${excerpt(other)}`);
  }
}

const audit: Check = {
  id: "audit_logs.export/csv",
  family: "answers",
  section: "4.15",
  title: "audit_logs.export is a CSV of the columns shown, filtered, at most 10,000 rows",
  observe: seenIn("audit_logs.export", judgeAudit),
  async run(context) {
    const first = context.first("audit_logs.export");
    if (first === undefined) return;
    judgeAudit(context.verdict, first.exchange);
    const query = { entity_type: "department" };
    const filtered = await context.sendAndJudge("audit_logs.export", { params: first.params, query });
    if (filtered !== undefined) judgeAudit(context.verdict, filtered);
  },
};

function judgeFileName(verdict: Verdict, disposition: string, organization_id: string): void {
  const [, date] = disposition.split(`audit-log-${organization_id}-`);
  verdict.expect(date?.includes(".csv") === true, `Content-Disposition is ${excerpt(disposition)}`);
  verdict.expect(/^\d{4}-\d{2}-\d{2}\.csv"?/.test(date ?? ""), `the file's date is ${excerpt(date)}`, "G28");
}

export const logChecks: readonly Check[] = [...logs, noMetadata, audit];
