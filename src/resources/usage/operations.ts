import Type from "typebox";
import { operation } from "../../contract/operation.ts";
import { Id } from "../../contract/schema.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { MEMBER_ERRORS, requireMember } from "../organizations/access.ts";
import { keysTotal, rowOf, spentIn } from "./budgets.ts";
import { calendarOf, currentMonth, monthOf } from "./months.ts";
import { limitFigures, worstOf } from "./rules.ts";
import { type Usage, UsageLimits, usage } from "./schema.ts";

export const retrieveUsageLimits = operation({
  id: "usage.retrieve_limits",
  section: "4.17",
  assumptions: ["G03", "G08", "G33"],
  method: "GET",
  path: "/v1/analytics/usage/limits/{org_id}",
  summary: "Retrieve an organization's usage against its limits",
  description:
    "Amounts in CHF. Past months are measured against today's limits; months to come have no usage.",
  params: Type.Object({ org_id: Id("org_") }),
  query: Type.Object({
    month: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 12, description: "Default: the current month" }),
    ),
    year: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 9999, description: "Default: the current year" }),
    ),
  }),
  errors: MEMBER_ERRORS,
  success: { status: 200, schema: UsageLimits },
  access(call) {
    requireMember(call, call.params.org_id);
  },
  handle({ params: { org_id }, query, world }) {
    const current = currentMonth(world);
    const { year, month } = { ...calendarOf(world, current), ...query };
    const asked = monthOf(world, year, month);
    return usageLimits(world, org_id, asked > current ? undefined : asked);
  },
});

/** G33; `month` undefined: one to come, in which nothing has been spent. */
function usageLimits(world: WorldReader, organization_id: string, month: number | undefined) {
  const own = rowOf(world, organization_id, null);
  const spent = (row: Usage) => (month === undefined ? 0 : spentIn(row, month));
  const organization_limits = limitFigures(spent(own), own.monthly_limit);
  const api_limits =
    own.api_monthly_limit === null
      ? null
      : limitFigures(
          month === undefined ? 0 : keysTotal(world, organization_id, month),
          own.api_monthly_limit,
        );
  const api_key_limits = [...world.index(usage, "keys_of", organization_id)].flatMap((row) => {
    const api_key_id = row.api_key_id!;
    const key = world.get(apiKeys, api_key_id);
    // What a deleted key spent was spent; nothing is limited any more.
    const limit = key === undefined ? null : row.monthly_limit;
    if (limit === null && spent(row) === 0) return [];
    const { remaining_budget: _, ...figures } = limitFigures(spent(row), limit);
    return { api_key_id, api_key_name: key?.name ?? row.api_key_name ?? api_key_id, ...figures };
  });
  return {
    organization_limits,
    api_limits,
    api_key_limits,
    summary: {
      total_keys: api_key_limits.length,
      keys_with_limits: api_key_limits.filter(({ monthly_limit }) => monthly_limit !== null).length,
      keys_exceeded: api_key_limits.filter(({ status }) => status === "exceeded").length,
      overall_status: worstOf([
        organization_limits.status,
        ...(api_limits ? [api_limits.status] : []),
        ...api_key_limits.map(({ status }) => status),
      ]),
    },
  };
}
