import type { SandboxCalls } from "./calls.ts";

/** How many of the newest entries are read. */
const MAX_ENTRIES = 500;

/**
 * Rewinds to before an entry, unless that would also undo what happened since.
 * @throws Error, ControlError
 */
export async function undoEntry(calls: SandboxCalls, id: string): Promise<void> {
  const [entry, { entries }] = await Promise.all([
    calls.historyEntry(id),
    calls.history({ limit: MAX_ENTRIES }),
  ]);
  const ownIds = new Set<string | null>([id]);
  // Oldest first: an effect comes after its cause, and may have effects of its own.
  for (const { id, cause, advanced_by } of entries.toReversed())
    if (ownIds.has(cause) || ownIds.has(advanced_by)) ownIds.add(id);
  const later = entries.filter(
    (one) => one.sequence > entry.sequence && !one.undone && !one.stays && !ownIds.has(one.id),
  );
  if (entry.undone) throw new Error("A rewind has already undone this change.");
  if (later.length > 0)
    throw new Error(
      `Not undone, since this would also undo what happened after it: ${later.at(-1)!.title} To undo all of it, rewind in the timeline.`,
    );
  await calls.rewind(id, { to: "before" });
}

/**
 * Undoes the changes of a request to the emulated API.
 * @throws Error, ControlError
 */
export async function undoRequest(calls: SandboxCalls, request: string | undefined): Promise<void> {
  const { entries } = await calls.history({ kind: "request", limit: MAX_ENTRIES });
  const own = entries.filter((one) => one.request === request);
  const entry = own.find(({ undone }) => !undone) ?? own[0];
  if (entry === undefined)
    throw new Error(
      entries.length < MAX_ENTRIES
        ? "Nothing to undo: the request changed nothing."
        : `Not undone: the request changed nothing, or is older than the newest ${MAX_ENTRIES} changes.`,
    );
  await undoEntry(calls, entry.id);
}
