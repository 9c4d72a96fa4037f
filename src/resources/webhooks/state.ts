import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import { EVENT_NAMES } from "../events.ts";
import { anyOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { bodyOf } from "./body.ts";
import { cancelPending, keepTimer, removeDelivery, removeWebhook } from "./lifecycle.ts";
import { requireCallable } from "./rules.ts";
import { type Delivery, deliveries, type Webhook, webhooks } from "./schema.ts";

/** Nobody listens on port 9, so that a webhook made up by the server calls nobody. */
export const QUIET_URL = "http://127.0.0.1:9/hooks";

export const webhookState: StateRules<Webhook> = {
  complete: (fields, tx, { random }) => ({
    webhook_id: tx.newestFirstId("wh_"),
    organization_id: fields.organization_id ?? anyOf(tx, organizations, "organization_id").id,
    url: QUIET_URL,
    secret: fields.secret ?? `whsec_${tx.secret("webhook")}`,
    events: random.sample(EVENT_NAMES, 3),
    description: "",
    active: true,
    created_at: tx.now,
    last_delivery: null,
    ...fields,
  }),
  insert(tx, record) {
    referred(tx, organizations, { field: "organization_id", id: record.organization_id });
    requireCallable(record.url);
    return tx.insert(webhooks, record);
  },
  update(tx, before, after) {
    referred(tx, organizations, { field: "organization_id", id: after.organization_id });
    requireCallable(after.url);
    tx.put(webhooks, after);
    if (before.active && !after.active) cancelPending(tx, after.webhook_id);
    return after;
  },
  remove: removeWebhook,
};

export const deliveryState: StateRules<Delivery> = {
  toPublic: (delivery, world) => ({ ...delivery, body: bodyOf(delivery, world) }),
  complete(fields, tx) {
    const webhook_id = fields.webhook_id ?? anyOf(tx, webhooks, "webhook_id").webhook_id;
    const webhook = referred(tx, webhooks, { field: "webhook_id", id: webhook_id });
    const status = fields.status ?? (fields.next_retry == null ? "success" : "failed");
    const attempts = fields.attempts ?? 1;
    return {
      delivery_id: tx.newestFirstId("del_"),
      webhook_id,
      event: webhook.events[0]!,
      status,
      response_code: status === "success" ? 200 : 503,
      attempts,
      scheduled_attempts: Math.min(attempts, 6),
      created_at: tx.now,
      delivered_at: tx.now,
      last_attempt: tx.now,
      next_retry: null,
      body: null,
      attempt_log: [],
      ...fields,
      organization_id: webhook.organization_id,
    };
  },
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
  remove: removeDelivery,
};

/** G23: delivered_at only on success, last_attempt and next_retry only on failure. */
function coherent(delivery: Delivery): Delivery {
  if (delivery.status === "success") return { ...delivery, last_attempt: null, next_retry: null };
  return { ...delivery, delivered_at: null };
}
