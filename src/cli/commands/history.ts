import type { CommandModule } from "yargs";
import type { HistoryEntry, HistoryFilter } from "../../client/types.ts";
import { lostEntries, printableJson } from "../../engine/contract/text.ts";
import { onReaderGone, print, say } from "../output.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

type Options = Target & {
  follow: boolean;
  kind: HistoryEntry["kind"] | undefined;
  subject: string | undefined;
  cause: string | undefined;
  since: string | undefined;
  limit: number | undefined;
};

const KINDS: readonly HistoryEntry["kind"][] = [
  "request",
  "control",
  "timer",
  "delivery",
  "scenario",
  "restore",
];

export const historyCommand: CommandModule<object, Options> = {
  command: "history",
  describe: "What changed a sandbox's world, and what led to it",
  builder: (argv) =>
    targetOptions(argv)
      .option("follow", { type: "boolean", default: false, describe: "Go on with what comes, until Ctrl-C" })
      .option("kind", { choices: KINDS, describe: "Only what did it this way" })
      .option("subject", { type: "string", requiresArg: true, describe: "Only about this record, by id" })
      .option("cause", { type: "string", requiresArg: true, describe: "Only what this entry led to" })
      .option("since", { type: "string", requiresArg: true, describe: "From this time of the sandbox on" })
      .option("limit", { type: "number", requiresArg: true, describe: "Only the newest N" })
      .example("$0 history --limit 20", "The newest twenty, the newest last")
      .example("$0 history --follow --kind delivery", "Attempts to deliver as they are made") as never,
  async handler({ follow, kind, subject, cause, since, limit, ...target }) {
    const { history } = await openSandbox(target);
    const filter: HistoryFilter = { kind, subject, cause, since, limit };
    // Opened first, so that no entry between the two calls is missed.
    const newest = follow ? ((await history.list({ limit: 1 })).entries[0]?.sequence ?? 0) : 0;
    const page = await history.list(filter);
    const entries = page.entries.reverse();
    if (!follow) {
      const lost = page.dropped > 0 ? [`(${lostEntries(page.dropped, "older")} lost to history_limit)`] : [];
      const lines = [...lost, ...entries.map(formatEntry)];
      print(target.json, page, lines.length === 0 ? "Nothing has changed yet." : lines.join("\n"));
      return;
    }
    // Nothing has to be ended here, and the stream never ends by itself.
    onReaderGone(() => process.exit());
    const show = (entry: HistoryEntry) => say(target.json ? printableJson(entry) : formatEntry(entry));
    for (const entry of entries) if (entry.sequence <= newest) show(entry);
    for await (const entry of history.follow(newest)) if (fits(entry, filter)) show(entry);
  },
};

function fits(entry: HistoryEntry, { kind, subject, cause }: HistoryFilter): boolean {
  return (
    (kind === undefined || entry.kind === kind) &&
    (subject === undefined || entry.subject === subject) &&
    (cause === undefined || entry.cause === cause || entry.advanced_by === cause)
  );
}

/** `h_12  2026-03-15T12:00:00.000Z  request  usr_dan asked to delete a thread. (threads -1)`. */
function formatEntry({ id, at, kind, title, cause, changes, undone }: HistoryEntry): string {
  const counts = Object.entries(changes).map(([collection, { added, removed, changed }]) => {
    const signs = [
      ["+", added],
      ["-", removed],
      ["~", changed],
    ] as const;
    const shown = signs.filter(([, count]) => count > 0).map(([sign, count]) => sign + count);
    return `${collection} ${shown.join(" ")}`;
  });
  return [
    ...[id.padEnd(6), at, kind.padEnd(8), title],
    ...(counts.length > 0 ? [`(${counts.join(", ")})`] : []),
    ...(cause === null ? [] : [`from ${cause}`]),
    ...(undone ? ["[undone]"] : []),
  ].join("  ");
}
