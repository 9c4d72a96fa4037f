import type { Principal } from "../../contract/operation.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { type Budget, budgetsOf } from "./budgets.ts";
import { fromMicro, shownInDetails } from "./money.ts";
import { currentMonth } from "./months.ts";

export interface Spending {
  scope: Budget["scope"];
  /** CHF; null: no limit. */
  monthly_limit: number | null;
  current_usage: number;
}

/** Where a caller stands in section 8's hierarchy this month, in the order in which it is checked. */
export function spendingFigures(world: WorldReader, { organization_id, key_id }: Principal): Spending[] {
  const budgets = budgetsOf(world, { organization_id, api_key_id: key_id }, currentMonth(world));
  return budgets.map(({ scope, limit, spentMicro }) => ({
    scope,
    monthly_limit: limit === null ? null : shownInDetails(limit),
    current_usage: shownInDetails(fromMicro(spentMicro)),
  }));
}
