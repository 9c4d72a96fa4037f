import { Type } from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import { requireReferencedRecord } from "../../contract/references.ts";
import type { Resource, StateRules } from "../../contract/resource.ts";
import { Id } from "../../contract/schema.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { MEMBER_ERRORS, requireMember } from "../organizations/access.ts";
import { organizations } from "../organizations/schema.ts";
import { makeUsage, usageFixture } from "./fixtures.ts";
import {
  findUsage,
  formatMonth,
  fromMicro,
  getCurrentMonth,
  getSpent,
  parseMonth,
  pickWorse,
  renderLimitFigures,
  toCalendar,
  toMicro,
  toMonth,
} from "./rules.ts";
import { toUsageId, type Usage, UsageLimits, usage } from "./schema.ts";
import { emitThresholdEvents } from "./spending.ts";

const retrieveUsageLimits = operation({
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
  access: (call) => requireMember(call, call.params.org_id),
  handle({ params: { org_id }, query, world }) {
    const current = getCurrentMonth(world);
    const month = readMonth(world, current, query);
    return renderUsageLimits(world, org_id, month > current ? undefined : month);
  },
});

/** The requested month; year and month are the current ones by default (G33). */
function readMonth(world: WorldReader, current: number, query: { year?: number; month?: number }): number {
  if (query.year === undefined && query.month === undefined) return current;
  const { year, month } = { ...toCalendar(world, current), ...query };
  return toMonth(world, year, month);
}

/** Renders the limits and spending of a month (G33); undefined is a future month, without spending. */
function renderUsageLimits(world: WorldReader, organization_id: string, month: number | undefined) {
  const getSpentOfRow = (row: Usage) => (month === undefined ? 0 : getSpent(row, month));
  const organizationRow = findUsage(world, organization_id, null);
  const organization_limits = renderLimitFigures(
    getSpentOfRow(organizationRow),
    organizationRow.monthly_limit,
  );
  const api_key_limits = [];
  const summary = {
    total_keys: 0,
    keys_with_limits: 0,
    keys_exceeded: 0,
    overall_status: organization_limits.status,
  };
  let spentByKeys = 0;
  for (const row of world.index(usage, "keys_of", organization_id)) {
    const spentByKey = getSpentOfRow(row);
    spentByKeys += spentByKey;
    const figures = renderKeyFigures(world, row, spentByKey);
    if (figures.monthly_limit === null && spentByKey === 0) continue;
    api_key_limits.push(figures);
    summary.total_keys += 1;
    if (figures.monthly_limit !== null) summary.keys_with_limits += 1;
    if (figures.status === "exceeded") summary.keys_exceeded += 1;
    summary.overall_status = pickWorse(summary.overall_status, figures.status);
  }
  const api_limits =
    organizationRow.api_monthly_limit === null
      ? null
      : renderLimitFigures(spentByKeys, organizationRow.api_monthly_limit);
  if (api_limits !== null) summary.overall_status = pickWorse(summary.overall_status, api_limits.status);
  return { organization_limits, api_limits, api_key_limits, summary };
}

function renderKeyFigures(world: WorldReader, row: Usage, spentMicro: number) {
  const api_key_id = row.api_key_id!;
  const key = world.get(apiKeys, api_key_id);
  const api_key_name = key?.name ?? row.api_key_name ?? api_key_id;
  // The spending of a deleted key remains; its limit does not.
  const figures = renderLimitFigures(spentMicro, key ? row.monthly_limit : null);
  const { monthly_limit, current_usage, utilization_percentage, status } = figures;
  return { api_key_id, api_key_name, monthly_limit, current_usage, utilization_percentage, status };
}

export const usageStateRules: StateRules<Usage> = {
  toPublic({ spent, ...row }, world) {
    const months = Object.entries(spent)
      .map(([month, micro]) => [formatMonth(world, Number(month)), fromMicro(micro)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return { ...row, spent: Object.fromEntries(months) };
  },
  fromPublic(fields, world) {
    const { spent, ...rest } = fields as Partial<Usage>;
    return spent === undefined ? rest : { ...rest, spent: toStoredMonths(spent, world) };
  },
  insert(tx, record, actor) {
    requireConsistent(tx, record);
    if (record.api_key_id !== null)
      requireReferencedRecord(tx, apiKeys, { field: "api_key_id", id: record.api_key_id });
    const insert = () => {
      tx.insert(usage, { ...record, emitted: [] });
      addToOrganization(tx, record, { from: {}, to: record.spent });
    };
    if (actor.silent) insert();
    else emitThresholdEvents(tx, record, insert);
    return tx.get(usage, record.id)!;
  },
  update(tx, before, after, actor) {
    if (after.organization_id !== before.organization_id || after.api_key_id !== before.api_key_id)
      throw invalidInput("organization_id", after.organization_id, "a row of usage cannot move");
    requireConsistent(tx, after);
    // Months that a PATCH does not name stay as they are.
    const row = { ...after, spent: { ...before.spent, ...after.spent }, emitted: before.emitted };
    const update = () => {
      tx.put(usage, row);
      addToOrganization(tx, row, { from: before.spent, to: row.spent });
    };
    if (actor.silent) update();
    else emitThresholdEvents(tx, row, update);
    return tx.get(usage, row.id)!;
  },
  remove: (tx, record) => addToOrganization(tx, record, { from: record.spent, to: {} }),
};

/** A key's spending is its organization's too (section 8), so both change by the same amount. */
function addToOrganization(
  tx: Transaction,
  { organization_id, api_key_id }: Usage,
  { from, to }: { from: Usage["spent"]; to: Usage["spent"] },
): void {
  if (api_key_id === null) return;
  const row = findUsage(tx, organization_id, null);
  const spent = { ...row.spent };
  for (const month of Object.keys({ ...from, ...to })) {
    const difference = (to[month] ?? 0) - (from[month] ?? 0);
    if (difference === 0) continue;
    spent[month] = Math.max(0, (spent[month] ?? 0) + difference);
    tx.put(usage, { ...row, spent });
  }
}

function toStoredMonths(spent: Readonly<Record<string, number>>, world: WorldReader): Usage["spent"] {
  return Object.fromEntries(
    Object.entries(spent).map(([month, amount]) => [parseMonth(world, month), toMicro(amount)]),
  );
}

function requireConsistent(world: WorldReader, row: Usage): void {
  // Checked before the id, which consists of the organization's id and the key's.
  requireReferencedRecord(world, organizations, { field: "organization_id", id: row.organization_id });
  if (row.api_key_id !== null && row.api_monthly_limit !== null)
    throw invalidInput("api_monthly_limit", row.api_monthly_limit, "a key has no limit for all keys");
  const id = toUsageId(row.organization_id, row.api_key_id);
  if (row.id !== id) throw invalidInput("id", row.id, `the id of this row is ${id}`);
}

export const usageResource = {
  name: "usage",
  collections: [usage],
  operations: [retrieveUsageLimits],
  factories: { usage: makeUsage },
  fixture: usageFixture,
  state: { usage: usageStateRules },
} satisfies Resource;
