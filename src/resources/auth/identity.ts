import type { Identity } from "../../contract/operation.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { findKey } from "../api-keys/digest.ts";
import type { ApiKey } from "../api-keys/schema.ts";
import { requestsPerMinute } from "../organizations/rules.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";

export function identifyKey(world: WorldReader, key: string): Identity | undefined {
  const found = findKey(world, key);
  return found && identityOf(world, found, "api_key");
}

/** A key that may be used now, by a user who may use it. */
export function identityOf(
  world: WorldReader,
  key: ApiKey,
  credential: "api_key" | "token",
): Identity | undefined {
  if (key.revoked || (key.expires_at !== null && key.expires_at <= world.now)) return undefined;
  if (world.get(users, key.user_id)?.account !== "active") return undefined;
  const organization = world.get(organizations, key.current);
  return {
    principal: { user_id: key.user_id, key_id: key.id, organization_id: key.current, credential },
    requests_per_minute: requestsPerMinute(organization ?? { plan: "standard", rate_limit: null }),
  };
}
