import type { Identity } from "../../contract/operation.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { findKey } from "../api-keys/rules.ts";
import { type ApiKey, apiKeys } from "../api-keys/schema.ts";
import { organizations, requestsPerMinute } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";

/** Whose key this is, whether or not it may be used; undefined for an unknown one. */
export function identifyKey(world: WorldReader, key: string): Identity | undefined {
  const found = findKey(world, key);
  return found && toIdentity(world, found, "api_key");
}

/**
 * Identifies the caller of this key; `refused` unless the key may be used now, by a user who may use it (section 5
 * rule 2). Fault rules match on the caller before that is judged.
 */
export function toIdentity(world: WorldReader, key: ApiKey, credential: "api_key" | "token"): Identity {
  const organization = world.get(organizations, key.current);
  const identity: Identity = {
    principal: { user_id: key.user_id, key_id: key.id, organization_id: key.current, credential },
    requests_per_minute: requestsPerMinute(organization ?? { plan: "standard", rate_limit: null }),
  };
  return findKeyProblem(world, key) === undefined ? identity : refused(identity);
}

/** With which key a user calls: the first that may be used, else the first (interfaces 11). */
export function findKeyOfUser(world: Transaction, user_id: string): ApiKey | undefined {
  const keys = [...world.index(apiKeys, "by_user", user_id)];
  return keys.find((one) => findKeyProblem(world, one) === undefined) ?? keys[0];
}

/** The same caller, to be refused. */
export function refused(identity: Identity): Identity {
  return { ...identity, refused: true };
}

/** Undefined for a caller who is refused. */
export function accepted(identity: Identity | undefined): Identity | undefined {
  return identity?.refused ? undefined : identity;
}

/** Why a key may not be used now (section 5 rule 2); undefined where it may. */
export function findKeyProblem(
  world: WorldReader,
  { revoked, expires_at, user_id }: ApiKey,
): string | undefined {
  if (revoked) return "was revoked";
  if (expires_at !== null && expires_at <= world.now) return `expired at ${world.iso(expires_at)}`;
  const user = world.get(users, user_id);
  if (user === undefined) return "belongs to a user who is gone";
  return user.account === "active" ? undefined : `belongs to a user who is ${user.account}`;
}
