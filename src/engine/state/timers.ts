import { type Static, Type } from "typebox";
import { TIMER_KINDS, type TimerKind } from "./clock.ts";
import { collection } from "./collection.ts";

/** One due instant of the sandbox. A (kind, key) pair has at most one timer: setting it again moves it. */
const Timer = Type.Object({
  id: Type.String(),
  // An instant, as `Instant()` of contract/schema.ts declares it.
  due: Type.Unsafe<number>({ type: "string", format: "date-time", "x-instant": true }),
  /** For a handler whose timer a call runs early: when it would have been due. */
  planned: Type.Optional(Type.Number()),
  kind: Type.Enum(TIMER_KINDS),
  /** The id of the record that the timer is about, as `clock advance` reports it. */
  subject: Type.String(),
  /** Distinguishes timers of the same subject, for example those of one file in two stores. Default: the subject. */
  key: Type.Optional(Type.String()),
});
export type Timer = Static<typeof Timer>;

/** Timers are records of the world, so snapshots, forks and restarts contain them. */
export const timers = collection({
  name: "_timers",
  internal: true,
  describesLaterWork: true,
  schema: Timer,
  indexes: {
    due: { groups: () => [""], order: ({ due }) => due },
    by_kind: { groups: "kind", order: ({ due }) => due },
  },
});

export function toTimerId(kind: TimerKind, key: string): string {
  return `${kind}/${key}`;
}

/** A timer as `clock/pending` shows it. */
export interface PendingTimer {
  due_at: string;
  kind: TimerKind;
  subject: string;
}
