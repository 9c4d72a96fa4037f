import { type TSchema, Type } from "typebox";
import { type ApiError, invalidInput, resourceNotFound } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import { removeWithDependents } from "../../contract/removal.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id } from "../../contract/schema.ts";
import type { Services } from "../../contract/services.ts";
import { receivers } from "../../receivers/receiver.ts";
import { emails } from "../../webhooks/outbox.ts";
import { queueAttempt, queuedAttempts } from "../../webhooks/queued-attempts.ts";
import { EVENTS } from "../events.ts";
import { type Caller, CURRENT_MEMBER_ERRORS, requireCurrentMember } from "../organizations/access.ts";
import { cancelPending, enqueueEvents, enqueueTest } from "./deliveries.ts";
import { fixtureFacts, makeDelivery, makeWebhook, webhooksFixture } from "./fixtures.ts";
import { deliveryStateRules, renderDelivery, webhookStateRules } from "./rules.ts";
import {
  CreatedWebhookBody,
  type Delivery,
  DeliveryBody,
  deliveries,
  EventList,
  ListedWebhookBody,
  renderCreatedWebhook,
  renderListedWebhook,
  renderWebhook,
  requireHttpUrl,
  setActivity,
  type Webhook,
  WebhookBody,
  WebhookUrl,
  webhooks,
  webhookTest,
} from "./schema.ts";

/** The refusals of `requireWebhook`. */
const WEBHOOK_ERRORS = [...CURRENT_MEMBER_ERRORS, "RESOURCE_NOT_FOUND"] as const;

/** Finds a webhook of the organization that the key acts in (G23). @throws ApiError RESOURCE_NOT_FOUND otherwise */
function requireWebhook(caller: Caller, webhook_id: string): Webhook {
  const organization_id = requireCurrentMember(caller);
  const webhook = caller.world.get(webhooks, webhook_id);
  if (webhook?.organization_id !== organization_id) throw resourceNotFound("webhook_id", webhook_id);
  return webhook;
}

/** The parts that operations on one webhook share. */
const COMMON = {
  section: "4.21",
  params: Type.Object({ webhook_id: Id("wh_") }),
  errors: WEBHOOK_ERRORS,
  access: (call: Caller & { params: { webhook_id: string } }) => requireWebhook(call, call.params.webhook_id),
};
const ASSUMED = { status: "G23", body: "G23", envelope: "G23" };

const Enveloped = <T extends TSchema>(data: T) => Type.Object({ status: Type.Literal("success"), data });

const toEnvelope = <T>(data: T) => ({ status: "success" as const, data });

const createWebhook = operation({
  id: "webhooks.create",
  section: "4.21",
  assumptions: ["G23", "G37"],
  assumed: { status: "G23", envelope: "G23" },
  route: "POST /webhooks",
  summary: "Register a webhook",
  description:
    "Understudy then delivers the `events` of the key's current organization to the URL. Only this answer has the secret that signs deliveries.",
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
    requireHttpUrl(url);
    const webhook: Webhook = {
      webhook_id: world.createNewestFirstId("wh_"),
      organization_id,
      url,
      secret: `whsec_${world.createSecret("webhook")}`,
      events: [...events],
      description,
      active,
      created_at: world.now,
      last_delivery: null,
    };
    return toEnvelope(renderCreatedWebhook(world.insert(webhooks, webhook), world));
  },
});

const listWebhooks = operation({
  id: "webhooks.list",
  section: "4.21",
  assumptions: ["G23", "G37"],
  assumed: { envelope: "G23" },
  route: "GET /webhooks",
  summary: "List the organization's webhooks, newest first",
  errors: CURRENT_MEMBER_ERRORS,
  success: { status: 200, schema: Enveloped(Type.Array(ListedWebhookBody)) },
  access: requireCurrentMember,
  handle({ world }, organization_id) {
    const newestFirst = world.index(webhooks, "newest", organization_id);
    return toEnvelope([...newestFirst].map((webhook) => renderListedWebhook(webhook, world)));
  },
});

const updateWebhook = operation({
  ...COMMON,
  id: "webhooks.update",
  assumptions: ["G23", "G24", "G37"],
  assumed: ASSUMED,
  route: "PUT /webhooks/{webhook_id}",
  summary: "Change a webhook",
  description:
    "Changes only the given fields. Pending retries go to a new `url`. `active: false` cancels them.",
  body: {
    kind: "json",
    schema: Type.Object({
      url: Type.Optional(WebhookUrl()),
      events: Type.Optional(EventList()),
      description: Type.Optional(Type.String({ maxLength: 10_000 })),
      active: Type.Optional(Type.Boolean()),
    }),
  },
  success: { status: 200, schema: Enveloped(WebhookBody) },
  handle({ body: { url, events, description, active }, world }, webhook) {
    if (url !== undefined) requireHttpUrl(url);
    const updated = {
      ...webhook,
      url: url ?? webhook.url,
      events: events ? [...events] : webhook.events,
      description: description ?? webhook.description,
    };
    const because = "PUT /webhooks/{webhook_id} deactivated it";
    const changed = world.put(webhooks, setActivity(updated, { active: active ?? webhook.active, because }));
    if (active === false) cancelPending(world, webhook.webhook_id);
    return toEnvelope(renderWebhook(changed, world));
  },
});

