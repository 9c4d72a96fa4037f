import { parse as parseCsv } from "csv-parse/sync";
import { type Check, createSuccessCheck } from "../check.ts";
import { getSentFields, hasSucceeded, toExcerpt } from "../check-answer.ts";
import type { Exchange } from "../target.ts";
import { isTimestamp } from "../timestamps.ts";
import type { Verdict } from "../verdict.ts";
import { checkFilters } from "./listings.ts";

const noMetadata = createSuccessCheck(
  "change_logs.list",
  { name: "no-metadata", section: "4.16", title: "change log entries carry no metadata" },
  (verdict, { json }) => {
    const entries = json.logs as object[];
    verdict.expect(!entries.some((entry) => "metadata" in entry), "an entry carries metadata");
  },
);

/** The columns of section 2.6. */
const COLUMNS =
  "Timestamp,Entity Type,Entity Name,Action,Actor Name,Actor Email,Target Name,Previous Value,New Value";
const MAX_ROWS = 10_000;
const CSV = { relax_column_count: true, record_delimiter: ["\r\n", "\n"] };

/** Checks columns, rows, order and file name, and the filters whose effect the columns show. */
function checkAudit(verdict: Verdict, exchange: Exchange): void {
  const { text, headers, sent } = exchange;
  const [header = [], ...rows] = parseCsv(text, CSV) as string[][];
  verdict.expect(header.join(",") === COLUMNS, `the columns are ${header.join(",")}`);
  verdict.expect(rows.length <= MAX_ROWS, `${rows.length} rows are more than ${MAX_ROWS}`);
  const ragged = rows.find((row) => row.length !== header.length);
  verdict.expect(!ragged, `a row has another number of columns than the first one: ${toExcerpt(ragged)}`);
  const wrongTime = rows.find(([time]) => !isTimestamp(time))?.[0];
  verdict.expect(wrongTime === undefined, `${toExcerpt(wrongTime)} is not a timestamp in UTC`);
  const times = rows.map(([time = ""]) => Date.parse(time));
  verdict.expect(
    times.every((time, i) => i === 0 || time <= times[i - 1]!),
    "a row is newer than the one before",
    "G28",
  );
  checkFileName(verdict, headers.get("content-disposition") ?? "", sent.params["organization_id"]!);
  checkFilters(verdict, exchange, rows, {
    same: { entity_type: ([, type]) => type, action_type: ([, , , action]) => action },
    time: ([time]) => time,
    from: "from_date",
    to: "to_date",
  });
  const term = getSentFields(exchange)["search_term"];
  if (typeof term !== "string") return;
  const toSearchedText = ([, , entity, , actor, email]: string[]) =>
    [entity, actor, email].join("\n").toLowerCase();
  const other = rows.find((row) => !toSearchedText(row).includes(term.toLowerCase()));
  verdict.expect(!other, `with search_term=${term} it answers ${toExcerpt(other)}`, "G28");
}

const audit = createSuccessCheck(
  "audit_logs.export",
  {
    name: "csv",
    section: "4.15",
    title: "audit_logs.export is a CSV of the columns shown, filtered, at most 10,000 rows",
  },
  checkAudit,
  async (context, { params, exchange }) => {
    const rows = parseCsv(exchange.text, CSV) as string[][];
    const [time = "", , , action_type = "", , email = ""] = rows[Math.ceil(rows.length / 2)] ?? [];
    const queries: Record<string, string>[] = [{ entity_type: "department" }];
    if (action_type !== "") queries.push({ action_type });
    if (isTimestamp(time)) queries.push({ from_date: time }, { to_date: time }, { search_term: email });
    for (const query of queries) {
      const filtered = await context.sendAndCheck("audit_logs.export", { params, query });
      if (filtered !== undefined) checkAudit(context.verdict, filtered);
    }
    // No column shows these ids, so an id that no entry has must leave out every row.
    const unknownIds = { actor_id: "usr_nobody0", target_id: "usr_nobody0", department_id: "dept_nobody0" };
    for (const [name, id] of Object.entries(unknownIds)) {
      const filtered = await context.send("audit_logs.export", { params, query: { [name]: id } });
      if (!hasSucceeded(filtered)) continue;
      const count = parseCsv(filtered.text, CSV).length - 1;
      context.verdict.expect(count < 1, `with ${name}=${id}, which no entry has, it answers ${count} rows`);
    }
  },
);

function checkFileName(verdict: Verdict, disposition: string, organization_id: string): void {
  const [, date] = disposition.split(`audit-log-${organization_id}-`);
  verdict.expect(date?.includes(".csv") === true, `Content-Disposition is ${toExcerpt(disposition)}`);
  verdict.expect(
    /^\d{4}-\d{2}-\d{2}\.csv"?/.test(date ?? ""),
    `the file's date is ${toExcerpt(date)}`,
    "G28",
  );
}

export const logChecks: readonly Check[] = [noMetadata, audit];
