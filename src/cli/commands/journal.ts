import type { JournalEntry, JournalFilter } from "../../client/types.ts";
import { choice, sandboxCommand, text } from "../command.ts";
import { LOG_OPTIONS, printLog } from "../print-log.ts";

const FILTERS = {
  kind: choice(["request", "delivery"], "Only incoming requests, or only delivery attempts"),
  operation: text("An operation id, or a glob of ids"),
  status: text("A status such as 404, or a class such as 4xx"),
  code: text("An error code such as RATE_LIMIT_EXCEEDED"),
  method: text("An HTTP method"),
  path: text("A glob of paths, without sandbox prefix and query"),
  event: text("Only deliveries of this event: a name, or a glob of names"),
  webhook: text("Only deliveries to this webhook, by id"),
};

export const journalCommand = sandboxCommand({
  command: "journal",
  describe: "Show requests and delivery attempts, with the reason for each outcome",
  options: { ...FILTERS, ...LOG_OPTIONS },
  examples: [
    ["$0 journal --status 4xx --limit 20", "The newest twenty refusals and why, the newest last"],
    ["$0 journal --follow --kind delivery", "Delivery attempts as they are made"],
  ],
  async run(options, { journal }) {
    const { kind, operation, status, code, method, path, event, webhook, since, limit } = options;
    const filter = { kind, operation, status, code, method, path, event, webhook } as JournalFilter;
    await printLog(
      {
        list: () => journal.list({ ...filter, since, limit }),
        listNewest: () => journal.list({ limit: 1 }),
        follow: (after) => journal.follow(filter, after),
        format: formatEntry,
        limitedBy: "journal_limit",
        whenEmpty: "No requests yet.",
      },
      options,
    );
  },
});

/** `… POST /v1/files -> 403 INSUFFICIENT_PERMISSIONS  usr_cleo  access  req_…`, and a line for each reason. */
function formatEntry(entry: JournalEntry): string {
  const { at, method, path, status, code, principal, decision, id, delivery, reasons, warnings } = entry;
  const query = entry.request.query === "" ? "" : `?${entry.request.query}`;
  const subject =
    delivery === null
      ? `${method} ${path}${query}`
      : `${delivery.event} to ${delivery.webhook_id}, attempt ${delivery.attempt}`;
  const answer = `${status === 0 ? "no answer" : status}${code === null ? "" : ` ${code}`}`;
  const line = [at, `${subject} -> ${answer}`, ...(principal === null ? [] : [principal]), decision, id];
  return [line.join("  "), ...[...reasons, ...warnings].map((reason) => `    ${reason}`)].join("\n");
}
