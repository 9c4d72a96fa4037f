import type { StateRules } from "../../contract/resource.ts";
import type { AnyCollection } from "../../state/collection.ts";
import type { Transaction } from "../../state/transaction.ts";
import { removeKey } from "../api-keys/rules.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { users } from "../users/schema.ts";
import { type Organization, organizations } from "./schema.ts";

/** The service shows no call that creates or deletes an organization; here they come and go with all they own. */
export const organizationState: StateRules<Organization> = {
  remove(tx, { id }) {
    for (const collection of tx.collections()) {
      if (isOwned(collection)) removeOwned(tx, collection, id);
    }
    for (const user of tx.index(users, "by_organization", id)) {
      const { [id]: _role, ...memberships } = user.memberships;
      const { [id]: _granted, ...capabilities } = user.capabilities;
      tx.put(users, { ...user, memberships, capabilities });
    }
    for (const key of tx.all(apiKeys)) {
      if (key.current !== id) continue;
      // A key keeps acting somewhere as long as its user belongs somewhere.
      const [other] = Object.keys(tx.get(users, key.user_id)?.memberships ?? {});
      if (other === undefined) removeKey(tx, key);
      else tx.put(apiKeys, { ...key, current: other });
    }
    tx.remove(organizations, id);
  },
};

function isOwned({ internal, schema }: AnyCollection): boolean {
  const { properties } = schema as { properties?: object };
  return internal !== true && properties !== undefined && Object.hasOwn(properties, "organization_id");
}

/** Every record that says it belongs to the organization; a full scan, for a call that is rare. */
function removeOwned(tx: Transaction, collection: AnyCollection, organization_id: string): void {
  for (const record of tx.all(collection) as Iterable<{ organization_id: string }>) {
    if (record.organization_id === organization_id) tx.remove(collection, collection.idOf(record));
  }
}
