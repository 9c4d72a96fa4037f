import type { Resource } from "../../contract/resource.ts";
import { receivers } from "../../receivers/receiver.ts";
import { emails } from "../../webhooks/outbox.ts";
import { outgoing } from "../../webhooks/outgoing.ts";
import { listDeliveries, redeliver, testWebhook } from "./delivery-operations.ts";
import { enqueueEvents } from "./enqueue.ts";
import { fixtureFacts } from "./first-organization.ts";
import { makeDelivery, makeWebhook } from "./make.ts";
import { createWebhook, deleteWebhook, listWebhooks, updateWebhook } from "./operations.ts";
import { deliveries, webhooks } from "./schema.ts";
import { webhooksFixture } from "./seed.ts";
import { deliveryState, webhookState } from "./state.ts";

export const webhooksResource = {
  name: "webhooks",
  collections: [webhooks, deliveries, outgoing, emails, receivers, fixtureFacts],
  operations: [
    createWebhook,
    listWebhooks,
    updateWebhook,
    deleteWebhook,
    testWebhook,
    listDeliveries,
    redeliver,
  ],
  factories: { webhooks: makeWebhook, deliveries: makeDelivery },
  fixture: webhooksFixture,
  onEvents: enqueueEvents,
  state: { webhooks: webhookState, deliveries: deliveryState },
} satisfies Resource;
