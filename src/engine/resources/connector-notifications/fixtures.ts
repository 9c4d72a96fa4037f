import { Type } from "typebox";
import { ApiError, invalidInput } from "../../contract/errors.ts";
import type { Factory, RecordLookup } from "../../contract/factory.ts";
import type { FixtureData, FixtureReader } from "../../contract/resource.ts";
import { ByOrganization, organizations } from "../organizations/schema.ts";
import { toStoredRules } from "./rules.ts";
import { connectorNotifications, MAX_RULES, type NotificationConfig, NotificationRule } from "./schema.ts";

/** The rules of a fixture have no `updated_at`, since no user has set them. */
export const makeNotificationConfig: Factory<NotificationConfig> = (fields, { world, isFixture, now }) => ({
  organization_id: fields.organization_id ?? findOrganizationWithoutRules(world),
  notifications: toStoredRules(fields.notifications ?? []),
  updated_at: fields.updated_at ?? (isFixture ? null : now),
});

/** @throws ApiError INVALID_INPUT if every organization has rules */
function findOrganizationWithoutRules(world: RecordLookup): string {
  const organization = [...world.all(organizations)].find(
    ({ id }) => world.get(connectorNotifications, id) === undefined,
  );
  if (organization === undefined)
    throw invalidInput("organization_id", null, "every organization has its notification rules already");
  return organization.id;
}

export const connectorNotificationsFixture: FixtureReader = {
  keys: {
    connector_notifications: ByOrganization(Type.Array(NotificationRule, { maxItems: MAX_RULES }), {
      description: "Notification rules by organization; without rules no notification is sent",
    }),
  },
  check(fixture, report) {
    for (const [organization_id, rules] of Object.entries(readRules(fixture))) {
      try {
        toStoredRules(rules);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // The error names the field as in `notifications[0].url`.
        const [position, field] = /\[(\d+)\]\.(\w+)$/.exec(String(error.details["field"]))!.slice(1);
        report(["connector_notifications", organization_id, Number(position), field!], error.message);
      }
    }
  },
  addRecords(fixture, base) {
    base.fill(connectorNotifications, () =>
      Object.entries(readRules(fixture)).map(([organization_id, notifications]) =>
        makeNotificationConfig(
          { organization_id, notifications },
          base.createContext("connector_notifications", organization_id),
        ),
      ),
    );
  },
};

function readRules(fixture: FixtureData): Record<string, NotificationRule[]> {
  return (fixture["connector_notifications"] ?? {}) as Record<string, NotificationRule[]>;
}
