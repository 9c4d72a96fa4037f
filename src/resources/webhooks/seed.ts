import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Nullable, Timestamp, Words } from "../../contract/schema.ts";
import { DEFAULT_RETRY_SCHEDULE } from "../../webhooks/schedule.ts";
import { EVENT_NAMES } from "../events.ts";
import { entriesOf, firstOrganization, generatedId } from "../organizations/of-fixture.ts";
import { webhookTest } from "./events.ts";
import { fixtureFacts } from "./first-organization.ts";
import {
  type Delivery,
  deliveries,
  EventList,
  STATUSES,
  type Webhook,
  WebhookUrl,
  webhooks,
} from "./schema.ts";
import { QUIET_URL } from "./state.ts";

const DAY = 86_400_000;

const DeliveryEntry = Type.Object(
  {
    delivery_id: Id("del_"),
    event: Words([...EVENT_NAMES, webhookTest.name]),
    status: Words(STATUSES),
    response_code: Type.Optional(Type.Integer({ minimum: 0, maximum: 999 })),
    attempts: Type.Optional(Type.Integer({ minimum: 1 })),
    delivered_at: Type.Optional(Timestamp()),
    last_attempt: Type.Optional(Timestamp()),
    next_retry: Type.Optional(Nullable(Timestamp())),
  },
  { additionalProperties: false },
);

const WebhookEntry = Type.Object(
  {
    id: Id("wh_"),
    organization_id: Type.Optional(Id("org_")),
    url: Type.Optional(WebhookUrl()),
    secret: Type.Optional(Type.String({ pattern: "^whsec_[A-Za-z0-9_-]{1,200}$" })),
    events: Type.Optional(EventList()),
    description: Type.Optional(Type.String()),
    active: Type.Optional(Type.Boolean()),
    created_at: Type.Optional(Timestamp()),
    deliveries: Type.Optional(Type.Array(DeliveryEntry)),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof WebhookEntry>;
type Given = Static<typeof DeliveryEntry>;

export const webhooksFixture: FixtureReader = {
  keys: { webhooks: Type.Union([Type.Array(WebhookEntry), Type.Integer({ minimum: 0, maximum: 10_000 })]) },
  check(fixture, report) {
    const seen = new Set<string>();
    for (const [position, { deliveries: given = [] }] of entries(fixture).entries()) {
      for (const [place, { delivery_id }] of given.entries()) {
        if (seen.has(delivery_id)) {
          report(["webhooks", position, "deliveries", place, "delivery_id"], `${delivery_id} is taken`);
        }
        seen.add(delivery_id);
      }
    }
  },
  seed(fixture, base) {
    base.fill(fixtureFacts, () => [
      { id: "first_organization", organization_id: firstOrganization(fixture) },
    ]);
    const made = () => entries(fixture).map((entry) => ({ entry, webhook: webhookOf(entry, fixture, base) }));
    const deliveriesOf = ({ entry, webhook }: { entry: Entry; webhook: Webhook }) =>
      (entry.deliveries ?? []).map((given) => deliveryOf(given, webhook, base));
    base.fill(webhooks, () =>
      made().map((both) => ({ ...both.webhook, last_delivery: latestOf(deliveriesOf(both)) })),
    );
    base.fill(deliveries, () => made().flatMap(deliveriesOf));
    for (const { deliveries: given = [] } of entries(fixture)) {
      for (const { delivery_id, next_retry } of given) {
        if (next_retry == null) continue;
        base.timer({ kind: "webhook.retry", subject: delivery_id, due: base.instant(next_retry) });
      }
    }
  },
};

function entries(fixture: FixtureData): readonly Entry[] {
  return entriesOf<Entry>(fixture, "webhooks", (n) => ({ id: generatedId("wh_", n), active: false }));
}

function webhookOf(entry: Entry, fixture: FixtureData, base: BaseBuilder): Webhook {
  const random = base.random("webhooks", entry.id);
  return {
    webhook_id: entry.id,
    organization_id: entry.organization_id ?? firstOrganization(fixture),
    url: entry.url ?? QUIET_URL,
    secret: entry.secret ?? `whsec_${random.letters(40)}`,
    events: entry.events ? [...entry.events] : random.sample(EVENT_NAMES, 3),
    description: entry.description ?? random.pick(["Operations", "Billing", "Audit", "Search index"]),
    active: entry.active ?? true,
    created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(DAY, 30 * DAY),
    last_delivery: null,
  };
}

function deliveryOf(given: Given, webhook: Webhook, base: BaseBuilder): Delivery {
  const { delivery_id, event, status } = given;
  const instant = (text: string | null | undefined) => (text == null ? null : base.instant(text));
  const attempts = given.attempts ?? 1;
  const ended = instant(given.delivered_at) ?? instant(given.last_attempt) ?? -DAY;
  const failed = status === "failed";
  return {
    delivery_id,
    webhook_id: webhook.webhook_id,
    organization_id: webhook.organization_id,
    event,
    status,
    response_code: given.response_code ?? (failed ? 500 : 200),
    attempts,
    scheduled_attempts: Math.min(attempts, 6),
    created_at: ended - takenBy(attempts),
    delivered_at: failed ? null : ended,
    last_attempt: failed ? ended : null,
    next_retry: failed ? instant(given.next_retry) : null,
    body: null,
    attempt_log: [],
  };
}

/** From the event to the end of so many scheduled attempts (G24). */
function takenBy(attempts: number): number {
  return DEFAULT_RETRY_SCHEDULE.slice(0, attempts - 1).reduce((sum, delay) => sum + delay, 0);
}

function latestOf(given: readonly Delivery[]): number | null {
  return given.reduce<number | null>((latest, { delivered_at, last_attempt }) => {
    const ended = delivered_at ?? last_attempt!;
    return latest === null || ended > latest ? ended : latest;
  }, null);
}
