import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import { referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { soundRules } from "./rules.ts";
import { connectorNotifications, type NotificationConfig } from "./schema.ts";

/** One config per organization; deleting it is the same as having no rules. */
export const connectorNotificationRules: StateRules<NotificationConfig> = {
  complete(fields, tx) {
    const free = [...tx.all(organizations)].find(
      ({ id }) => tx.get(connectorNotifications, id) === undefined,
    );
    const organization_id = fields.organization_id ?? free?.id;
    if (organization_id === undefined)
      throw invalidInput("organization_id", null, "every organization has its notification rules already");
    return { notifications: [], updated_at: tx.now, ...fields, organization_id };
  },
  insert(tx, record) {
    referred(tx, organizations, { field: "organization_id", id: record.organization_id });
    return tx.insert(connectorNotifications, { ...record, notifications: soundRules(record.notifications) });
  },
  update(tx, before, after) {
    const updated_at = after.updated_at === before.updated_at ? tx.now : after.updated_at;
    return tx.put(connectorNotifications, {
      ...after,
      updated_at,
      notifications: soundRules(after.notifications),
    });
  },
};
