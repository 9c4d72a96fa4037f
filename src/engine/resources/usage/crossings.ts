import { emit } from "../../contract/event.ts";
import type { Transaction } from "../../state/transaction.ts";
import { type Budget, budgetsOf, rowOf } from "./budgets.ts";
import { budgetFigures, usageLimit, usageThreshold } from "./events.ts";
import { currentMonth } from "./months.ts";
import { statusOf, utilization } from "./rules.ts";
import { usage } from "./schema.ts";

/** The threshold comes first where one jump crosses both (G25). */
const BORDERS = [
  { event: usageThreshold, share: 0.8 },
  { event: usageLimit, share: 1 },
] as const;

/**
 * Makes a change to usage rows of an organization and tells which borders the month's figures crossed
 * on the way up: once per border, scope and month (G25).
 */
export function emitThresholdEvents<T>(
  tx: Transaction,
  place: { organization_id: string; api_key_id: string | null },
  change: () => T,
): T {
  const month = currentMonth(tx);
  const before = budgetsOf(tx, place, month);
  const result = change();
  const after = budgetsOf(tx, place, month);
  for (const [position, budget] of after.entries()) {
    for (const { event, share } of BORDERS) {
      if (isOver(before[position]!, share) || !isOver(budget, share)) continue;
      if (remember(tx, place.organization_id, budget, `${month}/${budget.scope}/${event.name}`)) {
        emit(tx, event, budgetFigures(place.organization_id, budget));
      }
    }
  }
  return result;
}

function isOver({ limit, spentMicro }: Budget, share: number): boolean {
  return statusOf(spentMicro, limit) !== "no_limit" && utilization(spentMicro, limit!) >= share;
}

/** False when it was told before. */
function remember(
  tx: Transaction,
  organization_id: string,
  { api_key_id }: Budget,
  crossing: string,
): boolean {
  const row = rowOf(tx, organization_id, api_key_id ?? null);
  if (row.told.includes(crossing)) return false;
  tx.put(usage, { ...row, told: [...row.told, crossing] });
  return true;
}
