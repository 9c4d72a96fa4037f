import Type, { type Static } from "typebox";
import { type EventSubject, event } from "../../contract/event.ts";
import { Id, Nullable, Words } from "../../contract/schema.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { organizations } from "../organizations/schema.ts";
import { BUDGET_SCOPES, type Budget, currentMonth, limitFigures, listBudgets } from "./rules.ts";
import { usage, usageId } from "./schema.ts";

const SAMPLE_LIMIT = 1000;

const BudgetFigures = Type.Object({
  organization_id: Id("org_"),
  scope: Words(BUDGET_SCOPES),
  api_key_id: Type.Optional(Id("apikey_")),
  monthly_limit: Nullable(Type.Number()),
  current_usage: Type.Number(),
  utilization_percentage: Nullable(Type.Number()),
});
type BudgetFigures = Static<typeof BudgetFigures>;

/** A month's budget as usage events show it (G25). */
export function budgetFigures(organization_id: string, budget: Budget): BudgetFigures {
  const { scope, api_key_id, limit, spentMicro } = budget;
  const { monthly_limit, current_usage, utilization_percentage } = limitFigures(spentMicro, limit);
  return { organization_id, scope, api_key_id, monthly_limit, current_usage, utilization_percentage };
}

/** The budget of an organization, or of an API key in the organization that it acts in. */
const budgets: EventSubject<BudgetFigures, keyof BudgetFigures> = {
  collections: [organizations, apiKeys],
  find(world, id) {
    const key = world.get(apiKeys, id);
    const organization_id = key?.current ?? world.get(organizations, id)?.id;
    if (organization_id === undefined) return undefined;
    const all = listBudgets(world, { organization_id, api_key_id: key?.id ?? null }, currentMonth(world));
    return budgetFigures(organization_id, key ? all.at(-1)! : all[0]!);
  },
  fields: BudgetFigures.properties,
  heardBy: ({ organization_id }) => [organization_id],
};

/** An organization's budget, spent as far as this. */
const spent =
  (utilization_percentage: number): EventSubject<BudgetFigures, string>["invent"] =>
  (given, { world }, organization_id) => {
    const limit = world.get(usage, usageId(organization_id, null))?.monthly_limit ?? SAMPLE_LIMIT;
    const current_usage = Math.round(limit * utilization_percentage) / 100;
    return {
      organization_id,
      scope: "organization",
      monthly_limit: limit,
      current_usage,
      utilization_percentage,
      ...given,
    };
  };

const crossing = {
  section: "6.1",
  assumptions: ["G25"],
  description: "Once per crossing, scope and month; both on one jump, the threshold first.",
  data: [
    "organization_id",
    "scope",
    "api_key_id",
    "monthly_limit",
    "current_usage",
    "utilization_percentage",
  ],
} as const;

export const usageThreshold = event({
  ...crossing,
  about: { ...budgets, invent: spent(80) },
  name: "usage.threshold",
  summary: "80 percent of a month's budget are spent",
});

export const usageLimit = event({
  ...crossing,
  about: { ...budgets, invent: spent(100) },
  name: "usage.limit",
  summary: "A month's budget is spent",
});

export const USAGE_EVENTS = [usageThreshold, usageLimit] as const;
