import type { AssumptionsById } from "../provenance.ts";

/** Management, deliveries and data of events. */
export const WEBHOOKS: AssumptionsById = {
  G23: {
    topic: "Webhook management",
    chosen:
      "Webhooks belong to the key's current organization. Creating a webhook is a 201, every other success a 200.",
    details: [
      "A webhook's URL is absolute, http or https, and has no credentials. Its `events` are existing events, each listed once.",
      "A webhook of another organization is a 404. Redelivering a delivery that succeeded is a 422 with `status`.",
      "`last_delivery` is the time of the latest attempt, or null.",
    ],
  },
  G24: {
    topic: "Delivery lifecycle",
    chosen:
      "The wait before a retry counts from the end of the previous attempt. Attempts of one delivery run one after the other. Once an attempt succeeds, redeliveries that waited behind it are refused.",
    details: [
      "An attempt made by an advance of the clock has the time at which it was due.",
      "A redelivery counts in `attempts`.",
      "[Webhooks](../webhooks.md#attempts) has the rest.",
    ],
  },
  G25: {
    topic: "Event data",
    chosen:
      "An event's data are the object's public fields, with its id as <resource>_id. Each usage event is emitted once per scope (organization, all API keys, one key) and month.",
    details: [
      "[Events](../events.md) lists the fields.",
      "A deleted thread's messages emit no events.",
      "`usage.threshold` is emitted at 80 percent of a limit, `usage.limit` at 100. Spending that passes both at once emits both, `usage.threshold` first.",
      "`user.verified` is emitted when a user's `verified` becomes true.",
    ],
  },
};
