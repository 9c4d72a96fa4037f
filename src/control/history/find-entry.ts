import Type from "typebox";
import { lostEntries } from "../../engine/contract/text.ts";
import type { BeforeAfter, HistoryEntry } from "../../engine/sandbox/history-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { below } from "../operation.ts";
import { conflict, Problem } from "../problem.ts";

export const OfEntry = below({ id: Type.String({ description: "The entry's id", examples: ["h_1"] }) });

/** @throws Problem 404 */
export function entryOf({ history }: Sandbox, id: string): HistoryEntry {
  const entry = history.find(id);
  if (entry !== undefined) return entry;
  throw new Problem("unknown-entry", {
    detail: `The history holds no ${id.slice(0, 100)}; ${lostEntries(history.dropped)} lost to its bound, and a reset begins it anew. GET S/history lists those that are there.`,
    value: id,
  });
}

/** @throws Problem 409 */
export function statesOf({ id, states }: HistoryEntry, done: string): BeforeAfter {
  if (states !== undefined) return states;
  throw conflict(
    "state-let-go",
    `The world before and after ${id} was let go and cannot be ${done} any more`,
    "take an entry that says `kept`, or save a snapshot of what has to last",
  );
}
