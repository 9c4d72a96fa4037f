import { invalidInput } from "../../contract/errors.ts";
import { referred } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import { bodyOf } from "./body.ts";
import { cancelPending, keepTimer } from "./lifecycle.ts";
import { requireCallable } from "./rules.ts";
import { type Delivery, deliveries, switched, type Webhook, webhooks } from "./schema.ts";

export const webhookState: StateRules<Webhook> = {
  insert(tx, record) {
    requireCallable(record.url);
    return tx.insert(webhooks, record);
  },
  update(tx, before, after) {
    requireCallable(after.url);
    const { active, inactive_because: because = "a state call made it so" } = after;
    const put = tx.put(webhooks, switched({ ...after, active: before.active }, { active, because }));
    if (before.active && !active) cancelPending(tx, after.webhook_id);
    return put;
  },
};

export const deliveryState: StateRules<Delivery> = {
  toPublic: (delivery, world) => ({ ...delivery, body: bodyOf(delivery, world) }),
  insert(tx, record) {
    const { organization_id } = referred(tx, webhooks, { field: "webhook_id", id: record.webhook_id });
    const delivery = tx.insert(deliveries, coherent({ ...record, organization_id }));
    keepTimer(tx, delivery);
    return delivery;
  },
  update(tx, before, after) {
    if (after.webhook_id !== before.webhook_id) {
      throw invalidInput("webhook_id", after.webhook_id, "a delivery stays with its webhook");
    }
    const delivery = tx.put(deliveries, coherent(after));
    keepTimer(tx, delivery);
    return delivery;
  },
};

/** G23: delivered_at only on success, last_attempt and next_retry only on failure. */
function coherent(delivery: Delivery): Delivery {
  if (delivery.status === "success") return { ...delivery, last_attempt: null, next_retry: null };
  return { ...delivery, delivered_at: null };
}
