import { type AnyEvent, dataSchema } from "../../engine/contract/event.ts";
import type { SchemaComponents } from "./schema-components.ts";

type Json = Record<string, unknown>;

const text = { type: "string" };

/** Section 6.2; `event` and `data` are each event's own. */
export const DELIVERY_SCHEMA: Json = {
  type: "object",
  description: "Section 6.2",
  required: ["event", "data", "timestamp", "webhook_id", "delivery_id"],
  properties: {
    event: text,
    data: { type: "object" },
    timestamp: { type: "string", format: "date-time" },
    webhook_id: text,
    delivery_id: { type: "string", description: "The same on every attempt; for telling repetitions" },
  },
};

const header = (name: string, description: string): Json => ({
  name,
  in: "header",
  required: true,
  description,
  schema: text,
});

/** Section 6.2. */
export const DELIVERY_PARAMETERS: Json = {
  Event: header("X-Service-Event", "The event"),
  Signature: header(
    "X-Service-Signature",
    "`sha256=` and the lower-case hex HMAC-SHA256 of the body's bytes, keyed with the webhook's secret",
  ),
  Delivery: header("X-Service-Delivery", "The delivery's id"),
};

/** What receivers are called with, by event: the `webhooks` of OpenAPI 3.1. */
export function webhookObjects(events: readonly AnyEvent[], components: SchemaComponents): Json {
  return Object.fromEntries(events.map((event) => [event.name, { post: deliveryObject(event, components) }]));
}

function deliveryObject(event: AnyEvent, components: SchemaComponents): Json {
  const { name, section, assumptions, summary, description } = event;
  const own = { properties: { event: { const: name }, data: components.place(dataSchema(event)) } };
  return {
    tags: ["events"],
    summary,
    ...(description ? { description } : {}),
    "x-section": section,
    ...(assumptions?.length ? { "x-assumption": assumptions } : {}),
    security: [],
    parameters: Object.keys(DELIVERY_PARAMETERS).map((key) => ({ $ref: `#/components/parameters/${key}` })),
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: { allOf: [{ $ref: "#/components/schemas/WebhookEvent" }, own] } },
      },
    },
    responses: {
      "2XX": { description: "Delivered" },
      "410": { description: "The webhook becomes inactive" },
      default: { description: "Tried again, by default after 1m, 5m, 15m, 1h and 6h" },
    },
  };
}
