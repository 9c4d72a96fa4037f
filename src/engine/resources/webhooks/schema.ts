import { type Static, Type } from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { aboutRecords, event } from "../../contract/event.ts";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo } from "../../contract/references.ts";
import {
  Description,
  Id,
  Instant,
  NullableInstant,
  StringEnum,
  Timestamp,
  URL_PATTERN,
} from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";
import { EVENT_NAMES } from "../events.ts";

/** An absolute http or https URL (G23); `requireHttpUrl` checks more than the pattern. */
export const WebhookUrl = () =>
  Type.String({ pattern: URL_PATTERN, maxLength: 2048, examples: ["https://partner.example/hooks"] });

/**
 * Checks beyond the URL's pattern: it must parse, and contain no credentials (G23).
 * @throws ApiError INVALID_INPUT
 */
export function requireHttpUrl(url: string, field = "url"): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    throw invalidInput(field, url, `${field} must be an absolute http or https URL`);
  if (parsed.username !== "" || parsed.password !== "")
    throw invalidInput(field, url, `${field} must not contain credentials`);
}

/** At least one event, all known, each once (G23). */
export const EventList = () =>
  Type.Array(StringEnum(EVENT_NAMES, { "x-events": true }), {
    minItems: 1,
    uniqueItems: true,
    examples: [["user.created"]],
  });

/** A webhook (section 2.12) as it is stored. */
export const Webhook = Type.Object({
  webhook_id: Id("wh_"),
  url: WebhookUrl(),
  events: EventList(),
  description: Description(),
  active: Type.Boolean(),
  created_at: Instant(),
  secret: Type.String({ pattern: "^whsec_[A-Za-z0-9_-]{1,200}$" }),
  last_delivery: NullableInstant(),
  organization_id: Id("org_", belongsTo("organizations")),
  inactive_because: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: "Why it is inactive, in words; removed when it becomes active",
    }),
  ),
  receiver_id: Type.Optional(
    Type.String({
      ...belongsTo("_receivers"),
      description: "A receiver inside the server; the webhook is deleted with it",
    }),
  ),
});
export type Webhook = Static<typeof Webhook>;

/** The body of a webhook; the secret is only in the answer to its creation, `last_delivery` only in lists. */
export const { schema: WebhookBody, render: renderWebhook } = publicView(Webhook, {
  $id: "Webhook",
  omit: ["secret", "last_delivery", "organization_id", "inactive_because", "receiver_id"],
});
export const { schema: CreatedWebhookBody, render: renderCreatedWebhook } = publicView(Webhook, {
  $id: "CreatedWebhook",
  omit: ["last_delivery", "organization_id", "inactive_because", "receiver_id"],
});
export const { schema: ListedWebhookBody, render: renderListedWebhook } = publicView(Webhook, {
  $id: "ListedWebhook",
  omit: ["secret", "organization_id", "inactive_because", "receiver_id"],
});

export const webhooks = collection({
  name: "webhooks",
  idField: "webhook_id",
  schema: Webhook,
  indexes: {
    newest: { groups: ({ organization_id }) => [organization_id], order: ({ created_at }) => -created_at },
    by_event: {
      groups: ({ active, events, organization_id }) =>
        active ? events.map((event) => toSubscriberKey(organization_id, event)) : [],
      order: ({ created_at }) => created_at,
    },
  },
});

/** Sets a webhook active, or inactive with a reason; an inactive one keeps its reason (interfaces.md 14). */
export function setActivity(
  { inactive_because: reasonBefore, ...webhook }: Webhook,
  { active, because }: { active: boolean; because: string },
): Webhook {
  if (active) return { ...webhook, active };
  const inactiveReason = webhook.active ? because : reasonBefore;
  return {
    ...webhook,
    active,
    ...(inactiveReason === undefined ? {} : { inactive_because: inactiveReason }),
  };
}

/** Why a webhook is inactive; null for an active one. */
export function explainInactive({ active, inactive_because }: Webhook): string | null {
  return active ? null : (inactive_because ?? "no reason was given");
}

