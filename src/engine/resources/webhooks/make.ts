import type { Factory } from "../../contract/factory.ts";
import { inventTeam } from "../../contract/invent.ts";
import { firstRecord, referred } from "../../contract/references.ts";
import { DEFAULT_RETRY_SCHEDULE } from "../../webhooks/schedule.ts";
import { EVENT_NAMES } from "../events.ts";
import { organizations } from "../organizations/schema.ts";
import { type Delivery, type Webhook, webhooks } from "./schema.ts";

const DAY_MS = 86_400_000;
/** Nobody listens on port 9, so that a webhook made up by the server calls nobody. */
const QUIET_URL = "http://127.0.0.1:9/hooks";

export const makeWebhook: Factory<Webhook> = (given, context) => {
  const { random, world, past, now } = context;
  return {
    webhook_id: given.webhook_id ?? context.newestFirstId("wh_"),
    organization_id: given.organization_id ?? firstRecord(world, organizations, "organization_id").id,
    url: given.url ?? QUIET_URL,
    secret: given.secret ?? `whsec_${context.secret("webhook")}`,
    events: given.events ? [...given.events] : random.sample(EVENT_NAMES, 3),
    description: given.description ?? (past ? inventTeam(context) : ""),
    active: given.active ?? true,
    created_at: given.created_at ?? (past ? -random.int(DAY_MS, 30 * DAY_MS) : now),
    last_delivery: given.last_delivery ?? null,
    ...(given.inactive_because === undefined ? {} : { inactive_because: given.inactive_because }),
  };
};

/** G23: delivered_at only on success, last_attempt and next_retry only on failure. */
export const makeDelivery: Factory<Delivery> = (given, context) => {
  const { world, past, now } = context;
  const webhook_id = given.webhook_id ?? firstRecord(world, webhooks, "webhook_id").webhook_id;
  const webhook = () => referred(world, webhooks, { field: "webhook_id", id: webhook_id });
  const status = given.status ?? (given.next_retry == null ? "success" : "failed");
  const failed = status === "failed";
  const attempts = given.attempts ?? 1;
  const ended = given.delivered_at ?? given.last_attempt ?? (past ? -DAY_MS : now);
  return {
    delivery_id: given.delivery_id ?? context.newestFirstId("del_"),
    webhook_id,
    organization_id: given.organization_id ?? webhook().organization_id,
    event: given.event ?? webhook().events[0]!,
    status,
    response_code: given.response_code ?? (failed ? 500 : 200),
    attempts,
    scheduled_attempts: given.scheduled_attempts ?? Math.min(attempts, 6),
    created_at: given.created_at ?? (past ? ended - takenBy(attempts) : now),
    delivered_at: failed ? null : ended,
    last_attempt: failed ? ended : null,
    next_retry: failed ? (given.next_retry ?? null) : null,
    body: given.body ?? null,
    attempt_log: given.attempt_log ?? [],
  };
};

/** From the event to the end of so many scheduled attempts (G24). */
function takenBy(attempts: number): number {
  return DEFAULT_RETRY_SCHEDULE.slice(0, attempts - 1).reduce((sum, delay) => sum + delay, 0);
}
