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
 * end of each attempt to the next.
 */
export function listAttemptMarks(delivery: Delivery, delays: readonly number[]): AttemptMark[] {
  const marks = toPastMarks(delivery, delays);
  if (delivery.status === "success") return marks;
  const remainingDelays = delays.slice(delivery.scheduled_attempts);
  if (delivery.next_retry !== null) {
    const dueAt = Date.parse(delivery.next_retry);
    const dueMark: AttemptMark = { at: dueAt, state: "due", attempt: undefined };
    return [...marks, dueMark, ...planAttempts(dueAt, remainingDelays, "expected")];
  }
  const end = Date.parse(delivery.last_attempt ?? delivery.created_at);
  const cancelledDelays = delays.slice(Math.max(0, delivery.scheduled_attempts - 1));
  return [...marks, ...planAttempts(end, cancelledDelays, "cancelled")];
}

function toPastMarks(delivery: Delivery, delays: readonly number[]): AttemptMark[] {
  const { attempt_log: log, scheduled_attempts, created_at, status } = delivery;
  if (log.length > 0) {
    return log.map((attempt) => ({
      at: Date.parse(attempt.at),
      state: isSuccess(attempt.response_code) ? "delivered" : "failed",
      attempt,
    }));
  }
  // Not logged: it happened before the fixture's start, on the schedule.
  const instants = [Date.parse(created_at)];
  for (const delay of delays.slice(0, Math.max(0, scheduled_attempts - 1)))
    instants.push(instants.at(-1)! + delay);
  return instants.map((at, index) => ({
    at,
    state: status === "success" && index === instants.length - 1 ? "delivered" : "failed",
    attempt: undefined,
  }));
}

function planAttempts(from: number, delays: readonly number[], state: AttemptState): AttemptMark[] {
  const marks: AttemptMark[] = [];
  let at = from;
  for (const delay of delays) {
    at += delay;
    if (Number.isFinite(at)) marks.push({ at, state, attempt: undefined });
  }
  return marks;
}

/** Any 2xx is a success (3.3). */
export function isSuccess(code: number): boolean {
  return code >= 200 && code < 300;
}

/** Milliseconds from the event to the last scheduled attempt, if each attempt takes no time. */
export function sumDelays(delays: readonly number[]): number {
  return delays.reduce((sum, delay) => sum + (Number.isFinite(delay) ? delay : 0), 0);
}

export type DeliveryState = "delivered" | "retrying" | "given up" | "cancelled";

export function getDeliveryState(delivery: Delivery, delays: readonly number[]): DeliveryState {
  if (delivery.status === "success") return "delivered";
  if (delivery.next_retry !== null) return "retrying";
  return delivery.scheduled_attempts > delays.length ? "given up" : "cancelled";
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|[dhms])/g;

/** Parses a duration of the settings (`90s`, `1h30m`, `PT5M`, a number) to milliseconds; NaN if invalid. */
export function parseDurationMs(value: string | number): number {
  const text = String(value).trim().toLowerCase();
  if (/^\d+$/.test(text)) return Number(text);
  const parts = text.replace(/^p/, "").replace("t", "");
  if (parts === "" || parts.replace(PART, "") !== "") return Number.NaN;
  let total = 0;
  for (const [, count, unit] of parts.matchAll(PART)) total += Number(count) * UNIT_MS[unit!]!;
  return total;
}

/** "1m", "1h 21m". */
export function formatSpan(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const words: string[] = [];
  let remaining = Math.round(ms / 1000) * 1000;
  for (const unit of ["d", "h", "m", "s"]) {
    const count = Math.floor(remaining / UNIT_MS[unit]!);
    if (count > 0) words.push(`${count}${unit}`);
    remaining -= count * UNIT_MS[unit]!;
  }
  return words.slice(0, 2).join(" ");
}
