import { Type } from "typebox";
import { chooseCreation, type Factory } from "../../contract/factory.ts";
import {
  createEntryFormat,
  type FixtureEntry,
  readEntries,
  reportContradictions,
} from "../../contract/fixture-entry.ts";
import { inventTeam } from "../../contract/invent.ts";
import { belongsTo, requireFirstRecord, requireReferencedRecord } from "../../contract/references.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { computeOnce } from "../../maps.ts";
import { DAY_MS } from "../../state/clock.ts";
import { collection } from "../../state/collection.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { classify, DEFAULT_RETRY_SCHEDULE, MAX_SCHEDULED_ATTEMPTS } from "../../webhooks/schedule.ts";
import { EVENT_NAMES } from "../events.ts";
import { chooseOrganization } from "../organizations/access.ts";
import { organizations } from "../organizations/schema.ts";
import { fitsStatus, WRONG_CODE } from "./rules.ts";
import { Delivery, deliveries, requireHttpUrl, Webhook, webhooks } from "./schema.ts";

/** Remembers which organization the fixture names first, since the tables of a sandbox are sorted by id. */
export const fixtureFacts = collection({
  name: "_fixture_facts",
  internal: true,
  schema: Type.Object({ id: Type.String(), organization_id: Type.String(belongsTo("organizations")) }),
});

/** The organization of an event that names none (interfaces.md 4); undefined in a world without organizations. */
export function getDefaultOrganization(world: WorldReader): string | undefined {
  const first = world.get(fixtureFacts, "first_organization")?.organization_id;
  if (first !== undefined && world.get(organizations, first) !== undefined) return first;
  return world.all(organizations).first()?.id;
}

/** The URL of a webhook that is given none; no server listens on port 9. */
const QUIET_URL = "http://127.0.0.1:9/hooks";

export const makeWebhook: Factory<Webhook> = (fields, context) => {
  const { random, isFixture } = context;
  const active = fields.active ?? fields.inactive_because === undefined;
  return {
    webhook_id: fields.webhook_id ?? context.createNewestFirstId("wh_"),
    organization_id: chooseOrganization(context, fields.organization_id),
    url: fields.url ?? QUIET_URL,
    secret: fields.secret ?? `whsec_${context.createSecret("webhook")}`,
    events: fields.events ? [...fields.events] : random.sample(EVENT_NAMES, 3),
    description: fields.description ?? (isFixture ? inventTeam(context) : ""),
    active,
    created_at: fields.created_at ?? chooseCreation(context, () => random.int(DAY_MS, 30 * DAY_MS)),
    last_delivery: fields.last_delivery ?? null,
    ...(active || fields.inactive_because === undefined ? {} : { inactive_because: fields.inactive_because }),
    ...(fields.receiver_id === undefined ? {} : { receiver_id: fields.receiver_id }),
  };
};

/** A success has `delivered_at`, a failure `last_attempt` and perhaps `next_retry` (G23). */
export const makeDelivery: Factory<Delivery> = (fields, context) => {
  const { world, isFixture, now } = context;
  const webhook_id =
    fields.webhook_id ??
    requireFirstRecord(context, webhooks, "webhook_id", fields.organization_id).webhook_id;
  const getWebhook = () => requireReferencedRecord(world, webhooks, { field: "webhook_id", id: webhook_id });
  const status = fields.status ?? pickStatus(fields);
  const hasFailed = status === "failed";
  const attempts = fields.attempts ?? 1;
  const endedAt = fields.delivered_at ?? fields.last_attempt ?? (isFixture ? -DAY_MS : now);
  return {
    delivery_id: fields.delivery_id ?? context.createNewestFirstId("del_"),
    webhook_id,
    organization_id: fields.organization_id ?? getWebhook().organization_id,
    event: fields.event ?? getWebhook().events[0]!,
    status,
    response_code: fields.response_code ?? (hasFailed ? 500 : 200),
    attempts,
    scheduled_attempts: fields.scheduled_attempts ?? Math.min(attempts, MAX_SCHEDULED_ATTEMPTS),
    created_at: fields.created_at ?? endedAt - getScheduleTime(attempts),
    delivered_at: hasFailed ? null : endedAt,
    last_attempt: hasFailed ? endedAt : null,
    next_retry: hasFailed ? (fields.next_retry ?? null) : null,
    body: fields.body ?? null,
    attempt_log: fields.attempt_log ?? [],
  };
};

