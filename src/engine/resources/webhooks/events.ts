import Type from "typebox";
import { aboutRecords, event } from "../../contract/event.ts";
import { webhooks } from "./schema.ts";

const about = aboutRecords(webhooks, {});

/** The event of 4.21's test (G23): it goes to that webhook alone, and no webhook subscribes to it. */
export const webhookTest = event({
  name: "webhook.test",
  section: "4.21",
  assumptions: ["G23"],
  summary: "A test of this webhook was asked for",
  about: {
    ...about,
    // A delivery that a fixture made up says none.
    fields: { ...about.fields, description: Type.Optional(Type.String()) },
  },
  data: ["webhook_id", "organization_id", "description"],
});
