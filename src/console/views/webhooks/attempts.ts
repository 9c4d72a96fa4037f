import type { StateRecord } from "../../api/types.ts";

export type Delivery = StateRecord<"deliveries">;
export type Webhook = StateRecord<"webhooks">;

/** `expected` follows only if the one that is due fails too; `cancelled` will not be made. */
export type AttemptState = "delivered" | "failed" | "due" | "expected" | "cancelled";

export interface AttemptMark {
  /** When it began or begins, in milliseconds since 1970, on the sandbox's clock. */
  at: number;
  state: AttemptState;
  /** What is known of one that was made; a fixture's are not logged. */
  made: Delivery["attempt_log"][number] | undefined;
}

/**
 * The attempts of a delivery on its retry schedule (G24): those that were made, the one that is due, those that
 * would follow, those that were called off. `delays`: milliseconds from the end of each attempt to the next.
 */
export function attemptMarks(delivery: Delivery, delays: readonly number[]): AttemptMark[] {
  const made = madeMarks(delivery, delays);
  if (delivery.status === "success") return made;
  const left = delays.slice(delivery.scheduled_attempts);
  if (delivery.next_retry !== null) {
    const due = Date.parse(delivery.next_retry);
    return [...made, { at: due, state: "due", made: undefined }, ...following(due, left, "expected")];
  }
  const end = Date.parse(delivery.last_attempt ?? delivery.created_at);
  return [
    ...made,
    ...following(end, delays.slice(Math.max(0, delivery.scheduled_attempts - 1)), "cancelled"),
  ];
}

function madeMarks(delivery: Delivery, delays: readonly number[]): AttemptMark[] {
  const { attempt_log: log, scheduled_attempts, created_at, status } = delivery;
  if (log.length > 0) {
    return log.map((attempt) => ({
      at: Date.parse(attempt.at),
      state: isSuccess(attempt.response_code) ? "delivered" : "failed",
      made: attempt,
    }));
  }
  // Nothing was logged of it: it happened before the fixture's present, on the schedule.
  const instants = [Date.parse(created_at)];
  for (const delay of delays.slice(0, Math.max(0, scheduled_attempts - 1)))
    instants.push(instants.at(-1)! + delay);
  return instants.map((at, place) => ({
    at,
    state: status === "success" && place === instants.length - 1 ? "delivered" : "failed",
    made: undefined,
  }));
}

function following(from: number, delays: readonly number[], state: AttemptState): AttemptMark[] {
  const marks: AttemptMark[] = [];
  let at = from;
  for (const delay of delays) {
    at += delay;
    if (Number.isFinite(at)) marks.push({ at, state, made: undefined });
  }
  return marks;
}

/** 3.3: any 2xx. */
export function isSuccess(code: number): boolean {
  return code >= 200 && code < 300;
}

/** From the event to the last attempt of the schedule, where each ends at once; milliseconds. */
export function spanOf(delays: readonly number[]): number {
  return delays.reduce((sum, delay) => sum + (Number.isFinite(delay) ? delay : 0), 0);
}

export type DeliveryState = "delivered" | "retrying" | "given up" | "cancelled";

export function deliveryState(delivery: Delivery, delays: readonly number[]): DeliveryState {
  if (delivery.status === "success") return "delivered";
  if (delivery.next_retry !== null) return "retrying";
  return delivery.scheduled_attempts > delays.length ? "given up" : "cancelled";
}
