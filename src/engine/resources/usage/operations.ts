import { Type } from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import { requireReferencedRecord } from "../../contract/references.ts";
import type { Resource, StateActor, StateRules } from "../../contract/resource.ts";
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
  toMicro,
  toMonth,
} from "./rules.ts";
import { toUsageId, type Usage, UsageLimits, usage } from "./schema.ts";
import { changeAndEmitThresholds } from "./spending.ts";

const retrieveUsageLimits = operation({
  id: "usage.retrieve_limits",
  section: "4.17",
  assumptions: ["G03", "G08", "G33"],
  route: "GET /v1/analytics/usage/limits/{org_id}",
  summary: "Retrieve an organization's usage against its limits",
  description:
    "Amounts are in CHF. Past months are measured against today's limits. Future months have no usage.",
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
    const month = readMonth(world, query);
    return renderUsageLimits(world, org_id, month > getCurrentMonth(world) ? undefined : month);
  },
});

/** The requested month; year and month are the current ones by default (G33). */
function readMonth(world: WorldReader, query: { year?: number; month?: number }): number {
  const now = new Date(world.toEpoch(world.now));
  const { year = now.getUTCFullYear(), month = now.getUTCMonth() + 1 } = query;
  return toMonth(world, year, month);
}

/** Renders the limits and spending of a month (G33); undefined is a future month, without spending. */
function renderUsageLimits(world: WorldReader, organization_id: string, month: number | undefined) {
  const getSpentOfRow = (row: Usage) => (month === undefined ? 0 : getSpent(row, month));
  const organizationRow = findUsage(world, organization_id, null);
  const { monthly_limit, api_monthly_limit } = organizationRow;
  const keyRows = [...world.index(usage, "keys_by_organization", organization_id)];
  const organization_limits = renderLimitFigures(getSpentOfRow(organizationRow), monthly_limit);
  const spentByKeys = keyRows.reduce((sum, row) => sum + getSpentOfRow(row), 0);
  const api_limits = api_monthly_limit === null ? null : renderLimitFigures(spentByKeys, api_monthly_limit);
  const api_key_limits = keyRows.flatMap((row) => {
    const figures = renderKeyFigures(world, row, getSpentOfRow(row));
    return figures.monthly_limit === null && getSpentOfRow(row) === 0 ? [] : [figures];
  });
  const allFigures = [organization_limits, ...(api_limits ? [api_limits] : []), ...api_key_limits];
  const summary = {
    total_keys: api_key_limits.length,
    keys_with_limits: api_key_limits.filter((key) => key.monthly_limit !== null).length,
    keys_exceeded: api_key_limits.filter(({ status }) => status === "exceeded").length,
    overall_status: allFigures.map(({ status }) => status).reduce(pickWorse),
  };
  return { organization_limits, api_limits, api_key_limits, summary };
}

function renderKeyFigures(world: WorldReader, row: Usage, spentMicro: number) {
  const api_key_id = row.api_key_id!;
  const key = world.get(apiKeys, api_key_id);
  const api_key_name = key?.name ?? row.api_key_name ?? api_key_id;
  // The spending of a deleted key remains; its limit does not.
  const { remaining_budget: _, ...figures } = renderLimitFigures(spentMicro, key ? row.monthly_limit : null);
  return { api_key_id, api_key_name, ...figures };
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
    return saveRow(tx, { ...record, emitted: [] }, actor, {});
  },
  update(tx, before, after, actor) {
    for (const field of ["organization_id", "api_key_id"] as const)
      if (after[field] !== before[field]) throw invalidInput(field, after[field], `${field} cannot change`);
    requireConsistent(tx, after);
    // Months that a PATCH does not name stay as they are.
    const row = { ...after, spent: { ...before.spent, ...after.spent }, emitted: before.emitted };
    return saveRow(tx, row, actor, before.spent);
  },
  /** An organization's row takes the rows of its keys with it, since their spending is part of it. */
  beforeRemove(tx, row) {
    addToOrganization(tx, row, { from: row.spent, to: {} });
    if (row.api_key_id !== null) return;
    for (const { id } of [...tx.index(usage, "keys_by_organization", row.organization_id)])
      tx.remove(usage, id);
  },
};

/** Saves a row, adds its new spending to the organization's, and emits the events of limits that spending crosses. */
function saveRow(tx: Transaction, row: Usage, actor: StateActor, spentBefore: Usage["spent"]): Usage {
  const change = () => {
    tx.put(usage, row);
    addToOrganization(tx, row, { from: spentBefore, to: row.spent });
  };
  if (actor.silent) change();
  else changeAndEmitThresholds(tx, row, change);
  // Read again: the emitted thresholds are recorded in it.
  return tx.get(usage, row.id)!;
}

/** A key's spending is its organization's too (section 8), so both change by the same amount. */
function addToOrganization(
  tx: Transaction,
  { organization_id, api_key_id }: Usage,
  { from, to }: { from: Usage["spent"]; to: Usage["spent"] },
): void {
  if (api_key_id === null) return;
  const row = findUsage(tx, organization_id, null);
  const spent = { ...row.spent };
  const months = Object.keys({ ...from, ...to }).filter((month) => (from[month] ?? 0) !== (to[month] ?? 0));
  for (const month of months)
    spent[month] = Math.max(0, (spent[month] ?? 0) + (to[month] ?? 0) - (from[month] ?? 0));
  if (months.length > 0) tx.put(usage, { ...row, spent });
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
    throw invalidInput("api_monthly_limit", row.api_monthly_limit, "only an organization has this limit");
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
