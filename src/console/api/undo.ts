import type { SandboxCalls } from "./calls.ts";

/** Entries that are checked for changes since. */
const MAX_LATER = 500;

/**
 * Rewinds to before an entry, unless that would also undo what happened since.
 * @throws Error, ControlError
 */
export async function undoEntry(calls: SandboxCalls, id: string): Promise<void> {
  const [entry, { entries }] = await Promise.all([
    calls.historyEntry(id),
    calls.history({ limit: MAX_LATER }),
  ]);
  const own = new Set([id, ...entry.effects]);
  const later = entries.filter(
    (one) =>
      one.sequence > entry.sequence && !one.undone && !own.has(one.id) && !own.has(one.advanced_by ?? ""),
  );
  if (entry.undone) throw new Error("A rewind has undone it already.");
  if (later.length > 0)
    throw new Error(
      `Not undone, since this would also undo what happened after it: ${later.at(-1)!.title} To undo both, rewind in the timeline.`,
    );
  await calls.rewind(id, { to: "before" });
}
