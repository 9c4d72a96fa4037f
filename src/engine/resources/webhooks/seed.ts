import Type from "typebox";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { Words } from "../../contract/schema.ts";
import { EVENT_NAMES } from "../events.ts";
import { organizations } from "../organizations/schema.ts";
import { webhookTest } from "./events.ts";
import { fixtureFacts } from "./first-organization.ts";
import { makeDelivery, makeWebhook } from "./make.ts";
import { Delivery, deliveries, Webhook, webhooks } from "./schema.ts";

const deliveryRecord = fixtureRecord(Delivery, {
  needs: ["delivery_id", "status"],
  notNull: ["delivered_at", "last_attempt"],
  omit: [
    ...(["webhook_id", "organization_id", "event", "scheduled_attempts"] as const),
    ...(["created_at", "body", "attempt_log"] as const),
  ],
  // What stands at rest may come of events that there are no more.
  more: { event: Words([...EVENT_NAMES, webhookTest.name]) },
});
const record = fixtureRecord(Webhook, {
  needs: ["webhook_id"],
  omit: ["last_delivery"],
  names: { webhook_id: "id" },
  more: { deliveries: Type.Optional(Type.Array(deliveryRecord.schema)) },
});
type Entry = EntryOf<typeof record>;

export const webhooksFixture: FixtureReader = {
  follows: ["locale"],
  keys: {
    webhooks: Type.Union([Type.Array(record.schema), Type.Integer({ minimum: 0, maximum: 10_000 })]),
  },
  // A world made of numbers must not call anybody.
  numbered: { webhooks: () => () => ({ url: "http://127.0.0.1:9/generated", active: false }) },
  check(fixture, report) {
    const seen = new Set<string>();
    for (const [position, { deliveries: given = [] }] of entriesOf(fixture, "webhooks", record).entries()) {
      for (const [place, { delivery_id }] of given.entries()) {
        if (seen.has(delivery_id)) {
          report(["webhooks", position, "deliveries", place, "delivery_id"], `${delivery_id} is taken`);
        }
        seen.add(delivery_id);
      }
    }
  },
  seed(fixture, base) {
    const entries = entriesOf(fixture, "webhooks", record);
    base.fill(fixtureFacts, () => {
      const first = base.world.all(organizations).first();
      return first === undefined ? [] : [{ id: "first_organization", organization_id: first.id }];
    });
    // A webhook tells of its latest delivery, so both are made when either is first read.
    const stories = () => entries.map((entry) => story(entry, base));
    base.fill(webhooks, () => stories().map(({ webhook }) => webhook));
    base.fill(deliveries, () => stories().flatMap(({ sent }) => sent));
    for (const { deliveries: given = [] } of entries) {
      for (const { delivery_id, next_retry } of given) {
        if (next_retry == null) continue;
        base.timer({ kind: "webhook.retry", subject: delivery_id, due: base.instant(next_retry) });
      }
    }
  },
};

function story(entry: Entry, base: BaseBuilder): { webhook: Webhook; sent: Delivery[] } {
  const webhook = makeWebhook(record.given(entry, base), base.context("webhooks", entry.id));
  const { webhook_id, organization_id, events } = webhook;
  const sent = (entry.deliveries ?? []).map((one) => {
    const given = deliveryRecord.given(one, base);
    return makeDelivery(
      { ...given, webhook_id, organization_id, event: one.event ?? events[0] },
      base.context("deliveries", one.delivery_id),
    );
  });
  return { webhook: { ...webhook, last_delivery: latestOf(sent) }, sent };
}

function latestOf(sent: readonly Delivery[]): number | null {
  return sent.reduce<number | null>((latest, { delivered_at, last_attempt }) => {
    const ended = delivered_at ?? last_attempt!;
    return latest === null || ended > latest ? ended : latest;
  }, null);
}
