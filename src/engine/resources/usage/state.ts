import { invalidInput } from "../../contract/errors.ts";
import { referred } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { organizations } from "../organizations/schema.ts";
import { findUsage, fromMicro, monthText, parseMonth, toMicro } from "./rules.ts";
import { type Usage, usage, usageId } from "./schema.ts";
import { emitThresholdEvents } from "./spending.ts";

export const usageRules: StateRules<Usage> = {
  toPublic({ spent, ...row }, world) {
    const months = Object.entries(spent)
      .map(([month, micro]) => [monthText(world, Number(month)), fromMicro(micro)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return { ...row, spent: Object.fromEntries(months) };
  },
  fromPublic(fields, world) {
    const { spent, ...rest } = fields as Partial<Usage>;
    return spent === undefined ? rest : { ...rest, spent: storedMonths(spent, world) };
  },
  insert(tx, record, actor) {
    requireConsistent(tx, record);
    if (record.api_key_id !== null) referred(tx, apiKeys, { field: "api_key_id", id: record.api_key_id });
    const insert = () => {
      tx.insert(usage, { ...record, emitted: [] });
      bookOnOrganization(tx, record, { from: {}, to: record.spent });
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
      bookOnOrganization(tx, row, { from: before.spent, to: row.spent });
    };
    if (actor.silent) update();
    else emitThresholdEvents(tx, row, update);
    return tx.get(usage, row.id)!;
  },
  remove: (tx, record) => bookOnOrganization(tx, record, { from: record.spent, to: {} }),
};

/** A key's spending is its organization's too (section 8), so both change by the same amount. */
function bookOnOrganization(
  tx: Transaction,
  { organization_id, api_key_id }: Usage,
  { from, to }: { from: Usage["spent"]; to: Usage["spent"] },
): void {
  if (api_key_id === null) return;
  const row = findUsage(tx, organization_id, null);
  const spent = { ...row.spent };
  for (const month of Object.keys({ ...from, ...to })) {
    const more = (to[month] ?? 0) - (from[month] ?? 0);
    if (more === 0) continue;
    spent[month] = Math.max(0, (spent[month] ?? 0) + more);
    tx.put(usage, { ...row, spent });
  }
}

function storedMonths(spent: Readonly<Record<string, number>>, world: WorldReader): Usage["spent"] {
  return Object.fromEntries(
    Object.entries(spent).map(([month, amount]) => [parseMonth(world, month), toMicro(amount)]),
  );
}

function requireConsistent(world: WorldReader, row: Usage): void {
  // The id may have named them.
  referred(world, organizations, { field: "organization_id", id: row.organization_id });
  if (row.api_key_id !== null && row.api_monthly_limit !== null)
    throw invalidInput("api_monthly_limit", row.api_monthly_limit, "a key has no limit for all keys");
  const id = usageId(row.organization_id, row.api_key_id);
  if (row.id !== id) throw invalidInput("id", row.id, `the id of this row is ${id}`);
}
