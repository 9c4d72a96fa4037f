import { eventData } from "../../contract/event.ts";
import type { EmittedEvent, Transaction } from "../../state/transaction.ts";
import { queueAttempt } from "../../webhooks/outgoing.ts";
import { renderBody } from "./body.ts";
import { webhookTest } from "./events.ts";
import { subscribers, type Webhook, webhooks } from "./schema.ts";

const made = new WeakMap<Transaction, string[]>();

/** For each emitted event and each active webhook of its organization that subscribed to it, one delivery. */
export function enqueueEvents(tx: Transaction, events: readonly EmittedEvent[]): void {
  for (const { event, organization_id, data } of events) {
    for (const webhook of tx.index(webhooks, "by_event", subscribers(organization_id, event))) {
      enqueue(tx, webhook, { event, data });
    }
  }
}

/** 4.21: a test is a delivery like any other, and an inactive webhook gets it too (G23). */
export function enqueueTest(tx: Transaction, webhook: Webhook): string {
  return enqueue(tx, webhook, { event: webhookTest.name, data: eventData(webhookTest, webhook, tx) });
}

/** Ids of the deliveries that this transaction has queued. */
export function enqueuedIn(tx: Transaction): readonly string[] {
  return made.get(tx) ?? [];
}

/** The body is fixed here, so that every attempt sends the same bytes (G24). */
function enqueue(
  tx: Transaction,
  webhook: Webhook,
  { event, data }: { event: string; data: object },
): string {
  const { webhook_id, organization_id } = webhook;
  // interfaces 5: a receiver remembers these, and must not be silenced by a reset or another sandbox.
  const delivery_id = tx.newestFirstOwnId("del_");
  const body = renderBody({ event, data, timestamp: tx.iso(tx.now), webhook_id, delivery_id });
  const first = { organization_id, event, created_at: tx.now, body };
  queueAttempt(tx, { id: delivery_id, kind: "first", webhook_id, delivery_id, first });
  const ids = made.get(tx);
  if (ids) ids.push(delivery_id);
  else made.set(tx, [delivery_id]);
  return delivery_id;
}
