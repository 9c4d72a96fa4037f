import { eventData, sampleData } from "../../contract/event.ts";
import { Random } from "../../state/random.ts";
import type { EmittedEvent, Transaction, WorldReader } from "../../state/transaction.ts";
import { queueAttempt } from "../../webhooks/outgoing.ts";
import { eventNamed } from "../events.ts";
import { webhookTest } from "./events.ts";
import { type Delivery, subscribers, type Webhook, webhooks } from "./schema.ts";

/** Section 6.2, in the order of its fields. */
export interface Payload {
  event: string;
  data: object;
  timestamp: string;
  webhook_id: string;
  delivery_id: string;
}

export function renderBody({ event, data, timestamp, webhook_id, delivery_id }: Payload): string {
  return JSON.stringify({ event, data, timestamp, webhook_id, delivery_id });
}

/**
 * The exact text that every attempt sends. That of a fixture's delivery depends on the sandbox's origin, and
 * is therefore derived from its id and instant instead of being stored in a base that sandboxes share.
 */
export function toBody(delivery: Delivery, world: WorldReader): string {
  const { body, event, delivery_id, webhook_id, organization_id, created_at } = delivery;
  if (body !== null) return body;
  const random = new Random(0, "delivery", delivery_id);
  const known = { webhook_id, organization_id };
  const data = sampleData(eventNamed(event) ?? webhookTest, { world, at: created_at, random, known });
  return renderBody({ event, data, timestamp: world.iso(created_at), webhook_id, delivery_id });
}

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
