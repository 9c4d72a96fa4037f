import Type from "typebox";
import { collection } from "./collection.ts";
import { TIMER_KINDS, type TimerKind } from "./timer-kinds.ts";

export { TIMER_KINDS, type TimerKind };

/** One due instant of the sandbox. A (kind, subject) pair has at most one timer: setting it again moves it. */
export interface Timer {
  id: string;
  due: number;
  kind: TimerKind;
  /** The id of the record that the timer is about, as `clock advance` reports it. */
  subject: string;
  /** What the record's id alone does not say, such as which of two stores. */
  key?: string;
}

/** Timers live in the root like any record, so snapshots, forks and restarts carry them. */
export const timers = collection<Timer>({
  name: "_timers",
  prefix: "",
  idField: "id",
  internal: true,
  work: true,
  schema: Type.Object({
    id: Type.String(),
    due: Type.Integer(),
    kind: Type.Enum(TIMER_KINDS),
    subject: Type.String(),
    key: Type.Optional(Type.String()),
  }),
  indexes: {
    due: { groups: () => [""], order: ({ due }) => due },
    by_kind: { groups: "kind", order: ({ due }) => due },
  },
});

export function timerId(kind: TimerKind, key: string): string {
  return `${kind}/${key}`;
}
