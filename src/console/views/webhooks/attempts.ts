import type { StateRecord } from "../../../../types/control-api.ts";

export type Delivery = StateRecord<"deliveries">;
export type Webhook = StateRecord<"webhooks">;

/** `expected`: made only if the due attempt fails. `cancelled`: will not be made. */
export type AttemptState = "delivered" | "failed" | "due" | "expected" | "cancelled";

export interface AttemptMark {
  /** Start in milliseconds since 1970, sandbox time. */
  at: number;
  state: AttemptState;
  /** The logged attempt; attempts from a fixture are not logged. */
  attempt: Delivery["attempt_log"][number] | undefined;
}

/**
 * Attempts of a delivery on its retry schedule (G24): made, due, expected, cancelled. `delays`: milliseconds from the
 * end of each attempt to the next. `scheduled_attempts` counts those that were made, without redeliveries.
 */
export function listAttemptMarks(delivery: DeliveryRow, delays: readonly number[]): AttemptMark[] {
  const marks = toPastMarks(delivery, delays);
  const remainingDelays = delays.slice(delivery.scheduled_attempts);
  if (delivery.next_retry !== null) {
    const dueAt = Date.parse(delivery.next_retry);
    const dueMark: AttemptMark = { at: dueAt, state: "due", attempt: undefined };
    return [...marks, dueMark, ...planAttempts(dueAt, remainingDelays, "expected")];
  }
  if (delivery.state !== "cancelled") return marks;
  // The attempt that would have been due is cancelled as well.
  const end = Date.parse(delivery.last_attempt ?? delivery.created_at);
  const cancelledDelays = delays.slice(Math.max(0, delivery.scheduled_attempts - 1));
  return [...marks, ...planAttempts(end, cancelledDelays, "cancelled")];
}

function toPastMarks(delivery: Delivery, delays: readonly number[]): AttemptMark[] {
  const { attempt_log: log, scheduled_attempts, created_at, status } = delivery;
  if (log.length > 0) {
    return log.map((attempt) => ({
      at: Date.parse(attempt.at),
      // Any 2xx is a success (section 3.3).
      state: Math.floor(attempt.response_code / 100) === 2 ? "delivered" : "failed",
      attempt,
    }));
  }
  // Attempts of a fixture are not logged: they were made before its start, on the schedule.
  const pastDelays = [0, ...delays.slice(0, Math.max(0, scheduled_attempts - 1))];
  const marks = planAttempts(Date.parse(created_at), pastDelays, "failed");
  return status === "success" ? marks.with(-1, { ...marks.at(-1)!, state: "delivered" }) : marks;
}

/** Attempts one after another; each delay follows the attempt before, the first follows `from`. */
function planAttempts(from: number, delays: readonly number[], state: AttemptState): AttemptMark[] {
  let at = from;
  return delays.map((delay) => {
    at += delay;
    return { at, state, attempt: undefined };
  });
}

export type DeliveryState = "delivered" | "retrying" | "given up" | "cancelled";

/** A delivery with its webhook, unless that was deleted. */
export type DeliveryRow = ReturnType<typeof toRow>;

export function toRow(delivery: Delivery, delays: readonly number[], webhook?: Webhook) {
  const to = webhook?.url ?? delivery.webhook_id;
  return { ...delivery, webhook, to, state: getState(delivery, delays, webhook) };
}

/** The schedule may have been shorter when the last attempt failed, so only an inactive webhook cancels. */
function getState(delivery: Delivery, delays: readonly number[], webhook?: Webhook): DeliveryState {
  if (delivery.status === "success") return "delivered";
  if (delivery.next_retry !== null) return "retrying";
  const isInactive = delivery.response_code === 410 || webhook?.active === false;
  return isInactive && delivery.scheduled_attempts <= delays.length ? "cancelled" : "given up";
}

const UNITS: readonly [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
];

/** "1m", "1h 21m". */
export function formatSpan(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const words: string[] = [];
  let remaining = Math.round(ms / 1000) * 1000;
  for (const [unit, unitMs] of UNITS) {
    if (remaining >= unitMs) words.push(`${Math.floor(remaining / unitMs)}${unit}`);
    remaining %= unitMs;
  }
  return words.slice(0, 2).join(" ");
}
