import type { StateRules } from "../../contract/resource.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { users } from "../users/schema.ts";
import type { Organization } from "./schema.ts";

/** The service shows no call that creates or deletes an organization; here they come and go with all they own. */
export const organizationState: StateRules<Organization> = {
  /** A key keeps acting somewhere as long as its user belongs somewhere; one that cannot goes with the organization. */
  remove(tx, { id }) {
    for (const key of tx.all(apiKeys)) {
      if (key.current !== id) continue;
      const memberships = Object.keys(tx.get(users, key.user_id)?.memberships ?? {});
      const current = memberships.find((organization_id) => organization_id !== id);
      if (current !== undefined) tx.put(apiKeys, { ...key, current });
    }
  },
};
