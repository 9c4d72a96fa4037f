import type { WorldReader } from "../../state/transaction.ts";
import { discardAttempt, planAttempt, queueRetry, recordAttempt } from "./lifecycle.ts";
import { webhooks } from "./schema.ts";

/** How records follow from attempts, for the sender. */
export const DELIVERY_RULES = {
  plan: planAttempt,
  record: recordAttempt,
  discard: discardAttempt,
  queueRetry,
};

export function secretOfWebhook(world: WorldReader, webhook_id: string): string | undefined {
  return world.get(webhooks, webhook_id)?.secret;
}

/** A sender of several webhooks may have taken another's secret; looked at only where a signature is wrong. */
export function knownSecrets(world: WorldReader): { label: string; secret: string }[] {
  return world
    .all(webhooks)
    .page(0, 50)
    .map(({ webhook_id, secret }) => ({ label: `the secret of ${webhook_id}`, secret }));
}
