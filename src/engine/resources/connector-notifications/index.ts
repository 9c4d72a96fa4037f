import type { Resource } from "../../contract/resource.ts";
import { makeNotificationConfig } from "./make.ts";
import { notifyOfEvents } from "./notify.ts";
import { retrieveNotifications, testNotification, updateNotifications } from "./operations.ts";
import { connectorNotifications } from "./schema.ts";
import { connectorNotificationsFixture } from "./seed.ts";
import { connectorNotificationRules } from "./state.ts";

export const connectorNotificationsResource = {
  name: "connector_notifications",
  collections: [connectorNotifications],
  operations: [retrieveNotifications, updateNotifications, testNotification],
  factories: { connector_notifications: makeNotificationConfig },
  fixture: connectorNotificationsFixture,
  state: { connector_notifications: connectorNotificationRules },
  onEvents: notifyOfEvents,
} satisfies Resource;
