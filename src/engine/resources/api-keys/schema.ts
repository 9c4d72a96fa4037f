import { type Static, Type } from "typebox";
import { toLatin1 } from "../../bytes.ts";
import { belongsTo } from "../../contract/references.ts";
import { Id, NullableInstant, UserId } from "../../contract/schema.ts";
import { digest } from "../../platform.ts";
import { collection } from "../../state/collection.ts";

/** `ak_` and 39 letters or digits (section 2.15). */
export const KEY_PATTERN = "^ak_[A-Za-z0-9]{39}$";

export const ApiKey = Type.Object({
  id: Id("apikey_"),
  user_id: UserId(belongsTo("users")),
  /** The organization that requests with this key act in; section 4.5 changes it. */
  current: Id("org_", belongsTo("organizations")),
  key: Type.String({ pattern: KEY_PATTERN }),
  name: Type.String({ minLength: 1 }),
  revoked: Type.Boolean(),
  expires_at: NullableInstant(),
});
export type ApiKey = Static<typeof ApiKey>;

export const apiKeys = collection({
  name: "api_keys",
  schema: ApiKey,
  indexes: {
    by_digest: { groups: ({ key }) => [digestKey(key)], order: ({ id }) => id },
    by_user: { groups: "user_id", order: ({ id }) => id },
  },
});

/**
 * A cache of digests of recent keys: clients repeat keys, and hashing takes longer than anything else in a small
 * request. It is looked up by whole keys, so a guess that is nearly right finds nothing.
 */
const recentDigests = new Map<string, string>();
const MAX_CACHED = 1024;
const MAX_CACHED_LENGTH = 64;

/** The SHA-256 by which a key is looked up: the time of the look-up does not show how much of a guess was right. */
export function digestKey(key: string): string {
  let keyDigest = recentDigests.get(key);
  if (keyDigest === undefined) {
    keyDigest = toLatin1(digest("sha256", key));
    if (recentDigests.size >= MAX_CACHED) recentDigests.clear();
    if (key.length <= MAX_CACHED_LENGTH) recentDigests.set(key, keyDigest);
  }
  return keyDigest;
}
