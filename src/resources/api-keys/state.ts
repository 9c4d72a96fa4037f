import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { findKey } from "./find-key.ts";
import { removeKey } from "./rules.ts";
import { type ApiKey, apiKeys } from "./schema.ts";
import { ALPHANUMERIC } from "./seed.ts";

/** Keys are made in the web console (section 2.15), so a sandbox's come from its fixture and from here. */
export const apiKeyState: StateRules<ApiKey> = {
  complete(fields, tx, { random }) {
    const user_id = fields.user_id ?? tx.all(users).page(0, 1)[0]?.id;
    const user = user_id === undefined ? undefined : tx.get(users, user_id);
    return {
      current: Object.keys(user?.memberships ?? {})[0] ?? tx.all(organizations).page(0, 1)[0]?.id,
      key: `ak_${random.letters(39, ALPHANUMERIC)}`,
      name: user === undefined ? "Key" : `Key of ${user.name}`,
      revoked: false,
      expires_at: null,
      ...fields,
      user_id,
    };
  },
  insert(tx, record) {
    check(tx, record);
    return tx.insert(apiKeys, record);
  },
  update(tx, _before, after) {
    check(tx, after);
    return tx.put(apiKeys, after);
  },
  remove: removeKey,
};

function check(tx: Transaction, { id, user_id, current, key }: ApiKey): void {
  if (tx.get(users, user_id) === undefined) throw invalidInput("user_id", user_id, "there is no such user");
  if (tx.get(organizations, current) === undefined)
    throw invalidInput("current", current, "there is no such organization");
  const other = findKey(tx, key);
  // The value itself is a secret and stays out of the answer.
  if (other !== undefined && other.id !== id) throw invalidInput("key", null, `${other.id} has the same key`);
}
