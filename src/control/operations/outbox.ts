import { ListOf } from "../../engine/contract/schema.ts";
import { EmailBody, listEmails } from "../../engine/webhooks/outbox.ts";
import { type ControlOperation, OfSandbox, operation, S } from "../operation.ts";

const showOutbox = operation({
  id: "outbox.list",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/outbox`,
  summary: "List the e-mails that the service would have sent, newest first",
  params: OfSandbox,
  errors: [],
  success: { status: 200, schema: ListOf(EmailBody) },
  handle({ sandbox: { world } }) {
    world.catchUp();
    const items = listEmails(world.read());
    return { items, total: items.length };
  },
});

export const OUTBOX_OPERATIONS: readonly ControlOperation[] = [showOutbox];
