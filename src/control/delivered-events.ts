import { EVENT_NAMES } from "../engine/resources/events.ts";
import { webhookTest } from "../engine/resources/webhooks/schema.ts";

/** Events that webhooks may be sent: those of the service, and the test event (4.21). */
export const DELIVERED_EVENTS: readonly string[] = [...EVENT_NAMES, webhookTest.name];
