import Type from "typebox";
import { operation } from "../../contract/operation.ts";
import { Id } from "../../contract/schema.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { MEMBER_ERRORS, requireMember } from "../organizations/access.ts";
import { currentMonth, findUsage, limitFigures, spentIn, toCalendar, toMonth, worse } from "./rules.ts";
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
    const asked = askedMonth(world, current, query);
    return usageLimits(world, org_id, asked > current ? undefined : asked);
  },
});

/** G33: what the query leaves out is that of today. */
function askedMonth(world: WorldReader, current: number, asked: { year?: number; month?: number }): number {
  if (asked.year === undefined && asked.month === undefined) return current;
  const { year, month } = { ...toCalendar(world, current), ...asked };
  return toMonth(world, year, month);
}

/** G33; `month` undefined: one to come, in which nothing has been spent. */
function usageLimits(world: WorldReader, organization_id: string, month: number | undefined) {
  const spent = (row: Usage) => (month === undefined ? 0 : spentIn(row, month));
  const own = findUsage(world, organization_id, null);
  const organization_limits = limitFigures(spent(own), own.monthly_limit);
  const api_key_limits = [];
  const summary = {
    total_keys: 0,
    keys_with_limits: 0,
    keys_exceeded: 0,
    overall_status: organization_limits.status,
  };
  let ofKeys = 0;
  for (const row of world.index(usage, "keys_of", organization_id)) {
    const ofKey = spent(row);
    ofKeys += ofKey;
    const figures = keyFigures(world, row, ofKey);
    if (figures.monthly_limit === null && ofKey === 0) continue;
    api_key_limits.push(figures);
    summary.total_keys += 1;
    if (figures.monthly_limit !== null) summary.keys_with_limits += 1;
    if (figures.status === "exceeded") summary.keys_exceeded += 1;
    summary.overall_status = worse(summary.overall_status, figures.status);
  }
  const api_limits = own.api_monthly_limit === null ? null : limitFigures(ofKeys, own.api_monthly_limit);
  if (api_limits !== null) summary.overall_status = worse(summary.overall_status, api_limits.status);
  return { organization_limits, api_limits, api_key_limits, summary };
}

function keyFigures(world: WorldReader, row: Usage, spentMicro: number) {
  const api_key_id = row.api_key_id!;
  const key = world.get(apiKeys, api_key_id);
  const api_key_name = key?.name ?? row.api_key_name ?? api_key_id;
  // The spending of a deleted key remains; its limit does not.
  const limit = key === undefined ? null : row.monthly_limit;
  const { monthly_limit, current_usage, utilization_percentage, status } = limitFigures(spentMicro, limit);
  return { api_key_id, api_key_name, monthly_limit, current_usage, utilization_percentage, status };
}
