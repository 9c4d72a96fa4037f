import type { SandboxClient } from "../../client/sandbox.ts";
import type { HistoryEntry, HistoryFilter } from "../../client/types.ts";
import { choice, sandboxCommand, text } from "../command.ts";
import { LOG_OPTIONS, printLog } from "../print-log.ts";

export const historyCommand = sandboxCommand({
  command: "history",
  describe: "Show what changed a sandbox's world, and what caused it",
  options: {
    kind: choice(
      ["request", "control", "timer", "delivery", "scenario", "restore"],
      "Only changes of this kind",
    ),
    subject: text("Only changes about this record, by id"),
    cause: text("Only changes that this entry caused"),
    ...LOG_OPTIONS,
  },
  examples: [
    ["$0 history --limit 20", "The newest twenty, the newest last"],
    ["$0 history --follow --kind delivery", "Delivery attempts as they are made"],
  ],
  async run(options, { history }) {
    const { kind, subject, cause, since, limit } = options;
    const filter: HistoryFilter = { kind: kind as HistoryEntry["kind"], subject, cause, since, limit };
    await printLog(
      {
        list: () => history.list(filter),
        listNewest: () => history.list({ limit: 1 }),
        follow: (after) => followMatching(history, filter, after),
        format: formatEntry,
        limitedBy: "history_limit",
        whenEmpty: "No changes yet.",
      },
      options,
    );
  },
});

async function* followMatching(
  history: SandboxClient["history"],
  { kind, subject, cause }: HistoryFilter,
  after: number,
): AsyncIterable<HistoryEntry> {
  for await (const entry of history.follow(after)) {
    const matches =
      (kind === undefined || entry.kind === kind) &&
      (subject === undefined || entry.subject === subject) &&
      (cause === undefined || entry.cause === cause || entry.advanced_by === cause);
    if (matches) yield entry;
  }
}

/** `h_12  2026-03-15T12:00:00.000Z  request  usr_dan: Delete a thread. (threads -1)`. */
function formatEntry({ id, at, kind, title, cause, changes, undone }: HistoryEntry): string {
  const counts = Object.entries(changes).map(([collection, { added, removed, changed }]) => {
    const signs = [added && `+${added}`, removed && `-${removed}`, changed && `~${changed}`];
    return `${collection} ${signs.filter(Boolean).join(" ")}`;
  });
  return [
    id.padEnd(6),
    at,
    kind.padEnd(8),
    title,
    ...(counts.length > 0 ? [`(${counts.join(", ")})`] : []),
    ...(cause === null ? [] : [`from ${cause}`]),
    ...(undone ? ["[undone]"] : []),
  ].join("  ");
}
