import { ApiError } from "../../contract/errors.ts";
import type { Principal } from "../../contract/operation.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { budgetsOf } from "./budgets.ts";
import { fromMicro, shownInDetails } from "./money.ts";
import { currentMonth } from "./months.ts";
import { statusOf } from "./rules.ts";

/**
 * Section 8: organization limit, total API-key limit, the key's own, in this order, in the organization
 * that the key acts in. A request is refused when usage has reached the limit before it (G05).
 * @throws ApiError SPENDING_LIMIT_EXCEEDED with `scope`, `monthly_limit` and `current_usage` in CHF
 */
export function requireBudget(world: WorldReader, { organization_id, key_id }: Principal): void {
  const budgets = budgetsOf(world, { organization_id, api_key_id: key_id }, currentMonth(world));
  for (const { scope, limit, spentMicro } of budgets) {
    if (statusOf(spentMicro, limit) !== "exceeded") continue;
    throw new ApiError("SPENDING_LIMIT_EXCEEDED", {
      details: {
        scope,
        monthly_limit: shownInDetails(limit!),
        current_usage: shownInDetails(fromMicro(spentMicro)),
      },
    });
  }
}
