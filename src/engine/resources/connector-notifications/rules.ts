import { toUtf8 } from "../../bytes.ts";
import { invalidInput } from "../../contract/errors.ts";
import type { EventListener, StateRules } from "../../contract/resource.ts";
import type { Services } from "../../contract/services.ts";
import type { EmittedEvent, Transaction, WorldReader } from "../../state/transaction.ts";
import { sendEmail } from "../../webhooks/outbox.ts";
import { organizations } from "../organizations/schema.ts";
import { requireHttpUrl } from "../webhooks/schema.ts";
import { connectorNotifications, type NotificationConfig, type NotificationRule } from "./schema.ts";

/**
 * Rules in their stored form: with known fields only, and each with a URL or an e-mail address, as its type demands.
 * @throws ApiError INVALID_INPUT naming the field, such as `notifications[0].url`
 */
export function toStoredRules(rules: readonly NotificationRule[]): NotificationRule[] {
  return rules.map((rule, position) => {
    const { type, url, events } = rule;
    const [required, refused] =
      type === "webhook" ? (["url", "email"] as const) : (["email", "url"] as const);
    const toFieldPath = (name: string) => `notifications[${position}].${name}`;
    if (rule[refused] !== undefined)
      throw invalidInput(toFieldPath(refused), rule[refused], `a rule of type ${type} has no ${refused}`);
    if (rule[required] === undefined)
      throw invalidInput(toFieldPath(required), null, `${required} is required for a rule of type ${type}`);
    if (type === "webhook") requireHttpUrl(url!, toFieldPath("url"));
    return { type, [required]: rule[required], events: [...events] };
  });
}

/** By default an organization has no rules. */
export function findConfig(world: WorldReader, organization_id: string): NotificationConfig {
  const noRules = { organization_id, notifications: [], updated_at: null };
  return world.get(connectorNotifications, organization_id) ?? noRules;
}

/** A notification by webhook or e-mail: the fields of an event (reference 6.2), without the ids of a webhook and a delivery. */
export interface Notice extends EmittedEvent {
  timestamp: string;
}

/**
 * Sends events to the rules that name them (assumption G15). E-mails go to the outbox in the same transaction; webhooks are called after
 * the commit, without retries: the reference describes retries for deliveries only.
 */
export const notifyOfEvents: EventListener = (tx, events) => {
  const calls: { url: string; notice: Notice }[] = [];
  for (const emitted of events) {
    const { notifications: rules } = findConfig(tx, emitted.organization_id);
    for (const { type, url, email, events: ruleEvents } of rules) {
      if (!(ruleEvents as readonly string[]).includes(emitted.event)) continue;
      const notice = toNotice(emitted, tx);
      if (type === "webhook") calls.push({ url: url!, notice });
      else sendNotificationEmail(tx, email!, notice);
    }
  }
  if (calls.length === 0) return undefined;
  // Runs after the commit.
  return async (services) => {
    await Promise.all(calls.map(({ url, notice }) => callWebhook(services, { url, notice })));
  };
};

export function toNotice({ event, organization_id, data }: EmittedEvent, tx: Transaction): Notice {
  return { event, organization_id, data, timestamp: tx.toIso(tx.now) };
}

/** Calls a receiver once. Resolves with its status, 0 without an answer. */
export async function callWebhook(
  { outbound, settings }: Services,
  { url, notice, signal }: { url: string; notice: Notice; signal?: AbortSignal },
): Promise<number> {
  const { response_code } = await outbound.send({
    url,
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Service-Event": notice.event,
      "User-Agent": `${settings.service_name}-Webhook/1.0`,
    },
    body: toUtf8(JSON.stringify(notice)),
    timeoutMs: settings.webhook_timeout_seconds * 1000,
    ...(signal ? { signal } : {}),
  });
  return response_code;
}

export function sendNotificationEmail(
  tx: Transaction,
  to: string,
  { event, organization_id, data, timestamp }: Notice,
): void {
  const organization = tx.get(organizations, organization_id)?.name ?? organization_id;
  const facts = Object.entries(data).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  sendEmail(tx, {
    to,
    subject: `[${organization}] ${event}`,
    body: [`${event} in ${organization} at ${timestamp}`, "", ...facts, ""].join("\n"),
  });
}

/** A state call that changes a config sets `updated_at` to the current time, unless the call gives another one. */
export const connectorNotificationStateRules: StateRules<NotificationConfig> = {
  update(tx, before, after) {
    const updated_at = after.updated_at === before.updated_at ? tx.now : after.updated_at;
    const notifications = toStoredRules(after.notifications);
    return tx.put(connectorNotifications, { ...after, updated_at, notifications });
  },
};
