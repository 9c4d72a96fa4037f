import { invalidInput } from "../../contract/errors.ts";
import type { Identity } from "../../contract/operation.ts";
import type { Resource, StateRules } from "../../contract/resource.ts";
import { listWrites, type Transaction, type WorldReader } from "../../state/transaction.ts";
import type { Commit } from "../../state/world-parts.ts";
import { getRequestsPerMinute, organizations } from "../organizations/schema.ts";
import { type Usage, usage } from "../usage/schema.ts";
import { users } from "../users/schema.ts";
import { apiKeysFixture, makeApiKey } from "./fixtures.ts";
import { type ApiKey, apiKeys, digestKey } from "./schema.ts";

/** Finds the record of a key as it was sent. */
export function findKey(world: WorldReader, key: string): ApiKey | undefined {
  return world.index(apiKeys, "by_digest", digestKey(key)).first();
}

/** Lists the ids of keys that a commit deleted, so that the engine drops their rate-limit windows. */
export function listDeletedKeyIds({ writes }: Pick<Commit, "writes">): string[] {
  return listWrites(apiKeys, writes).flatMap(({ id, after }) => (after === undefined ? [id] : []));
}

/** Identifies the caller of this key, usable or not; undefined for an unknown key. */
export function identifyKey(world: WorldReader, key: string): Identity | undefined {
  const record = findKey(world, key);
  return record && toIdentity(world, record, "api_key");
}

/**
 * Identifies the caller of this key; `refused` if the key may not be used now (section 5 rule 2). Fault rules match on
 * a refused caller too.
 */
export function toIdentity(world: WorldReader, key: ApiKey, credential: "api_key" | "token"): Identity {
  const organization = world.get(organizations, key.current);
  return {
    principal: { user_id: key.user_id, key_id: key.id, organization_id: key.current, credential },
    requests_per_minute: getRequestsPerMinute(organization ?? { plan: "standard", rate_limit: null }),
    ...(findKeyProblem(world, key) !== undefined && ({ refused: true } as const)),
  };
}

/** The key with which a user calls: the first usable one, else the first (interfaces.md 11). */
export function findKeyOfUser(world: Transaction, user_id: string): ApiKey | undefined {
  const keys = [...world.index(apiKeys, "by_user", user_id)];
  return keys.find((key) => findKeyProblem(world, key) === undefined) ?? keys[0];
}

/** Lists the keys that are neither revoked nor expired, also those of suspended users, for tests of refusals. */
export function listValidKeys(world: WorldReader): ApiKey[] {
  return [...world.all(apiKeys)].filter(
    ({ revoked, expires_at }) => !revoked && (expires_at === null || expires_at > world.now),
  );
}

/** Returns undefined for a caller who is refused. */
export function omitRefused(identity: Identity | undefined): Identity | undefined {
  return identity?.refused ? undefined : identity;
}

/** Why a key may not be used now (section 5 rule 2); undefined if it may. */
export function findKeyProblem(
  world: WorldReader,
  { revoked, expires_at, user_id }: ApiKey,
): string | undefined {
  if (revoked) return "was revoked";
  if (expires_at !== null && expires_at <= world.now) return `expired at ${world.toIso(expires_at)}`;
  const user = world.get(users, user_id);
  if (user === undefined) return "belongs to a deleted user";
  return user.account === "active" ? undefined : `belongs to a user who is ${user.account}`;
}

/**
 * Keys are made in the web console of the real service (section 2.15), so the keys of a sandbox come from its fixture and from state calls.
 */
const apiKeyStateRules: StateRules<ApiKey> = {
  insert(tx, record) {
    requireDistinctKey(tx, record);
    // The spending of an earlier key with this id is removed.
    for (const row of listUsage(tx, record)) tx.remove(usage, row.id);
    return tx.insert(apiKeys, record);
  },
  update(tx, _before, after) {
    requireDistinctKey(tx, after);
    for (const row of listUsage(tx, after)) tx.put(usage, { ...row, api_key_name: after.name });
    return tx.put(apiKeys, after);
  },
};

function listUsage(tx: Transaction, { id }: ApiKey): Usage[] {
  return [...tx.all(usage)].filter(({ api_key_id }) => api_key_id === id);
}

function requireDistinctKey(tx: Transaction, { id, key }: ApiKey): void {
  const other = findKey(tx, key);
  // The value itself is a secret and stays out of the answer.
  if (other !== undefined && other.id !== id) throw invalidInput("key", null, `${other.id} has the same key`);
}

export const apiKeysResource = {
  name: "api_keys",
  collections: [apiKeys],
  operations: [],
  factories: { api_keys: makeApiKey },
  fixture: apiKeysFixture,
  state: { api_keys: apiKeyStateRules },
} satisfies Resource;
