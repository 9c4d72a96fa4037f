import { lostEntries } from "../../engine/contract/text.ts";
import type { Journal, JournalEntry } from "../../engine/sandbox/journal.ts";
import { renderEntry } from "./render-entry.ts";

/**
 * Server-sent events, one entry each, with its position as the event's id. Without `after` it begins with
 * what comes next. The reader's pace decides: nothing is queued for it, and what the journal's bound has
 * evicted meanwhile is reported as a comment.
 */
export async function* streamJournal(
  journal: Journal,
  { after, wanted }: { after: number | undefined; wanted: (entry: JournalEntry) => boolean },
  signal: AbortSignal,
): AsyncIterable<string> {
  // A position of another server's journal lies ahead of this one's; it means nothing here.
  let last = Math.min(after ?? journal.lastSequence, journal.lastSequence);
  yield ": the journal of this sandbox\n\n";
  while (!signal.aborted) {
    for (const entry of journal.since(last)) {
      if (entry.sequence <= last) continue;
      const lost = entry.sequence - last - 1;
      if (lost > 0) yield `: ${lostEntries(lost)} lost to the journal's bound\n\n`;
      last = entry.sequence;
      if (!wanted(entry)) continue;
      yield `id: ${entry.sequence}\ndata: ${JSON.stringify(renderEntry(entry))}\n\n`;
    }
    if (journal.isClosed) return;
    if (journal.lastSequence > last) {
      // More came while the reader took its time; or it came and was cleared.
      if (journal.since(last).length === 0) last = journal.lastSequence;
      continue;
    }
    await nextEntry(journal, signal);
  }
}

/** Resolves with the next entry, when the journal was cleared or closed, or when the signal aborts. */
export function nextEntry(journal: Journal, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || journal.isClosed) return resolve();
    const done = () => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = journal.subscribe(done);
    signal.addEventListener("abort", done, { once: true });
  });
}
