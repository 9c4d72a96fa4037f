import Type from "typebox";
import { ApiError } from "../../contract/errors.ts";
import type { FixtureData, FixtureReader } from "../../contract/resource.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { makeNotificationConfig } from "./make.ts";
import { soundRules } from "./rules.ts";
import { connectorNotifications, MAX_RULES, NotificationRule } from "./schema.ts";

export const connectorNotificationsFixture: FixtureReader = {
  keys: {
    connector_notifications: ByOrganization(Type.Array(NotificationRule, { maxItems: MAX_RULES }), {
      description: "Notification rules by organization; without any, nobody is notified",
    }),
  },
  check(fixture, report) {
    for (const [organization_id, rules] of Object.entries(rulesOf(fixture))) {
      try {
        soundRules(rules);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const [position, field] = /\[(\d+)\]\.(\w+)$/.exec(String(error.details["field"]))!.slice(1);
        report(["connector_notifications", organization_id, Number(position), field!], error.message);
      }
    }
  },
  seed(fixture, base) {
    base.fill(connectorNotifications, () =>
      Object.entries(rulesOf(fixture)).map(([organization_id, notifications]) =>
        makeNotificationConfig(
          { organization_id, notifications },
          base.context("connector_notifications", organization_id),
        ),
      ),
    );
  },
};

function rulesOf(fixture: FixtureData): Record<string, NotificationRule[]> {
  return (fixture["connector_notifications"] ?? {}) as Record<string, NotificationRule[]>;
}
