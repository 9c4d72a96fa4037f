import { type Static, Type } from "typebox";
import { toLatin1 } from "../../bytes.ts";
import { belongsTo } from "../../contract/references.ts";
import { Id, NullableInstant, UserId } from "../../contract/schema.ts";
import { getOrAdd } from "../../maps.ts";
import { digest } from "../../platform.ts";
import { collection } from "../../state/collection.ts";

/** `ak_` and 39 letters or digits (2.15). */
export const KEY_PATTERN = "^ak_[A-Za-z0-9]{39}$";

export const ApiKey = Type.Object({
  id: Id("apikey_"),
  user_id: UserId(belongsTo("users")),
  /** The organization that requests with this key act in; 4.5 changes it. */
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
    by_digest: { groups: (key) => [digestRecord(key).group], order: (key) => key.id },
    by_user: { groups: "user_id", order: ({ id }) => id },
  },
});

const recordDigests = new WeakMap<{ readonly key: string }, KeyDigest>();

interface KeyDigest {
  bytes: Uint8Array;
  /** The name of its group in the index. */
  group: string;
}

/**
 * A cache of digests of recent keys: clients repeat keys, and hashing takes longer than anything else in a small
 * request. It is looked up by whole keys, so a guess that is nearly right finds nothing.
 */
const recentDigests = new Map<string, KeyDigest>();
const MAX_CACHED = 1024;
const MAX_CACHED_LENGTH = 64;

export function digestKey(text: string): KeyDigest {
  let keyDigest = recentDigests.get(text);
  if (keyDigest === undefined) {
    keyDigest = computeDigest(text);
    if (recentDigests.size >= MAX_CACHED) recentDigests.clear();
    if (text.length <= MAX_CACHED_LENGTH) recentDigests.set(text, keyDigest);
  }
  return keyDigest;
}

/** Cached per record, so that a request computes one digest instead of two. */
export function digestRecord(record: { readonly key: string }): KeyDigest {
  return getOrAdd(recordDigests, record, () => computeDigest(record.key));
}

function computeDigest(text: string): KeyDigest {
  const bytes = digest("sha256", text);
  return { bytes, group: toLatin1(bytes) };
}
