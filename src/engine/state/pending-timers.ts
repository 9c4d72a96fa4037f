import { type Timer, type TimerKind, timers } from "./timers.ts";
import type { Transaction } from "./transaction.ts";

/** What is due and when, as `clock/pending` tells it. */
export interface PendingTimer {
  due_at: string;
  kind: TimerKind;
  subject: string;
}

/** Nearest first. */
export function pendingTimers(tx: Transaction): PendingTimer[] {
  return [...tx.index(timers, "due", "")].map(({ due, kind, subject }) => ({
    due_at: tx.iso(due),
    kind,
    subject,
  }));
}

export function nearestTimer(tx: Transaction): Timer | undefined {
  return tx.index(timers, "due", "").page(0, 1)[0];
}
