import { type Static, Type } from "typebox";
import { ApiError } from "../../contract/errors.ts";
import { type EventSubject, emit, event } from "../../contract/event.ts";
import type { Principal } from "../../contract/operation.ts";
import type { SpendingFigures } from "../../contract/refusals.ts";
import { Id, StringEnum } from "../../contract/schema.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { organizations } from "../organizations/schema.ts";
import {
  BUDGET_SCOPES,
  type Budget,
  calculateUtilization,
  findUsage,
  fromMicro,
  getCurrentMonth,
  getSpent,
  listBudgets,
  renderLimitFigures,
  roundForErrorDetails,
  toMicro,
  toStatus,
} from "./rules.ts";
import { FIGURES, toUsageId, usage } from "./schema.ts";

const SAMPLE_LIMIT = 1000;

const BudgetFigures = Type.Object({
  organization_id: Id("org_"),
  scope: StringEnum(BUDGET_SCOPES),
  api_key_id: Type.Optional(Id("apikey_")),
  ...FIGURES,
});
type BudgetFigures = Static<typeof BudgetFigures>;

/** A month's budget as usage events show it (G25). */
function toBudgetFigures(organization_id: string, budget: Budget): BudgetFigures {
  const { scope, api_key_id, limit, spentMicro } = budget;
  const { monthly_limit, current_usage, utilization_percentage } = renderLimitFigures(spentMicro, limit);
  return { organization_id, scope, api_key_id, monthly_limit, current_usage, utilization_percentage };
}

/** The budget of an organization, or of an API key in the organization that it acts in. */
const budgetSubject: EventSubject<BudgetFigures, keyof BudgetFigures> = {
  collections: [organizations, apiKeys],
  find(world, id) {
    const key = world.get(apiKeys, id);
    const organization_id = key?.current ?? world.get(organizations, id)?.id;
    if (organization_id === undefined) return undefined;
    const owner = { organization_id, api_key_id: key?.id ?? null };
    const budgets = listBudgets(world, owner, getCurrentMonth(world));
    const ownScope = key ? "api_key" : "organization";
    return toBudgetFigures(organization_id, budgets.find(({ scope }) => scope === ownScope)!);
  },
  fields: BudgetFigures.properties,
  listOrganizations: ({ organization_id }) => [organization_id],
};

/** An organization's budget of which this percentage is spent. */
const inventBudget =
  (utilization_percentage: number): EventSubject<BudgetFigures, string>["invent"] =>
  (fields, { world }, organization_id) => {
    const limit = world.get(usage, toUsageId(organization_id, null))?.monthly_limit ?? SAMPLE_LIMIT;
    const current_usage = Math.round(limit * utilization_percentage) / 100;
    return {
      organization_id,
      scope: "organization",
      monthly_limit: limit,
      current_usage,
      utilization_percentage,
      ...fields,
    };
  };

const CROSSING_EVENT = {
  section: "6.1",
  assumptions: ["G25"],
  description:
    "Once per scope and month. Spending that passes 80 and 100 percent at once emits both, `usage.threshold` first.",
} as const;

const usageThreshold = event({
  ...CROSSING_EVENT,
  about: { ...budgetSubject, invent: inventBudget(80) },
  name: "usage.threshold",
  summary: "80 percent of a month's budget is spent",
});

const usageLimit = event({
  ...CROSSING_EVENT,
  about: { ...budgetSubject, invent: inventBudget(100) },
  name: "usage.limit",
  summary: "A month's budget is spent",
});

export const USAGE_EVENTS = [usageThreshold, usageLimit] as const;

function toSpendingFigures({ scope, limit, spentMicro }: Budget): SpendingFigures {
  return {
    scope,
    monthly_limit: limit === null ? null : roundForErrorDetails(limit),
    current_usage: roundForErrorDetails(fromMicro(spentMicro)),
  };
}

/** The caller's budgets of this month, in the organization that the key acts in. */
function listCallerBudgets(world: WorldReader, { organization_id, key_id }: Principal): Budget[] {
  return listBudgets(world, { organization_id, api_key_id: key_id }, getCurrentMonth(world));
}

/** A caller's figures in section 8's hierarchy this month, in the order in which they are checked. */
export function listSpendingFigures(world: WorldReader, caller: Principal): SpendingFigures[] {
  return listCallerBudgets(world, caller).map(toSpendingFigures);
}

/**
 * Refuses a request if usage had reached a limit before it (G05). The limits are checked in this order: the
 * organization's, that of all its API keys together, the key's own (section 8).
 * @throws ApiError SPENDING_LIMIT_EXCEEDED with `scope`, `monthly_limit` and `current_usage` in CHF
 */
export function requireBudget(world: WorldReader, caller: Principal): void {
  const exceeded = listCallerBudgets(world, caller).find(
    ({ limit, spentMicro }) => toStatus(spentMicro, limit) === "exceeded",
  );
  if (exceeded)
    throw new ApiError("SPENDING_LIMIT_EXCEEDED", { details: { ...toSpendingFigures(exceeded) } });
}

/**
 * Adds the cost of a billable request to the spending of the organization and of the key, in the sandbox's current month,
 * and emits `usage.threshold` and `usage.limit` for each budget that crosses 80 or 100 percent.
 * @param spending its `amount` is in CHF, precise to six decimals
 */
export function recordSpending(
  tx: Transaction,
  { organization_id, key_id, amount }: { organization_id: string; key_id: string; amount: number },
): void {
  const micro = toMicro(amount);
  if (micro === 0) return;
  const month = getCurrentMonth(tx);
  changeAndEmitThresholds(tx, { organization_id, api_key_id: key_id }, () => {
    for (const api_key_id of [null, key_id]) {
      const row = findUsage(tx, organization_id, api_key_id);
      const name = api_key_id === null ? undefined : tx.get(apiKeys, api_key_id)?.name;
      tx.put(usage, {
        ...row,
        ...(name !== undefined && { api_key_name: name }),
        spent: { ...row.spent, [month]: getSpent(row, month) + micro },
      });
    }
  });
}

/** `usage.threshold` comes first if spending crosses both at once (G25). */
const THRESHOLDS = [
  { event: usageThreshold, share: 0.8 },
  { event: usageLimit, share: 1 },
] as const;

/**
 * Makes a change to usage rows of an organization and emits the events of the thresholds that the month's figures
 * crossed on the way up: once per threshold, scope and month (G25).
 */
export function changeAndEmitThresholds(
  tx: Transaction,
  owner: { organization_id: string; api_key_id: string | null },
  change: () => void,
): void {
  const month = getCurrentMonth(tx);
  const before = listBudgets(tx, owner, month);
  change();
  const after = listBudgets(tx, owner, month);
  for (const [position, budget] of after.entries()) {
    for (const { event, share } of THRESHOLDS) {
      if (hasReached(before[position]!, share) || !hasReached(budget, share)) continue;
      const row = findUsage(tx, owner.organization_id, budget.api_key_id ?? null);
      const crossingKey = `${month}/${budget.scope}/${event.name}`;
      if (row.emitted.includes(crossingKey)) continue;
      tx.put(usage, { ...row, emitted: [...row.emitted, crossingKey] });
      emit(tx, event, toBudgetFigures(owner.organization_id, budget));
    }
  }
}

function hasReached({ limit, spentMicro }: Budget, share: number): boolean {
  return limit !== null && calculateUtilization(spentMicro, limit) >= share;
}
