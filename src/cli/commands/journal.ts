import type { CommandModule } from "yargs";
import type { JournalEntry, JournalFilter } from "../../client/types.ts";
import { lostEntries } from "../../engine/contract/text.ts";
import { onReaderGone, print, say, sayJson } from "../output.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

type Filters = Omit<JournalFilter, "since" | "limit">;
type Options = Target & Filters & { follow: boolean; since: string | undefined; limit: number | undefined };

const FILTERS: Readonly<Record<keyof Filters, string>> = {
  kind: "Only requests that came in, or only attempts to deliver",
  operation: "An operation id, or a glob of them",
  status: "A status such as 404, or a class such as 4xx",
  code: "A code of the catalogue",
  method: "In any case",
  path: "A glob of paths, without sandbox prefix and query",
  event: "Of deliveries: an event's name, or a glob of them",
  webhook: "Of deliveries: the webhook's id",
};

export const journalCommand: CommandModule<object, Options> = {
  command: "journal",
  describe: "Requests that came in and attempts to deliver, and why each ended as it did",
  builder: (argv) => {
    const filtered = Object.entries(FILTERS).reduce(
      (built, [name, describe]) =>
        built.option(
          name,
          name === "kind"
            ? { choices: ["request", "delivery"], describe }
            : { type: "string", requiresArg: true, describe },
        ),
      targetOptions(argv),
    );
    return filtered
      .option("since", { type: "string", requiresArg: true, describe: "From this time of the sandbox on" })
      .option("limit", { type: "number", requiresArg: true, describe: "Only the newest N" })
      .option("follow", { type: "boolean", default: false, describe: "Go on with what comes, until Ctrl-C" })
      .example("$0 journal --status 4xx --limit 20", "The newest twenty refusals and why, the newest last")
      .example("$0 journal --follow --kind delivery", "Attempts to deliver as they are made") as never;
  },
  async handler({ follow, since, limit, ...options }) {
    const { journal } = await openSandbox(options);
    const filter: Filters = Object.fromEntries(
      Object.keys(FILTERS).map((name) => [name, options[name as keyof Filters]]),
    );
    // Opened first, so that no entry between the two calls is missed.
    const newest = follow ? ((await journal.list({ limit: 1 })).entries[0]?.sequence ?? 0) : 0;
    const page = await journal.list({ ...filter, since, limit });
    const entries = page.entries.toReversed();
    if (!follow) {
      const lost = page.dropped > 0 ? [`(${lostEntries(page.dropped, "older")} lost to journal_limit)`] : [];
      const lines = [...lost, ...entries.map(formatEntry)];
      print(options.json, page, lines.length === 0 ? "Nothing has come yet." : lines.join("\n"));
      return;
    }
    // Nothing has to be ended here, and the stream never ends by itself.
    onReaderGone(() => process.exit());
    const show = (entry: JournalEntry) => (options.json ? sayJson(entry) : say(formatEntry(entry)));
    for (const entry of entries) if (entry.sequence <= newest) show(entry);
    for await (const entry of journal.follow(filter, newest)) show(entry);
  },
};

/** `… POST /v1/files -> 403 INSUFFICIENT_PERMISSIONS  usr_cleo  access  req_…`, and a line for each reason. */
function formatEntry(entry: JournalEntry): string {
  const { at, method, path, status, code, principal, decision, id, delivery, reasons, warnings, request } =
    entry;
  const query = request.query === "" ? "" : `?${request.query}`;
  const answer = `${status === 0 ? "no answer" : status}${code === null ? "" : ` ${code}`}`;
  const what =
    delivery === null
      ? `${method} ${path}${query}`
      : `${delivery.event} to ${delivery.webhook_id}, attempt ${delivery.attempt}`;
  const line = [at, `${what} -> ${answer}`, ...(principal === null ? [] : [principal]), decision, id].join(
    "  ",
  );
  return [line, ...[...reasons, ...warnings].map((text) => `    ${text}`)].join("\n");
}
