import type { WorldReader } from "../../state/transaction.ts";
import { emptyUsage, type Usage, usage, usageId } from "./schema.ts";

export const BUDGET_SCOPES = ["organization", "api_total", "api_key"] as const;

/** One of the limits of section 8's hierarchy, with what has been spent against it in a month. */
export interface Budget {
  scope: (typeof BUDGET_SCOPES)[number];
  /** Absent in the scopes of the organization as a whole. */
  api_key_id?: string;
  /** CHF; null: no limit. */
  limit: number | null;
  spentMicro: number;
}

export function spentIn(row: Usage, month: number): number {
  return row.spent[month] ?? 0;
}

export function rowOf(world: WorldReader, organization_id: string, api_key_id: string | null): Usage {
  return world.get(usage, usageId(organization_id, api_key_id)) ?? emptyUsage(organization_id, api_key_id);
}

/** Organization limit, total API-key limit, the key's own: in the order in which they are checked. */
export function budgetsOf(
  world: WorldReader,
  { organization_id, api_key_id }: { organization_id: string; api_key_id: string | null },
  month: number,
): Budget[] {
  const own = rowOf(world, organization_id, null);
  const budgets: Budget[] = [
    { scope: "organization", limit: own.monthly_limit, spentMicro: spentIn(own, month) },
    {
      scope: "api_total",
      limit: own.api_monthly_limit,
      spentMicro: keysTotal(world, organization_id, month),
    },
  ];
  if (api_key_id !== null) {
    const key = rowOf(world, organization_id, api_key_id);
    budgets.push({ scope: "api_key", api_key_id, limit: key.monthly_limit, spentMicro: spentIn(key, month) });
  }
  return budgets;
}

/** The sum of the keys' spending in the organization. */
export function keysTotal(world: WorldReader, organization_id: string, month: number): number {
  let total = 0;
  for (const row of world.index(usage, "keys_of", organization_id)) total += spentIn(row, month);
  return total;
}
