import type { Resource } from "../../contract/resource.ts";
import { receivers } from "../../receivers/receiver.ts";
import { emails } from "../../webhooks/outbox.ts";
import { outgoing } from "../../webhooks/outgoing.ts";
import { enqueueEvents } from "./deliveries.ts";
import { fixtureFacts, makeDelivery, makeWebhook, webhooksFixture } from "./fixtures.ts";
import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  testWebhook,
  updateWebhook,
} from "./operations.ts";
import { deliveryState, webhookState } from "./rules.ts";
import { deliveries, webhooks } from "./schema.ts";

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
