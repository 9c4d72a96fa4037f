import { listEmails } from "../../webhooks/outbox.ts";
import { type AnyControlOperation, controlOperation, S } from "../operation.ts";

export const showOutbox = controlOperation({
  id: "outbox.list",
  method: "GET",
  path: `${S}/outbox`,
  summary: "List the e-mails that the service would have sent, newest first",
  handle({ sandbox: { world } }) {
    world.catchUp();
    const items = listEmails(world.read());
    return { items, total: items.length };
  },
});

export const OUTBOX_OPERATIONS: readonly AnyControlOperation[] = [showOutbox];
