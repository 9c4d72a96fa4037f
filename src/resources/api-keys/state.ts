import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { findKey } from "./find-key.ts";
import { type ApiKey, apiKeys } from "./schema.ts";

/** Keys are made in the web console (section 2.15), so a sandbox's come from its fixture and from here. */
export const apiKeyState: StateRules<ApiKey> = {
  insert(tx, record) {
    check(tx, record);
    return tx.insert(apiKeys, record);
  },
  update(tx, _before, after) {
    check(tx, after);
    return tx.put(apiKeys, after);
  },
};

function check(tx: Transaction, { id, key }: ApiKey): void {
  const other = findKey(tx, key);
  // The value itself is a secret and stays out of the answer.
  if (other !== undefined && other.id !== id) throw invalidInput("key", null, `${other.id} has the same key`);
}
