import type { Assumption } from "../provenance.ts";

/** Management, deliveries and data of events. */
export const WEBHOOKS: readonly Assumption[] = [
  {
    id: "G23",
    topic: "Webhook management",
    chosen:
      "Webhooks belong to the key's current organization; creation is 201, everything else 200; the secret is shown once.",
    details: [
      "`url` and `events` are required; `active` is true and `description` empty by default. A change may be partial; it answers `{status, data}` without the secret, a deletion `{status, data: {webhook_id, deleted: true}}`. A test and a redelivery answer their delivery once the attempt has ended.",
      "A URL is absolute, http or https, without credentials; events are known, each once, at least one. A foreign webhook is 404; redelivering a success is 422 with `status`.",
      "Lists are newest first. `last_delivery` is the latest attempt's time or null. Successes have `delivered_at`, failures `last_attempt` and `next_retry`.",
    ],
  },
  {
    id: "G24",
    topic: "Delivery lifecycle",
    chosen:
      "Each retry is due after the end of the previous attempt. Redirects and silence are failures. 410 disables the webhook and cancels pending retries. Attempts of one delivery run one after the other; concurrent redeliveries behind one that succeeds are refused. The newest 10,000 finished deliveries of a webhook are stored.",
    details: [
      "Attempts are due at 0, 1m, 6m, 21m, 1h21m and 7h21m. Until the last, a failed delivery has `next_retry`; then it is null. The body's bytes are the same each time, the URL is the webhook's at that time.",
      "Response times use the wall clock; an attempt that an advance makes has its due time. Silence, broken connections, TLS and DNS errors are `response_code` 0.",
      "410, `active: false` and deletion cancel pending retries. A redelivery is one attempt at once under the same id, counted in `attempts`, also of an inactive webhook: success cancels the pending retry, failure leaves it.",
    ],
  },
  {
    id: "G25",
    topic: "Event data",
    chosen:
      "The object's public fields with its id as <resource>_id; usage events once per crossing, scope and month.",
    details: [
      "`file.processed` has the file with `store_id` and the status `completed`; `thread.deleted` the ids of thread and organization, and its messages emit no events. `usage.threshold` (80 percent) and `usage.limit` (100) have `{organization_id, scope, api_key_id, monthly_limit, current_usage, utilization_percentage}`; one jump over both emits both, the threshold first.",
      "`user.verified` is emitted when a user's `verified` becomes true. Invoices are `{invoice_id, organization_id, amount, currency, status, created_at}` with the status `draft`, `paid` or `failed`.",
    ],
  },
];
