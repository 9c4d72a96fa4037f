import { describeEvictedEntries } from "../engine/contract/text.ts";
import { flag, number, text } from "./command.ts";
import { CheckFailed } from "./failure.ts";
import { onOutputLost, print, printJsonLine, printLines } from "./process.ts";

/** Options of `journal` and `history`. */
export const LOG_OPTIONS = {
  since: text("Only entries since this time on the sandbox's clock"),
  limit: number("Only the newest N"),
  follow: flag("Continue with new entries, until Ctrl-C"),
};

/** The journal or the history of a sandbox. */
interface Log<E> {
  list(): Promise<{ entries: E[]; dropped: number }>;
  /** The newest entry, whether or not `list` has it. */
  listNewest(): Promise<{ entries: E[] }>;
  follow(after: number): AsyncIterable<E>;
  format(entry: E): string;
  /** The setting that bounds the log. */
  limitedBy: string;
  whenEmpty: string;
}

/** Prints a log, the newest entry last; with `--follow`, also later entries. */
export async function printLog<E extends { sequence: number }>(
  { list, listNewest, follow, format, limitedBy, whenEmpty }: Log<E>,
  options: { json: boolean; follow: boolean },
): Promise<void> {
  const { json } = options;
  // Read first, so that no entry between the two calls is missed.
  const newest = options.follow ? ((await listNewest()).entries[0]?.sequence ?? 0) : 0;
  const page = await list();
  const entries = page.entries.toReversed();
  if (!options.follow) {
    const lost =
      page.dropped > 0 ? [`(${describeEvictedEntries(page.dropped, "older")} lost to ${limitedBy})`] : [];
    const lines = [...lost, ...entries.map(format)];
    if (lines.length > 0) return print(json, page, lines.join("\n"));
    const isEmpty = (await listNewest()).entries.length === 0;
    return print(json, page, isEmpty ? whenEmpty : "No entries match.");
  }
  // Exits, since the stream has no end of its own.
  onOutputLost(() => process.exit());
  const printEntry = (entry: E) => (json ? printJsonLine(entry) : printLines(format(entry)));
  for (const entry of entries) if (entry.sequence <= newest) printEntry(entry);
  for await (const entry of follow(newest)) printEntry(entry);
  throw new CheckFailed(
    "the server ended the log: it stopped, or the sandbox was deleted or is moving to another node of its fleet",
  );
}
