import Type, { type TSchema } from "typebox";
import { operation } from "../../contract/operation.ts";
import { removeWithDependents } from "../../contract/removal.ts";
import { Id } from "../../contract/schema.ts";
import { CURRENT_MEMBER_ERRORS, requireCurrentMember } from "../organizations/access.ts";
import { cancelPending } from "./lifecycle.ts";
import { requireCallable, requireWebhook, WEBHOOK_ERRORS } from "./rules.ts";
import {
  CreatedWebhookBody,
  EventList,
  ListedWebhookBody,
  presentCreatedWebhook,
  presentListedWebhook,
  presentWebhook,
  switched,
  type Webhook,
  WebhookBody,
  WebhookUrl,
  webhooks,
} from "./schema.ts";

export const WEBHOOK_PARAMS = Type.Object({ webhook_id: Id("wh_") });

export const Enveloped = <T extends TSchema>(data: T) =>
  Type.Object({ status: Type.Literal("success"), data });

export const enveloped = <T>(data: T) => ({ status: "success" as const, data });

export const createWebhook = operation({
  id: "webhooks.create",
  section: "4.21",
  assumptions: ["G23", "G37"],
  assumed: { status: "G23", envelope: "G23" },
  method: "POST",
  path: "/webhooks",
  summary: "Register a webhook",
  description:
    "Events of the key's current organization are delivered to the URL from now on. The signing secret is in this answer and in no other.",
  body: {
    kind: "json",
    schema: Type.Object({
      url: WebhookUrl(),
      events: EventList(),
      description: Type.String({ maxLength: 10_000, default: "" }),
      active: Type.Boolean({ default: true }),
    }),
  },
  errors: CURRENT_MEMBER_ERRORS,
  success: { status: 201, schema: Enveloped(CreatedWebhookBody) },
  access: requireCurrentMember,
  handle({ body: { url, events, description, active }, world }, organization_id) {
    requireCallable(url);
    const webhook: Webhook = {
      webhook_id: world.newestFirstId("wh_"),
      organization_id,
      url,
      secret: `whsec_${world.secret("webhook")}`,
      events: [...events],
      description,
      active,
      created_at: world.now,
      last_delivery: null,
    };
    return enveloped(presentCreatedWebhook(world.insert(webhooks, webhook), world));
  },
});

export const listWebhooks = operation({
  id: "webhooks.list",
  section: "4.21",
  assumptions: ["G23", "G37"],
  assumed: { envelope: "G23" },
  method: "GET",
  path: "/webhooks",
  summary: "List the organization's webhooks, newest first",
  errors: CURRENT_MEMBER_ERRORS,
  success: { status: 200, schema: Enveloped(Type.Array(ListedWebhookBody)) },
  access: requireCurrentMember,
  handle({ world }, organization_id) {
    const all = world.index(webhooks, "newest", organization_id);
    return enveloped([...all].map((webhook) => presentListedWebhook(webhook, world)));
  },
});

export const updateWebhook = operation({
  id: "webhooks.update",
  section: "4.21",
  assumptions: ["G23", "G24", "G37"],
  assumed: { status: "G23", body: "G23", envelope: "G23" },
  method: "PUT",
  path: "/webhooks/{webhook_id}",
  summary: "Change a webhook",
  description:
    "Only what is given changes. Setting it inactive cancels its pending retries; those of an active one go to its URL of that moment.",
  params: WEBHOOK_PARAMS,
  body: {
    kind: "json",
    schema: Type.Object({
      url: Type.Optional(WebhookUrl()),
      events: Type.Optional(EventList()),
      description: Type.Optional(Type.String({ maxLength: 10_000 })),
      active: Type.Optional(Type.Boolean()),
    }),
  },
  errors: WEBHOOK_ERRORS,
  success: { status: 200, schema: Enveloped(WebhookBody) },
  access: (call) => requireWebhook(call, call.params.webhook_id),
  handle({ body: { url, events, description, active }, world }, webhook) {
    if (url !== undefined) requireCallable(url);
    const put = {
      ...webhook,
      url: url ?? webhook.url,
      events: events ? [...events] : webhook.events,
      description: description ?? webhook.description,
    };
    const because = "PUT /webhooks/{webhook_id} made it so";
    const changed = world.put(webhooks, switched(put, { active: active ?? webhook.active, because }));
    if (active === false) cancelPending(world, webhook.webhook_id);
    return enveloped(presentWebhook(changed, world));
  },
});

export const deleteWebhook = operation({
  id: "webhooks.delete",
  section: "4.21",
  assumptions: ["G23", "G24", "G37"],
  assumed: { status: "G23", body: "G23", envelope: "G23" },
  method: "DELETE",
  path: "/webhooks/{webhook_id}",
  summary: "Delete a webhook",
  description: "Its deliveries and pending retries go with it.",
  params: WEBHOOK_PARAMS,
  errors: WEBHOOK_ERRORS,
  success: {
    status: 200,
    schema: Enveloped(Type.Object({ webhook_id: Id("wh_"), deleted: Type.Literal(true) })),
  },
  access: (call) => requireWebhook(call, call.params.webhook_id),
  handle({ world }, webhook) {
    removeWithDependents(world, webhooks, webhook.webhook_id);
    return enveloped({ webhook_id: webhook.webhook_id, deleted: true as const });
  },
});
