import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { anyOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { tellCrossings } from "./crossings.ts";
import { fromMicro, toMicro } from "./money.ts";
import { monthText, parseMonth } from "./months.ts";
import { emptyUsage, type Usage, usage, usageId } from "./schema.ts";

export const usageRules: StateRules<Usage> = {
  toPublic({ told: _, spent, ...row }, world) {
    const months = Object.entries(spent)
      .map(([month, micro]) => [monthText(world, Number(month)), fromMicro(micro)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return { ...row, spent: Object.fromEntries(months) };
  },
  fromPublic(fields, world) {
    const { spent, ...rest } = fields as Partial<Usage>;
    return spent === undefined ? rest : { ...rest, spent: storedMonths(spent, world) };
  },
  complete(fields, tx) {
    const [organization, key = null] = fields.id?.split(":") ?? [];
    const named = fields.organization_id ?? organization;
    const place =
      named === undefined
        ? freePlace(tx, fields.api_key_id)
        : { organization_id: named, api_key_id: fields.api_key_id === undefined ? key : fields.api_key_id };
    return { ...emptyUsage(place.organization_id, place.api_key_id), ...fields };
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
  remove: (tx, record) => tx.remove(usage, record.id),
};

/** Where a POST that names no organization goes: to that of the key it names, or of one without a row. */
function freePlace(tx: Transaction, api_key_id: string | null | undefined) {
  const candidates = api_key_id ? [tx.get(apiKeys, api_key_id)] : tx.all(apiKeys);
  for (const key of api_key_id === null ? [] : candidates) {
    if (key && tx.get(usage, usageId(key.current, key.id)) === undefined)
      return { organization_id: key.current, api_key_id: key.id };
  }
  return { organization_id: anyOf(tx, organizations, "organization_id").id, api_key_id: api_key_id ?? null };
}

function storedMonths(spent: Readonly<Record<string, number>>, world: WorldReader): Usage["spent"] {
  return Object.fromEntries(
    Object.entries(spent).map(([month, amount]) => [parseMonth(world, month), toMicro(amount)]),
  );
}

function requireConsistent(world: WorldReader, row: Usage): void {
  referred(world, organizations, { field: "organization_id", id: row.organization_id });
  if (row.api_key_id !== null) {
    referred(world, apiKeys, { field: "api_key_id", id: row.api_key_id });
    if (row.api_monthly_limit !== null)
      throw invalidInput("api_monthly_limit", row.api_monthly_limit, "a key has no limit for all keys");
  }
  const id = usageId(row.organization_id, row.api_key_id);
  if (row.id !== id) throw invalidInput("id", row.id, `the id of this row is ${id}`);
}
