import type { EventListener } from "../../contract/resource.ts";
import type { Services } from "../../contract/services.ts";
import type { EmittedEvent, Transaction } from "../../state/transaction.ts";
import { sendEmail } from "../../webhooks/outbox.ts";
import { organizations } from "../organizations/schema.ts";
import { connectorNotifications } from "./schema.ts";

/** What a notification tells, by either way; the members of section 6.2 that it has. */
export interface Notice {
  event: string;
  organization_id: string;
  data: object;
  timestamp: string;
}

/**
 * G15: events reach the rules that name them. E-mails are written in the same transaction; webhooks are
 * called once it is committed, and once only: the reference knows retries of deliveries alone.
 */
export const notifyOfEvents: EventListener = (tx, events) => {
  const calls: { url: string; notice: Notice }[] = [];
  for (const emitted of events) {
    const { notifications = [] } = tx.get(connectorNotifications, emitted.organization_id) ?? {};
    for (const { type, url, email, events: names } of notifications) {
      if (!(names as readonly string[]).includes(emitted.event)) continue;
      const notice = noticeOf(emitted, tx);
      if (type === "webhook") calls.push({ url: url!, notice });
      else mail(tx, email!, notice);
    }
  }
  if (calls.length === 0) return undefined;
  return async (services) =>
    void (await Promise.all(calls.map(({ url, notice }) => callWebhook(services, { url, notice }))));
};

export function noticeOf({ event, organization_id, data }: EmittedEvent, tx: Transaction): Notice {
  return { event, organization_id, data, timestamp: tx.iso(tx.now) };
}

/** Calls a receiver once. Resolves with its status, 0 where it gave none. */
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
    body: Buffer.from(JSON.stringify(notice)),
    timeoutMs: settings.webhook_timeout_seconds * 1000,
    ...(signal ? { signal } : {}),
  });
  return response_code;
}

export function mail(tx: Transaction, to: string, { event, organization_id, data, timestamp }: Notice): void {
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
