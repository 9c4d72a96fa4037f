import { invalidInput } from "../../contract/errors.ts";
import { requireReferencedRecord, requireSameOrganization } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { classify } from "../../webhooks/schedule.ts";
import { cancelPending, toBody, updateRetryTimer } from "./deliveries.ts";
import { type Delivery, deliveries, requireHttpUrl, setActivity, type Webhook, webhooks } from "./schema.ts";

export const webhookStateRules: StateRules<Webhook> = {
  insert(tx, record) {
    requireHttpUrl(record.url);
    return tx.insert(webhooks, record);
  },
  update(tx, before, after) {
    requireHttpUrl(after.url);
    requireSameOrganization(before, after, {
      name: "deliveries",
      records: tx.index(deliveries, "newest", before.webhook_id),
    });
    const { active, inactive_because: because = "the console or a state call deactivated it" } = after;
    // `setActivity` needs the activity before: a webhook that was inactive keeps its reason.
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
    requireFittingCode(record);
    return store(tx, { ...record, organization_id });
  },
  update(tx, before, after) {
    if (after.webhook_id !== before.webhook_id) {
      throw invalidInput("webhook_id", after.webhook_id, "a delivery stays with its webhook");
    }
    const changesOnlyStatus = after.status !== before.status && after.response_code === before.response_code;
    const defaultCode = after.status === "success" ? 200 : 500;
    const response_code = changesOnlyStatus ? defaultCode : after.response_code;
    const changed = { ...after, organization_id: before.organization_id, response_code };
    requireFittingCode(changed);
    return store(tx, changed);
  },
};

/** Stores a delivery with its retry's timer; its attempt may be the latest of the webhook (G23). */
function store(tx: Transaction, changed: Delivery): Delivery {
  const delivery = tx.put(deliveries, setConsistentTimes(changed, tx.now));
  updateRetryTimer(tx, delivery);
  const webhook = tx.get(webhooks, delivery.webhook_id);
  const at = delivery.delivered_at ?? delivery.last_attempt!;
  // Missing if a saved document or a snapshot was edited.
  if (webhook && (webhook.last_delivery === null || webhook.last_delivery < at))
    tx.update(webhooks, webhook.webhook_id, { last_delivery: at });
  return delivery;
}

/** A 2xx answer is a success, and no other (section 3.3); 0 stands for no answer. */
export function fitsStatus({ status, response_code }: Pick<Delivery, "status" | "response_code">): boolean {
  return (classify(response_code) === "success") === (status === "success");
}

export const WRONG_CODE = "a success has a response code of 200 to 299, a failure another";

function requireFittingCode(delivery: Delivery): void {
  if (!fitsStatus(delivery)) throw invalidInput("response_code", delivery.response_code, WRONG_CODE);
}

/** A success has `delivered_at`, a failure `last_attempt` and perhaps `next_retry` (G23). */
function setConsistentTimes(delivery: Delivery, now: number): Delivery {
  const { status, delivered_at, last_attempt } = delivery;
  return status === "success"
    ? { ...delivery, delivered_at: delivered_at ?? last_attempt ?? now, last_attempt: null, next_retry: null }
    : { ...delivery, delivered_at: null, last_attempt: last_attempt ?? delivered_at ?? now };
}

/** Shows the time of the success, or those of the failure and the retry (section 2.12, G23). */
export function renderDelivery(delivery: Delivery, world: WorldReader) {
  const { delivery_id, event, status, response_code, attempts, next_retry } = delivery;
  const times =
    status === "success"
      ? { delivered_at: world.toIso(delivery.delivered_at!) }
      : {
          last_attempt: world.toIso(delivery.last_attempt!),
          next_retry: next_retry === null ? null : world.toIso(next_retry),
        };
  return { delivery_id, event, status, response_code, attempts, ...times };
}
