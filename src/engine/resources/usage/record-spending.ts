import type { Transaction } from "../../state/transaction.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { rowOf, spentIn } from "./budgets.ts";
import { emitThresholdEvents } from "./crossings.ts";
import { toMicro } from "./money.ts";
import { currentMonth } from "./months.ts";
import { usage } from "./schema.ts";

/**
 * Books a billable request on the organization and on the key, in the sandbox's current month, and
 * emits `usage.threshold` and `usage.limit` where it crossed a border.
 * @param spending amount in CHF, precise to six decimals
 */
export function recordSpending(
  tx: Transaction,
  { organization_id, key_id, amount }: { organization_id: string; key_id: string; amount: number },
): void {
  const micro = toMicro(amount);
  if (micro === 0) return;
  const month = currentMonth(tx);
  emitThresholdEvents(tx, { organization_id, api_key_id: key_id }, () => {
    for (const api_key_id of [null, key_id]) {
      const row = rowOf(tx, organization_id, api_key_id);
      const name = api_key_id === null ? undefined : tx.get(apiKeys, api_key_id)?.name;
      tx.put(usage, {
        ...row,
        ...(name !== undefined && { api_key_name: name }),
        spent: { ...row.spent, [month]: spentIn(row, month) + micro },
      });
    }
  });
}
