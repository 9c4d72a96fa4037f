import { DEFAULT_SETTINGS } from "../../src/engine/contract/settings.ts";
import { issueRefreshToken, signAccessToken } from "../../src/engine/resources/auth/tokens.ts";
import { drawTotals, startJob } from "../../src/engine/resources/connector-jobs/rules.ts";
import { connectorNotifications } from "../../src/engine/resources/connector-notifications/schema.ts";
import { fileTexts, uploads } from "../../src/engine/resources/files/schema.ts";
import { invoices, updateInvoiceTimers } from "../../src/engine/resources/invoices.ts";
import { updateLineTimers } from "../../src/engine/resources/meeting-sessions/rules.ts";
import { replyRules } from "../../src/engine/resources/model-responses/schema.ts";
import { updateRetryTimer } from "../../src/engine/resources/webhooks/deliveries.ts";
import { deliveries } from "../../src/engine/resources/webhooks/schema.ts";
import type { Transaction } from "../../src/engine/state/transaction.ts";
import { queueAttempt } from "../../src/engine/webhooks/queued-attempts.ts";

/** Adds records that a fixture does not have and only use creates: sessions, uploads, running jobs, queued attempts. */
export function addRuntimeRecords(tx: Transaction): void {
  const principal = { user_id: "usr_dan", key_id: "apikey_dan", organization_id: "org_acme" };
  signAccessToken(tx, { ...principal, credential: "api_key" }, 60);
  issueRefreshToken(tx, principal);
  for (const file_id of [null, "file_policies"]) addUpload(tx, file_id);
  tx.insert(replyRules, { id: "reply_any", position: 0, match: {}, reply: "Whatever was asked." });
  tx.insert(fileTexts, { file_id: "file_policies", passages: ["Be kind."] });
  const job = { job_id: "job_now", organization_id: "org_acme", connection_id: "conn_drive" };
  startJob(
    tx,
    { ...job, job_type: "reset", start_time: tx.now, ...drawTotals(tx.random("job")) },
    { ...DEFAULT_SETTINGS, connector_job_seconds: 60 },
  );
  tx.insert(connectorNotifications, { organization_id: "org_acme", notifications: [], updated_at: null });
  const invoice = {
    amount: 5,
    currency: "CHF",
    status: "draft",
    created_at: tx.now,
    final_status: "paid",
  } as const;
  tx.insert(invoices, { invoice_id: "inv_march", organization_id: "org_acme", ...invoice });
  const busy = { ...DEFAULT_SETTINGS, live_meetings: "on", invoicing: "on" } as const;
  updateLineTimers(tx, busy);
  updateInvoiceTimers(tx, busy);
  const [delivery] = tx.all(deliveries).page(0, 1);
  const { webhook_id, delivery_id, organization_id } = delivery!;
  updateRetryTimer(tx, tx.put(deliveries, { ...delivery!, status: "failed", next_retry: tx.now + 60_000 }));
  queueAttempt(tx, { id: `${delivery_id}/retry`, kind: "retry", webhook_id, delivery_id });
  queueAttempt(tx, { id: `${delivery_id}/again`, kind: "redelivery", webhook_id, delivery_id });
  const first = { organization_id, event: "user.created", created_at: tx.now, body: "{}" };
  queueAttempt(tx, { id: "del_first", kind: "first", webhook_id, delivery_id: "del_first", first });
}

function addUpload(tx: Transaction, file_id: string | null): void {
  const id = tx.createId("upload_");
  const announced = { filename: "a.txt", mime_type: "text/plain", file_size: 3 };
  tx.insert(uploads, {
    id,
    token: id,
    organization_id: "org_acme",
    ...announced,
    gcs_path: `gs://uploads/org_acme/${id}/a.txt`,
    status: file_id === null ? "open" : "complete",
    created_at: tx.now,
    expires_at: tx.now + 60_000,
    completed_at: file_id === null ? null : tx.now,
    crc32c: null,
    file_id,
  });
  if (file_id === null) tx.schedule({ kind: "expiry", subject: id, due: tx.now + 60_000 });
}
