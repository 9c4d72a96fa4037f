import Type from "typebox";
import { type ApiError, invalidInput, resourceNotFound } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import { Id } from "../../contract/schema.ts";
import type { Services } from "../../contract/services.ts";
import { queueAttempt } from "../../webhooks/outgoing.ts";
import { enqueueTest } from "./enqueue.ts";
import { Enveloped, enveloped, WEBHOOK_PARAMS } from "./operations.ts";
import { presentDelivery } from "./present.ts";
import { requireWebhook, WEBHOOK_ERRORS } from "./rules.ts";
import { type Delivery, DeliveryBody, deliveries } from "./schema.ts";

export const testWebhook = operation({
  id: "webhooks.test",
  section: "4.21",
  assumptions: ["G23", "G37"],
  assumed: { status: "G23", body: "G23", envelope: "G23" },
  method: "POST",
  path: "/webhooks/{webhook_id}/test",
  summary: "Send a test event",
  description:
    "Delivers `webhook.test`, also to an inactive webhook, and answers once the first attempt has ended.",
  params: WEBHOOK_PARAMS,
  errors: WEBHOOK_ERRORS,
  success: { status: 200, schema: Enveloped(DeliveryBody) },
  access: (call) => requireWebhook(call, call.params.webhook_id),
  handle({ world }, webhook) {
    const delivery_id = enqueueTest(world, webhook);
    return enveloped({
      delivery_id,
      event: "webhook.test",
      status: "failed" as const,
      response_code: 0,
      attempts: 0,
    });
  },
  finish: (_call, answer, services) => {
    const { delivery_id } = (answer as { data: { delivery_id: string } }).data;
    return outcomeOf(services, { delivery_id, attempt_id: delivery_id });
  },
});

export const listDeliveries = operation({
  id: "webhooks.list_deliveries",
  section: "4.21",
  assumptions: ["G23", "G24", "G37"],
  assumed: { envelope: "G23" },
  method: "GET",
  path: "/webhooks/{webhook_id}/deliveries",
  summary: "List a webhook's deliveries, newest first",
  description: "A delivery is listed once its first attempt has ended.",
  params: WEBHOOK_PARAMS,
  errors: WEBHOOK_ERRORS,
  success: { status: 200, schema: Enveloped(Type.Array(DeliveryBody)) },
  access: (call) => requireWebhook(call, call.params.webhook_id),
  handle({ world }, { webhook_id }) {
    const all = world.index(deliveries, "newest", webhook_id);
    return enveloped([...all].map((delivery) => presentDelivery(delivery, world)));
  },
});

export const redeliver = operation({
  id: "webhooks.redeliver",
  section: "4.21",
  assumptions: ["G23", "G24", "G37"],
  assumed: { status: "G23", body: "G23", envelope: "G23" },
  method: "POST",
  path: "/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
  summary: "Redeliver a failed delivery",
  description:
    "One attempt at once, with the same delivery id and the same bytes. Success cancels the pending retry; failure leaves it as it was.",
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
    if (delivery.status === "success") throw alreadyDelivered(delivery);
    const { webhook_id, delivery_id } = delivery;
    const id = redeliveryId(delivery_id, request.id);
    queueAttempt(world, { id, kind: "redelivery", webhook_id, delivery_id });
    return enveloped(presentDelivery(delivery, world));
  },
  finish: ({ params: { delivery_id }, request }, _answer, services) =>
    outcomeOf(services, { delivery_id, attempt_id: redeliveryId(delivery_id, request.id) }),
});

function redeliveryId(delivery_id: string, request_id: string): string {
  return `${delivery_id}/${request_id}`;
}

/**
 * The delivery once the attempt has ended. Redeliveries of one delivery follow each other: one whose turn
 * comes after another has succeeded makes no attempt, and is refused as it would have been a moment later.
 */
async function outcomeOf(services: Services, attempt: { delivery_id: string; attempt_id: string }) {
  const made = await services.attemptDelivery(attempt.attempt_id);
  const present = services.read();
  const delivery = present.get(deliveries, attempt.delivery_id);
  if (delivery === undefined) throw resourceNotFound("delivery_id", attempt.delivery_id);
  if (!made && delivery.status === "success") throw alreadyDelivered(delivery);
  return enveloped(presentDelivery(delivery, present));
}

function alreadyDelivered({ status }: Delivery): ApiError {
  return invalidInput("status", status, "only a failed delivery can be redelivered");
}
