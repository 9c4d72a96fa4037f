import type { Site } from "../engine/pipeline/plain-http.ts";
import { receivers } from "../engine/receivers/receiver.ts";
import { connectorNotifications } from "../engine/resources/connector-notifications/schema.ts";
import { webhooks } from "../engine/resources/webhooks/schema.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";

const RECEIVER_URL = /^https?:\/\/[^/]+\/_receivers\/([^/]+)\/(rcv_\w+)/;

/**
 * Gives webhooks and notification rules the URLs of this sandbox's receivers, where a fork, a rewound fork or a restored
 * snapshot has those of the sandbox it comes from: its deliveries would reach that sandbox.
 */
export function pointWebhooksAtOwnReceivers({ name, world }: Sandbox, site: Pick<Site, "url">): void {
  const state = world.read();
  if (state.all(receivers).size === 0) return;
  const move = <R extends { url?: string }>(record: R): R => {
    const [start = "", owner, id = ""] = RECEIVER_URL.exec(record.url ?? "") ?? [];
    if (owner === name || state.get(receivers, id) === undefined) return record;
    return { ...record, url: `${site.url}/_receivers/${name}/${id}${record.url!.slice(start.length)}` };
  };
  const title = "Webhooks and notification rules got the URLs of this sandbox's own receivers.";
  world.transact(
    (tx) => {
      for (const webhook of state.all(webhooks)) {
        const moved = move(webhook);
        if (moved !== webhook) tx.put(webhooks, moved);
      }
      for (const config of state.all(connectorNotifications)) {
        const notifications = config.notifications.map(move);
        if (notifications.some((rule, i) => rule !== config.notifications[i]))
          tx.put(connectorNotifications, { ...config, notifications });
      }
    },
    { change: { kind: "control", title, subject: undefined } },
  );
}