/** The key under which the index has the active webhooks that are subscribed to an event. */
export function toSubscriberKey(organization_id: string, event: string): string {
  return `${organization_id}|${event}`;
}

/** One attempt of a delivery, with its outcome. */
export const Attempt = Type.Object({
  at: Instant({ description: "When it began; the due time if it ran during an advance of the clock" }),
  ended_at: Type.Optional(Instant()),
  kind: StringEnum(["first", "retry", "redelivery"]),
  url: Type.String(),
  response_code: Type.Integer(),
  duration_ms: Type.Integer({ description: "On the wall clock" }),
  error: Type.Optional(Type.String()),
  fault: Type.Optional(Type.String({ description: "The fault that affected it" })),
});
export type Attempt = Static<typeof Attempt>;

/** The name of section 4.21's test event, to which no webhook can subscribe. */
const TEST_EVENT = "webhook.test";

/** A delivery (section 2.12) as it is stored, with every attempt and the exact text that each sends. */
export const Delivery = Type.Object({
  delivery_id: Id("del_"),
  webhook_id: Id("wh_", belongsTo("webhooks")),
  organization_id: Id("org_", belongsTo("organizations")),
  event: Type.Unsafe<string>(StringEnum([...EVENT_NAMES, TEST_EVENT], { "x-events": true })),
  status: StringEnum(["success", "failed"]),
  response_code: Type.Integer({ minimum: 0, maximum: 999, description: "0 means no answer" }),
  attempts: Type.Integer({ minimum: 1 }),
  scheduled_attempts: Type.Integer({ minimum: 0, description: "Attempts without redeliveries" }),
  created_at: Instant(),
  delivered_at: NullableInstant(),
  last_attempt: NullableInstant(),
  next_retry: NullableInstant(),
  /** Null for a fixture's delivery that was not sent yet; `toBody` derives it. */
  body: Type.Unsafe<string | null>({ type: "string" }),
  attempt_log: Type.Array(Attempt),
});
export type Delivery = Static<typeof Delivery>;

export const deliveries = collection({
  name: "deliveries",
  idField: "delivery_id",
  schema: Delivery,
  timer: "webhook.retry",
  indexes: {
    newest: { groups: "webhook_id", order: ({ created_at }) => -created_at },
    retrying: {
      groups: ({ webhook_id, next_retry }) => (next_retry === null ? [] : [webhook_id]),
      order: ({ created_at }) => created_at,
    },
    finished: {
      groups: ({ webhook_id, next_retry }) => (next_retry === null ? [webhook_id] : []),
      order: ({ created_at }) => -created_at,
    },
  },
});

/** The body of a delivery (section 2.12), without times that do not belong to its status (`renderDelivery`). */
export const DeliveryBody = Type.Object(
  {
    delivery_id: Delivery.properties.delivery_id,
    // The event of an old delivery may no longer be declared.
    event: Type.String({ minLength: 1 }),
    status: Delivery.properties.status,
    response_code: Delivery.properties.response_code,
    // 0 for a queued delivery, which is stored once its first attempt has ended.
    attempts: Type.Integer({ minimum: 0 }),
    delivered_at: Type.Optional(Timestamp()),
    last_attempt: Type.Optional(Timestamp()),
    next_retry: Type.Optional(Type.Union([Timestamp(), Type.Null()])),
  },
  { $id: "WebhookDelivery" },
);

const about = aboutRecords(webhooks, {});

/** The event of section 4.21's test (G23). Only the tested webhook gets it; webhooks cannot subscribe to it. */
export const webhookTest = event({
  name: TEST_EVENT,
  section: "4.21",
  assumptions: ["G23"],
  summary: "A test of this webhook was requested",
  about: {
    ...about,
    // A fixture's delivery has no description.
    fields: { ...about.fields, description: Type.Optional(Type.String()) },
  },
  data: ["webhook_id", "organization_id", "description"],
});