function pickStatus({
  next_retry,
  last_attempt,
  response_code = 200,
}: Partial<Delivery>): Delivery["status"] {
  const isFailure = next_retry != null || last_attempt != null || classify(response_code) !== "success";
  return isFailure ? "failed" : "success";
}

/** Milliseconds from the event to the end of this number of scheduled attempts (G24). */
function getScheduleTime(attempts: number): number {
  return DEFAULT_RETRY_SCHEDULE.slice(0, attempts - 1).reduce((sum, delay) => sum + delay, 0);
}

const deliveryFormat = createEntryFormat(Delivery, {
  required: ["delivery_id", "event", "status"],
  notNull: ["delivered_at", "last_attempt"],
  omit: ["webhook_id", "organization_id", "scheduled_attempts", "created_at", "body", "attempt_log"],
});
const entryFormat = createEntryFormat(Webhook, {
  required: ["webhook_id"],
  omit: ["last_delivery", "receiver_id"],
  names: { webhook_id: "id" },
  more: { deliveries: Type.Optional(Type.Array(deliveryFormat.schema)) },
});
type Entry = FixtureEntry<typeof entryFormat>;

export const webhooksFixture: FixtureReader = {
  dependsOnSettings: ["locale"],
  keys: {
    webhooks: Type.Union([Type.Array(entryFormat.schema), Type.Integer({ minimum: 0, maximum: 10_000 })]),
  },
  // A generated webhook must not call a server.
  fieldGenerators: { webhooks: () => () => ({ url: "http://127.0.0.1:9/generated", active: false }) },
  check(fixture, report) {
    for (const [position, entry] of readEntries(fixture, "webhooks", entryFormat).entries()) {
      try {
        if (entry.url !== undefined) requireHttpUrl(entry.url);
      } catch (error) {
        report(["webhooks", position, "url"], (error as Error).message);
      }
      for (const [deliveryPosition, delivery] of (entry.deliveries ?? []).entries()) {
        const { status, response_code } = delivery;
        const reportField = (field: string, message: string) =>
          report(["webhooks", position, "deliveries", deliveryPosition, field], message);
        const impossible =
          status === "failed" ? (["delivered_at"] as const) : (["last_attempt", "next_retry"] as const);
        reportContradictions(delivery, status, impossible, reportField);
        if (response_code !== undefined && !fitsStatus({ status, response_code }))
          reportField("response_code", WRONG_CODE);
      }
    }
  },
  addRecords(fixture, base) {
    const entries = readEntries(fixture, "webhooks", entryFormat);
    base.fill(fixtureFacts, () => {
      // This world still has the order of the fixture.
      const first = base.world.all(organizations).first();
      return first === undefined ? [] : [{ id: "first_organization", organization_id: first.id }];
    });
    // A webhook shows its latest delivery, so both are made for either collection.
    const getWebhooks = computeOnce(() => entries.map((entry) => makeWebhookWithDeliveries(entry, base)));
    base.fill(webhooks, () => getWebhooks().map(({ webhook }) => webhook));
    base.fill(deliveries, () => getWebhooks().flatMap(({ sent }) => sent));
    for (const { delivery_id, next_retry } of entries.flatMap((entry) => entry.deliveries ?? [])) {
      if (next_retry == null) continue;
      base.addTimer({ kind: "webhook.retry", subject: delivery_id, due: base.toInstant(next_retry) });
    }
  },
};

function makeWebhookWithDeliveries(entry: Entry, base: BaseBuilder): { webhook: Webhook; sent: Delivery[] } {
  const webhook = makeWebhook(entryFormat.toFields(entry, base), base.createContext("webhooks", entry.id));
  const { webhook_id, organization_id, events } = webhook;
  const sent = (entry.deliveries ?? []).map((deliveryEntry) => {
    // By default a day ago, or when a younger webhook was created.
    const end = {
      [deliveryEntry.status === "failed" ? "last_attempt" : "delivered_at"]: Math.max(
        -DAY_MS,
        webhook.created_at,
      ),
    };
    const fields = { ...end, ...deliveryFormat.toFields(deliveryEntry, base) };
    return makeDelivery(
      { ...fields, webhook_id, organization_id, event: deliveryEntry.event ?? events[0] },
      base.createContext("deliveries", deliveryEntry.delivery_id),
    );
  });
  return { webhook: { ...webhook, last_delivery: getLatestTime(sent) }, sent };
}

function getLatestTime(sent: readonly Delivery[]): number | null {
  const ends = sent.map(({ delivered_at, last_attempt }) => delivered_at ?? last_attempt!);
  return ends.sort((a, b) => b - a)[0] ?? null;
}
