import { invalidInput, resourceNotFound } from "../../contract/errors.ts";
import { referred } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import { type Caller, CURRENT_MEMBER_ERRORS, requireCurrentMember } from "../organizations/access.ts";
import { toBody } from "./deliveries.ts";
import { cancelPending, keepTimer } from "./lifecycle.ts";
import { type Delivery, deliveries, switched, type Webhook, webhooks } from "./schema.ts";

/** The refusals of `requireWebhook`. */
export const WEBHOOK_ERRORS = [...CURRENT_MEMBER_ERRORS, "RESOURCE_NOT_FOUND"] as const;

/** G23: of the organization that the key acts in. @throws ApiError RESOURCE_NOT_FOUND also for a webhook of another organization (G23) */
export function requireWebhook(caller: Caller, webhook_id: string): Webhook {
  const organization_id = requireCurrentMember(caller);
  const webhook = caller.world.get(webhooks, webhook_id);
  if (webhook?.organization_id !== organization_id) throw resourceNotFound("webhook_id", webhook_id);
  return webhook;
}

/**
 * Checks beyond the URL's pattern: it must parse, and contain no credentials (G23).
 * @throws ApiError INVALID_INPUT
 */
export function requireCallable(url: string): void {
  if (!URL.canParse(url)) throw invalidInput("url", url, "url must be an absolute http or https URL");
  const { username, password } = new URL(url);
  if (username !== "" || password !== "") {
    throw invalidInput("url", url, "url must not contain credentials");
  }
}

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
  toPublic: (delivery, world) => ({ ...delivery, body: toBody(delivery, world) }),
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
