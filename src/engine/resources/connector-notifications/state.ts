import type { StateRules } from "../../contract/resource.ts";
import { soundRules } from "./rules.ts";
import { connectorNotifications, type NotificationConfig } from "./schema.ts";

/** One config per organization; deleting it is the same as having no rules. */
export const connectorNotificationRules: StateRules<NotificationConfig> = {
  update(tx, before, after) {
    const updated_at = after.updated_at === before.updated_at ? tx.now : after.updated_at;
    return tx.put(connectorNotifications, {
      ...after,
      updated_at,
      notifications: soundRules(after.notifications),
    });
  },
};
