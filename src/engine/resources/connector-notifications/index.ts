import type { Resource } from "../../contract/resource.ts";
import { connectorNotificationsFixture, makeNotificationConfig } from "./fixtures.ts";
import { retrieveNotifications, testNotification, updateNotifications } from "./operations.ts";
import { connectorNotificationRules, notifyOfEvents } from "./rules.ts";
import { connectorNotifications } from "./schema.ts";

export const connectorNotificationsResource = {
  name: "connector_notifications",
  collections: [connectorNotifications],
  operations: [retrieveNotifications, updateNotifications, testNotification],
  factories: { connector_notifications: makeNotificationConfig },
  fixture: connectorNotificationsFixture,
  state: { connector_notifications: connectorNotificationRules },
  onEvents: notifyOfEvents,
} satisfies Resource;
