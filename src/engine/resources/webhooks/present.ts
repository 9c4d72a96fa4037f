import type { WorldReader } from "../../state/transaction.ts";
import type { Delivery } from "./schema.ts";

/** Section 2.12: when it was delivered, or when it failed and when it is tried again, never both (G23). */
export function presentDelivery(delivery: Delivery, world: WorldReader) {
  const { delivery_id, event, status, response_code, attempts } = delivery;
  return { delivery_id, event, status, response_code, attempts, ...timesOf(delivery, world) };
}

function timesOf({ status, delivered_at, last_attempt, next_retry }: Delivery, world: WorldReader) {
  if (status === "success") return { delivered_at: world.iso(delivered_at ?? 0) };
  return {
    last_attempt: world.iso(last_attempt ?? 0),
    next_retry: next_retry === null ? null : world.iso(next_retry),
  };
}
