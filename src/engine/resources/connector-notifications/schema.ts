import { type Static, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo } from "../../contract/references.ts";
import { Id, NullableInstant, StringEnum, URL_PATTERN } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";
import { JOB_EVENTS } from "../connector-jobs/rules.ts";
import { EVENT_NAMES } from "../events.ts";

export const NOTIFICATION_TYPES = ["webhook", "email"] as const;

/** The events of section 6.1, and those of connector jobs (G15). */
const NOTIFICATION_EVENTS = [...EVENT_NAMES, ...JOB_EVENTS.map(({ name }) => name)] as const;

export const MAX_RULES = 100;

/** `requireHttpUrl` checks more than the pattern can. */
export const CallableUrl = () => Type.String({ pattern: URL_PATTERN, maxLength: 2048 });

/** A webhook rule has a `url`, an email rule an `email`; `toStoredRules` refuses the other (G15). */
export const NotificationRule = Type.Object(
  {
    type: StringEnum(NOTIFICATION_TYPES),
    url: Type.Optional(CallableUrl()),
    email: Type.Optional(Type.String({ format: "email", maxLength: 254 })),
    events: Type.Array(StringEnum(NOTIFICATION_EVENTS, { "x-events": true }), {
      minItems: 1,
      uniqueItems: true,
    }),
  },
  {
    $id: "NotificationRule",
    description: "A rule of the type `webhook` has a `url`, one of the type `email` has an `email`",
  },
);
export type NotificationRule = Static<typeof NotificationRule>;

const RulesBody = Type.Array(NotificationRule, { maxItems: MAX_RULES });

export const NotificationConfig = Type.Object({
  organization_id: Id("org_", belongsTo("organizations")),
  notifications: RulesBody,
  updated_at: NullableInstant({ description: "Null until the rules are first set" }),
});
export type NotificationConfig = Static<typeof NotificationConfig>;

export const { schema: NotificationConfigBody, render: renderConfig } = publicView(NotificationConfig, {
  $id: "NotificationConfig",
});

export const NotificationConfigInput = Type.Object({ notifications: RulesBody });

export const connectorNotifications = collection({
  name: "connector_notifications",
  idField: "organization_id",
  schema: NotificationConfig,
});
