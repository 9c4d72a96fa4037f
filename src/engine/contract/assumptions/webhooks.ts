import type { AssumptionsById } from "../provenance.ts";

/** Management, deliveries and data of events. */
export const WEBHOOKS: AssumptionsById = {
  G23: {
    topic: "Webhook management",
    chosen:
      "Webhooks belong to the key's current organization; creation is 201, everything else 200; the secret is shown once.",
    details: [
      "A URL is absolute, http or https, without credentials. Its events exist, and are listed once each. A foreign webhook is 404; redelivering a success is 422 with `status`.",
      "`last_delivery` is the latest attempt's time or null. Successes have `delivered_at`, failures `last_attempt` and `next_retry`.",
    ],
  },
  G24: {
    topic: "Delivery lifecycle",
    chosen:
      "Each retry is due after the end of the previous attempt. Attempts of one delivery run one after the other; once one succeeds, redeliveries that waited behind it are refused.",
    details: [
      "[Attempts](../webhooks.md#attempts) has the rest.",
      "An attempt that an advance of the clock made has the time at which it was due. A redelivery counts in `attempts`.",
    ],
  },
  G25: {
    topic: "Event data",
    chosen:
      "The object's public fields with its id as <resource>_id; each usage event once per scope and month.",
    details: [
      "[Events](../events.md) lists the fields. The messages of a deleted thread emit no events. A jump over both `usage.threshold` (80 percent) and `usage.limit` (100) emits both, the threshold first.",
      "`user.verified` is emitted when a user's `verified` becomes true.",
    ],
  },
};
