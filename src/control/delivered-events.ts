import { EVENT_NAMES } from "../resources/events.ts";
import { webhookTest } from "../resources/webhooks/events.ts";

/** Events that webhooks may be sent: those of the service, and the test event (4.21). */
export const DELIVERED_EVENTS: readonly string[] = [...EVENT_NAMES, webhookTest.name];
