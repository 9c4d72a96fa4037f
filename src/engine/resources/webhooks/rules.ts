import { invalidInput } from "../../contract/errors.ts";
import { requireReferencedRecord } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { cancelPending, toBody, updateRetryTimer } from "./deliveries.ts";
import { type Delivery, deliveries, requireCallable, setActivity, type Webhook, webhooks } from "./schema.ts";

export const webhookStateRules: StateRules<Webhook> = {
  insert(tx, record) {
    requireCallable(record.url);
    return tx.insert(webhooks, record);
  },
  update(tx, before, after) {
    requireCallable(after.url);
    const { active, inactive_because: because = "the console or a state call deactivated it" } = after;
    // With the activity of before, by which setActivity sees whether it changes.
    const updated = tx.put(webhooks, setActivity({ ...after, active: before.active }, { active, because }));
    if (before.active && !active) cancelPending(tx, after.webhook_id);
    return updated;
  },
};

export const deliveryStateRules: StateRules<Delivery> = {
  toPublic: (delivery, world) => ({ ...delivery, body: toBody(delivery, world) }),
  insert(tx, record) {
    const { organization_id } = requireReferencedRecord(tx, webhooks, {
      field: "webhook_id",
      id: record.webhook_id,
    });
    const delivery = tx.insert(deliveries, setConsistentTimes({ ...record, organization_id }));
    updateRetryTimer(tx, delivery);
    return delivery;
  },
  update(tx, before, after) {
    if (after.webhook_id !== before.webhook_id) {
      throw invalidInput("webhook_id", after.webhook_id, "a delivery stays with its webhook");
    }
    const delivery = tx.put(deliveries, setConsistentTimes(after));
    updateRetryTimer(tx, delivery);
    return delivery;
  },
};

/** A success has `delivered_at`, a failure `last_attempt` and perhaps `next_retry` (G23). */
function setConsistentTimes(delivery: Delivery): Delivery {
  if (delivery.status === "success") return { ...delivery, last_attempt: null, next_retry: null };
  return { ...delivery, delivered_at: null };
}

/** Shows the time of the success, or those of the failure and the retry (2.12, G23). */
export function renderDelivery(delivery: Delivery, world: WorldReader) {
  const { delivery_id, event, status, response_code, attempts, next_retry } = delivery;
  const times =
    status === "success"
      ? { delivered_at: world.toIso(delivery.delivered_at ?? 0) }
      : {
          last_attempt: world.toIso(delivery.last_attempt ?? 0),
          next_retry: next_retry === null ? null : world.toIso(next_retry),
        };
  return { delivery_id, event, status, response_code, attempts, ...times };
}
