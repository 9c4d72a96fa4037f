import { lostEntries } from "../../engine/contract/text.ts";
import type { History } from "../../engine/sandbox/history.ts";
import { renderHistoryEntry } from "./render-entry.ts";

/**
 * Server-sent events, one entry each, with its position as the event's id. Without `after` it begins with what
 * comes next. Nothing is queued for the reader, and what the bound has evicted meanwhile is reported as a comment.
 */
export async function* streamHistory(
  history: History,
  after: number | undefined,
  signal: AbortSignal,
): AsyncIterable<string> {
  // A position of another server's history lies ahead of this one's; it means nothing here.
  let last = Math.min(after ?? history.lastSequence, history.lastSequence);
  yield ": the history of this sandbox\n\n";
  while (!signal.aborted) {
    for (const entry of history.since(last)) {
      const lost = entry.sequence - last - 1;
      if (lost > 0) yield `: ${lostEntries(lost)} lost to the history's bound\n\n`;
      last = entry.sequence;
      yield `id: ${last}\ndata: ${JSON.stringify(renderHistoryEntry(entry))}\n\n`;
    }
    if (history.isClosed) return;
    // More came while the reader took its time; or it came and the sandbox was reset.
    if (history.since(last).length > 0) continue;
    last = history.lastSequence;
    await nextEntry(history, signal);
  }
}

function nextEntry(history: History, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || history.isClosed) return resolve();
    const done = () => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = history.subscribe(done);
    signal.addEventListener("abort", done, { once: true });
  });
}
