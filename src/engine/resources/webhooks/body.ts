import { sampleData } from "../../contract/event.ts";
import { Random } from "../../state/random.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { eventNamed } from "../events.ts";
import { webhookTest } from "./events.ts";
import type { Delivery } from "./schema.ts";

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
export function bodyOf(delivery: Delivery, world: WorldReader): string {
  const { body, event, delivery_id, webhook_id, organization_id, created_at } = delivery;
  if (body !== null) return body;
  const random = new Random(0, "delivery", delivery_id);
  const known = { webhook_id, organization_id };
  const data = sampleData(eventNamed(event) ?? webhookTest, { world, at: created_at, random, known });
  return renderBody({ event, data, timestamp: world.iso(created_at), webhook_id, delivery_id });
}
