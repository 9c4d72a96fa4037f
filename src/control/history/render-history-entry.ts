import { type Static, Type } from "typebox";
import { ClosedObject, MapOf, Nullable, StringEnum, Timestamp } from "../../engine/contract/schema.ts";
import { describeEvictedEntries } from "../../engine/contract/text.ts";
import { type BeforeAfter, HISTORY_KINDS, type HistoryEntry } from "../../engine/sandbox/history-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { redactText } from "../../tools/redact.ts";
import { OptionalFlag, OptionalText, sandboxParams } from "../operation.ts";
import { conflict, Problem } from "../problem.ts";

const Count = () => Type.Integer({ minimum: 0 });
const EntryId = (description: string) => Type.String({ description });

/** A change of a sandbox's world, and its cause (interfaces.md 10). */
export const HistoryEntryBody = ClosedObject(
  {
    id: EntryId("`h_…`, never repeated in a sandbox"),
    seq: Type.Integer({
      minimum: 1,
      description: "Its number in the sandbox's timeline, never repeated; the same in journal and history",
    }),
    sequence: Type.Integer({ minimum: 1, description: "Its position; the event's id in the stream" }),
    at: Timestamp({
      description: "When the change began, on the sandbox's clock. For a restore, the time that was restored",
    }),
    kind: StringEnum(HISTORY_KINDS),
    title: Type.String({ description: "What happened, in a sentence" }),
    subject: Nullable(Type.String({ description: "The id of the record that it is about" })),
    cause: Nullable(EntryId("The entry that caused this one, such as the attempt before a retry")),
    advanced_by: Nullable(EntryId("The entry of the call that advanced the clock, if that made it happen")),
    request: Nullable(Type.String({ description: "The request's id in the journal" })),
    operation: OptionalText("The id of the control call that made the change, such as `clock.advance`"),
    journal_position: Type.Integer({
      minimum: 0,
      description:
        "The journal's newest `sequence` at that time; entries with a greater one were answered later. 0 after a restart",
    }),
    delivered: Nullable(
      Type.Boolean({ description: "For a delivery attempt: whether the receiver accepted it with a 2xx" }),
    ),
    changes: MapOf(ClosedObject({ added: Count(), removed: Count(), changed: Count() }), {
      description: "The number of changed records by collection",
    }),
    undone: Type.Boolean({ description: "A rewind has undone the change" }),
    stays: OptionalFlag("A rewind keeps the change, as it keeps rules, scenarios, settings and operations"),
    kept: Type.Boolean({ description: "Whether the world before and after it is still stored" }),
  },
  {
    $id: "HistoryEntry",
    examples: [
      {
        id: "h_12",
        seq: 15,
        sequence: 12,
        at: "2026-03-15T12:00:00.000Z",
        kind: "request",
        title: "usr_dan: Delete a thread.",
        subject: "thread_ada",
        cause: null,
        advanced_by: null,
        request: "req_5e1f",
        journal_position: 8,
        delivered: null,
        changes: { threads: { added: 0, removed: 1, changed: 0 } },
        undone: false,
        kept: true,
      },
    ],
  },
);
type RenderedHistoryEntry = Static<typeof HistoryEntryBody>;

export function renderHistoryEntry(entry: HistoryEntry): RenderedHistoryEntry {
  const { id, sequence, kind, subject, cause, advanced_by, request, journal_position, delivered, changes } =
    entry;
  const { number: seq, isUndone } = entry.timelineEntry;
  return {
    id,
    seq,
    sequence,
    at: new Date(entry.at).toISOString(),
    kind,
    title: redactText(entry.title),
    subject,
    cause,
    advanced_by,
    request,
    ...(entry.operation !== undefined && { operation: entry.operation }),
    journal_position,
    delivered,
    changes,
    undone: isUndone,
    ...(entry.stays && { stays: true }),
    kept: entry.states !== undefined,
  };
}

export const EntryParams = sandboxParams({
  id: Type.String({ description: "The entry's id", examples: ["h_1"] }),
});

/** @throws Problem 404 */
export function requireEntry({ history }: Sandbox, id: string): HistoryEntry {
  const entry = history.find(id);
  if (entry !== undefined) return entry;
  throw new Problem("unknown-entry", {
    detail: `The history has no entry ${id.slice(0, 100)}; ${describeEvictedEntries(history.dropped)} evicted since the last reset. GET /_control/sandboxes/{name}/history lists its entries.`,
    value: id,
  });
}

/** @param participle completes "the world cannot be …", such as "compared" @throws Problem 409 */
export function requireStates({ id, states }: HistoryEntry, participle: string): BeforeAfter {
  if (states?.versions.getRoot(states.before.version) !== undefined) return states;
  throw conflict(
    "state-evicted",
    `The world before and after ${id} is no longer stored and cannot be ${participle}`,
    "use an entry with `kept`, or save a snapshot of a state that you need later",
  );
}
