import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { type Usage, usage } from "../usage/schema.ts";
import { findKey } from "./rules.ts";
import { type ApiKey, apiKeys } from "./schema.ts";

/** Keys are made in the web console (section 2.15), so a sandbox's come from its fixture and from here. */
export const apiKeyState: StateRules<ApiKey> = {
  insert(tx, record) {
    check(tx, record);
    // An earlier key of this id may have left what it spent.
    for (const row of listUsage(tx, record)) tx.remove(usage, row.id);
    return tx.insert(apiKeys, record);
  },
  update(tx, _before, after) {
    check(tx, after);
    for (const row of listUsage(tx, after)) tx.put(usage, { ...row, api_key_name: after.name });
    return tx.put(apiKeys, after);
  },
};

function listUsage(tx: Transaction, { id }: ApiKey): Usage[] {
  return [...tx.all(usage)].filter(({ api_key_id }) => api_key_id === id);
}

function check(tx: Transaction, { id, key }: ApiKey): void {
  const other = findKey(tx, key);
  // The value itself is a secret and stays out of the answer.
  if (other !== undefined && other.id !== id) throw invalidInput("key", null, `${other.id} has the same key`);
}
