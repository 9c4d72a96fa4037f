import type { Assumption } from "../provenance.ts";

/** Management, deliveries and data of events. */
export const WEBHOOKS: readonly Assumption[] = [
  {
    id: "G23",
    topic: "Webhook management",
    chosen:
      "Webhooks belong to the key's current organization; creation is 201, everything else 200; the secret is shown once.",
    details: [
      "`url` and `events` are required; `active` is true and `description` empty unless given. A change may be partial and takes the description too; it answers `{status, data}` without the secret, a deletion `{status, data: {webhook_id, deleted: true}}`. A test and a redelivery answer their delivery once the attempt has ended.",
      "A URL is absolute, http or https, without credentials; events are known, each once, at least one. Another organization's webhook is 404; redelivering a success is 422 with `status`.",
      "Lists are newest first. `last_delivery` is the latest attempt's time or null, `delivered_at` stands with successes, `last_attempt` and `next_retry` with failures.",
    ],
  },
  {
    id: "G24",
    topic: "Delivery lifecycle",
    chosen:
      "Each retry is due after the end of the attempt before; redirects and silence are failures; 410 disables the webhook and cancels what was pending. Attempts of one delivery follow each other: of redeliveries sent at once, those behind the one that succeeds are refused. The newest 10,000 finished deliveries of a webhook are kept.",
    details: [
      "Attempts are due at 0, 1m, 6m, 21m, 1h21m and 7h21m. Until the last, a failed delivery has `next_retry`; then it is null. The bytes of the body are the same each time, the URL is the webhook's of that moment.",
      "Response times run on the wall clock; an attempt that an advance makes bears its due time. Silence, broken connections, TLS and DNS errors are `response_code` 0.",
      "410, `active: false` and deletion call pending retries off. A redelivery is one attempt at once under the same id, counted in `attempts`, also of an inactive webhook: success calls the pending retry off, failure leaves it.",
    ],
  },
  {
    id: "G25",
    topic: "Event data",
    chosen:
      "The object's public fields with its id as <resource>_id; usage events once per crossing, scope and month.",
    details: [
      "`file.processed` brings the file with `store_id` and the status `completed`; `thread.deleted` the ids of thread and organization, and no message events. `usage.threshold` (80 percent) and `usage.limit` (100) bring `{organization_id, scope, api_key_id, monthly_limit, current_usage, utilization_percentage}`, both on one jump, the threshold first.",
      "A user's `verified` becoming true emits `user.verified`. Invoices are `{invoice_id, organization_id, amount, currency, status, created_at}` with the status `draft`, `paid` or `failed`.",
    ],
  },
];
