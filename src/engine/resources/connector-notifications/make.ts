import { invalidInput } from "../../contract/errors.ts";
import type { Factory, RecordLookup } from "../../contract/factory.ts";
import { organizations } from "../organizations/schema.ts";
import { soundRules } from "./rules.ts";
import { connectorNotifications, type NotificationConfig } from "./schema.ts";

/** A fixture's rules were there before anybody set any. */
export const makeNotificationConfig: Factory<NotificationConfig> = (given, { world, past, now }) => ({
  organization_id: given.organization_id ?? withoutRules(world),
  notifications: soundRules(given.notifications ?? []),
  updated_at: given.updated_at ?? (past ? null : now),
});

/** @throws ApiError INVALID_INPUT where every organization has its rules already */
function withoutRules(world: RecordLookup): string {
  const free = [...world.all(organizations)].find(
    ({ id }) => world.get(connectorNotifications, id) === undefined,
  );
  if (free === undefined)
    throw invalidInput("organization_id", null, "every organization has its notification rules already");
  return free.id;
}
