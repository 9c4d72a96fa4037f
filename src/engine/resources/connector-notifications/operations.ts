import { Type } from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id, Nullable, StringEnum, Timestamp } from "../../contract/schema.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { type Caller, MEMBER_ERRORS, requireCaller, requireMember } from "../organizations/access.ts";
import { requireHttpUrl } from "../webhooks/schema.ts";
import { connectorNotificationsFixture, makeNotificationConfig } from "./fixtures.ts";
import {
  callWebhook,
  connectorNotificationStateRules,
  findConfig,
  type Notice,
  notifyOfEvents,
  sendNotificationEmail,
  toNotice,
  toStoredRules,
} from "./rules.ts";
import {
  CallableUrl,
  connectorNotifications,
  NOTIFICATION_TYPES,
  NotificationConfigBody,
  NotificationConfigInput,
  type NotificationRule,
  renderConfig,
} from "./schema.ts";

const BASE = "/v1/organizations/{organization_id}/knowledge/connectors/notifications";
const TEST_EVENT = "connector.notification.test";

const COMMON = {
  section: "4.14",
  assumptions: ["G15"],
  params: Type.Object({ organization_id: Id("org_") }),
  errors: MEMBER_ERRORS,
  access: (call: Caller & { params: { organization_id: string } }) =>
    requireMember(call, call.params.organization_id),
};

const CONFIG_ASSUMED = {
  envelope: "G15",
  fields: { "/organization_id": "G15", "/updated_at": "G15", "/notifications/*": "G15" },
};

const retrieveNotifications = operation({
  ...COMMON,
  id: "connector_notifications.retrieve",
  assumed: CONFIG_ASSUMED,
  route: `GET ${BASE}`,
  summary: "Retrieve the notification rules of an organization's connectors",
  success: { status: 200, schema: NotificationConfigBody },
  handle: ({ params, world }) => renderConfig(findConfig(world, params.organization_id), world),
});

const updateNotifications = operation({
  ...COMMON,
  id: "connector_notifications.update",
  assumed: CONFIG_ASSUMED,
  route: `PATCH ${BASE}`,
  summary: "Replace the notification rules of an organization's connectors",
  description: "An empty list switches notifications off.",
  body: { kind: "json", schema: NotificationConfigInput },
  success: { status: 200, schema: NotificationConfigBody },
  handle({ params: { organization_id }, body, world }) {
    const notifications = toStoredRules(body.notifications);
    const config = { organization_id, notifications, updated_at: world.now };
    return renderConfig(world.put(connectorNotifications, config), world);
  },
});

const testNotification = operation({
  ...COMMON,
  id: "connector_notifications.test",
  assumed: { envelope: "G15", body: "G15" },
  route: `POST ${BASE}/test`,
  summary: "Send a test notification",
  description:
    "`webhook` calls a URL once: `url`, or else the URL of the first webhook rule. `email` is for the address of the first e-mail rule, or else for the caller. The e-mail is not sent: `GET …/outbox` of the control API lists it.",
  body: {
    kind: "json",
    schema: Type.Object({
      notification_type: StringEnum(NOTIFICATION_TYPES),
      url: Type.Optional(CallableUrl()),
    }),
  },
  success: {
    status: 200,
    schema: Type.Object({
      success: Type.Boolean(),
      notification_type: StringEnum(NOTIFICATION_TYPES),
      status_code: Nullable(
        Type.Integer({ description: "The receiver's status. 0 means no answer, null means an e-mail" }),
      ),
      delivered_at: Nullable(Timestamp({ description: "Null unless it was delivered" })),
    }),
  },
  async prepare({ params: { organization_id }, body, world }, _organization, { services, signal }) {
    if (body.notification_type !== "webhook") return null;
    const url = body.url ?? findFirstAddress(world, organization_id, "webhook");
    if (url === undefined) throw invalidInput("url", null, "url is required where no webhook rule has one");
    requireHttpUrl(url);
    const notice = createTestNotice("webhook", organization_id, world);
    return callWebhook(services, { url, notice, signal });
  },
  handle(call, { id: organization_id }, status_code) {
    const { world, body } = call;
    const { notification_type } = body;
    if (notification_type === "email") {
      const to = findFirstAddress(world, organization_id, "email") ?? requireCaller(call).email;
      sendNotificationEmail(world, to, createTestNotice("email", organization_id, world));
    }
    const success = status_code === null || (status_code >= 200 && status_code < 300);
    const delivered_at = success ? world.toIso(world.now) : null;
    return { success, notification_type, status_code, delivered_at };
  },
});

function createTestNotice(
  notification_type: NotificationRule["type"],
  organization_id: string,
  world: Transaction,
): Notice {
  const data = { notification_type, message: "This is a test; no connector job has ended." };
  return toNotice({ event: TEST_EVENT, organization_id, data }, world);
}

function findFirstAddress(world: WorldReader, organization_id: string, ruleType: NotificationRule["type"]) {
  const rule = findConfig(world, organization_id).notifications.find(({ type }) => type === ruleType);
  return ruleType === "webhook" ? rule?.url : rule?.email;
}

export const connectorNotificationsResource = {
  name: "connector_notifications",
  collections: [connectorNotifications],
  operations: [retrieveNotifications, updateNotifications, testNotification],
  factories: { connector_notifications: makeNotificationConfig },
  fixture: connectorNotificationsFixture,
  state: { connector_notifications: connectorNotificationStateRules },
  onEvents: notifyOfEvents,
} satisfies Resource;