const deleteWebhook = operation({
  ...COMMON,
  id: "webhooks.delete",
  assumptions: ["G23", "G24", "G37"],
  assumed: ASSUMED,
  route: "DELETE /webhooks/{webhook_id}",
  summary: "Delete a webhook",
  description: "Also deletes the webhook's deliveries and cancels its pending retries.",
  success: {
    status: 200,
    schema: Enveloped(Type.Object({ webhook_id: Id("wh_"), deleted: Type.Literal(true) })),
  },
  handle({ world }, webhook) {
    removeWithDependents(world, webhooks, webhook.webhook_id);
    return toEnvelope({ webhook_id: webhook.webhook_id, deleted: true as const });
  },
});

const testWebhook = operation({
  ...COMMON,
  id: "webhooks.test",
  assumptions: ["G23", "G37"],
  assumed: ASSUMED,
  route: "POST /webhooks/{webhook_id}/test",
  summary: "Send a test event",
  description:
    "Delivers the event `webhook.test`, also to an inactive webhook. The call answers when the first attempt has ended.",
  success: { status: 200, schema: Enveloped(DeliveryBody) },
  handle({ world }, webhook) {
    const delivery_id = enqueueTest(world, webhook);
    const pending = { event: "webhook.test", status: "failed" as const, response_code: 0, attempts: 0 };
    return toEnvelope({ delivery_id, ...pending });
  },
  finish: (_call, answer, services) => {
    const { delivery_id } = (answer as { data: { delivery_id: string } }).data;
    return readOutcome(services, { delivery_id, attempt_id: delivery_id });
  },
});

export const listDeliveries = operation({
  ...COMMON,
  id: "webhooks.list_deliveries",
  assumptions: ["G23", "G24", "G37"],
  assumed: { envelope: "G23" },
  route: "GET /webhooks/{webhook_id}/deliveries",
  summary: "List a webhook's deliveries, newest first",
  description: "A delivery is in the list as soon as its first attempt has ended.",
  success: { status: 200, schema: Enveloped(Type.Array(DeliveryBody)) },
  handle({ world }, { webhook_id }) {
    const newestFirst = world.index(deliveries, "newest", webhook_id);
    return toEnvelope([...newestFirst].map((delivery) => renderDelivery(delivery, world)));
  },
});

export const redeliver = operation({
  id: "webhooks.redeliver",
  section: "4.21",
  assumptions: ["G23", "G24", "G37"],
  assumed: ASSUMED,
  route: "POST /webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
  summary: "Redeliver a failed delivery",
  description:
    "Makes one attempt at once, with the same delivery id and the same bytes. If it succeeds, the pending retry is cancelled. If it fails, the pending retry stays.",
  params: Type.Object({ webhook_id: Id("wh_"), delivery_id: Id("del_") }),
  errors: [...WEBHOOK_ERRORS, { code: "RESOURCE_NOT_FOUND", details: ["webhook_id"] }, "INVALID_INPUT"],
  success: { status: 200, schema: Enveloped(DeliveryBody) },
  access(call) {
    const { webhook_id, delivery_id } = call.params;
    requireWebhook(call, webhook_id);
    const delivery = call.world.get(deliveries, delivery_id);
    if (delivery?.webhook_id !== webhook_id) throw resourceNotFound("delivery_id", delivery_id);
    return delivery;
  },
  handle({ world, request }, delivery) {
    if (delivery.status === "success") throw createDeliveredError(delivery);
    const { webhook_id, delivery_id } = delivery;
    const id = toRedeliveryId(delivery_id, request.id);
    queueAttempt(world, { id, kind: "redelivery", webhook_id, delivery_id });
    return toEnvelope(renderDelivery(delivery, world));
  },
  finish: ({ params: { delivery_id }, request }, _answer, services) =>
    readOutcome(services, { delivery_id, attempt_id: toRedeliveryId(delivery_id, request.id) }),
});

function toRedeliveryId(delivery_id: string, request_id: string): string {
  return `${delivery_id}/${request_id}`;
}

/**
 * The delivery after the end of the attempt. Redeliveries of one delivery run one by one: after a success, the next one
 * makes no attempt and is refused.
 */
async function readOutcome(services: Services, attempt: { delivery_id: string; attempt_id: string }) {
  const wasMade = await services.waitForAttempt(attempt.attempt_id);
  const world = services.read();
  const delivery = world.get(deliveries, attempt.delivery_id);
  if (delivery === undefined) throw resourceNotFound("delivery_id", attempt.delivery_id);
  if (!wasMade && delivery.status === "success") throw createDeliveredError(delivery);
  return toEnvelope(renderDelivery(delivery, world));
}

function createDeliveredError({ status }: Delivery): ApiError {
  return invalidInput("status", status, "only a failed delivery can be redelivered");
}

export const webhooksResource = {
  name: "webhooks",
  collections: [webhooks, deliveries, queuedAttempts, emails, receivers, fixtureFacts],
  operations: [
    createWebhook,
    listWebhooks,
    updateWebhook,
    deleteWebhook,
    testWebhook,
    listDeliveries,
    redeliver,
  ],
  events: [...EVENTS, webhookTest],
  factories: { webhooks: makeWebhook, deliveries: makeDelivery },
  fixture: webhooksFixture,
  onEvents: enqueueEvents,
  state: { webhooks: webhookStateRules, deliveries: deliveryStateRules },
} satisfies Resource;
