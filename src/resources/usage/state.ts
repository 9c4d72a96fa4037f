import { invalidInput } from "../../contract/errors.ts";
import { referred } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { organizations } from "../organizations/schema.ts";
import { tellCrossings } from "./crossings.ts";
import { fromMicro, toMicro } from "./money.ts";
import { monthText, parseMonth } from "./months.ts";
import { type Usage, usage, usageId } from "./schema.ts";

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
    const insert = () => tx.insert(usage, { ...record, told: [] });
    if (actor.silent) return insert();
    tellCrossings(tx, record, insert);
    return tx.get(usage, record.id)!;
  },
  update(tx, before, after, actor) {
    if (after.organization_id !== before.organization_id || after.api_key_id !== before.api_key_id)
      throw invalidInput("organization_id", after.organization_id, "a row of usage cannot move");
    requireConsistent(tx, after);
    // Months that a PATCH does not name stay as they are.
    const row = { ...after, spent: { ...before.spent, ...after.spent }, told: before.told };
    const update = () => tx.put(usage, row);
    if (actor.silent) return update();
    tellCrossings(tx, row, update);
    return tx.get(usage, row.id)!;
  },
};

function storedMonths(spent: Readonly<Record<string, number>>, world: WorldReader): Usage["spent"] {
  return Object.fromEntries(
    Object.entries(spent).map(([month, amount]) => [parseMonth(world, month), toMicro(amount)]),
  );
}

function requireConsistent(world: WorldReader, row: Usage): void {
  // The id may have named them.
  referred(world, organizations, { field: "organization_id", id: row.organization_id });
  if (row.api_key_id !== null) {
    referred(world, apiKeys, { field: "api_key_id", id: row.api_key_id });
    if (row.api_monthly_limit !== null)
      throw invalidInput("api_monthly_limit", row.api_monthly_limit, "a key has no limit for all keys");
  }
  const id = usageId(row.organization_id, row.api_key_id);
  if (row.id !== id) throw invalidInput("id", row.id, `the id of this row is ${id}`);
}
