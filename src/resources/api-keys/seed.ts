import Type, { type Static } from "typebox";
import type { FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, UserId } from "../../contract/schema.ts";
import { apiKeys, KEY_PATTERN } from "./schema.ts";

const ApiKeyEntry = Type.Object(
  {
    id: Id("apikey_"),
    user_id: UserId(),
    current: Id("org_"),
    key: Type.Optional(Type.String({ pattern: KEY_PATTERN })),
    name: Type.Optional(Type.String({ minLength: 1 })),
    revoked: Type.Optional(Type.Boolean()),
    expires_at: Type.Optional(Timestamp()),
  },
  { additionalProperties: false },
);

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export const apiKeysFixture: FixtureReader = {
  keys: { api_keys: Type.Array(ApiKeyEntry) },
  seed(fixture, base) {
    const entries = (fixture["api_keys"] ?? []) as Static<typeof ApiKeyEntry>[];
    base.fill(apiKeys, () =>
      entries.map((entry) => ({
        id: entry.id,
        user_id: entry.user_id,
        current: entry.current,
        key: entry.key ?? `ak_${base.random("api_keys", entry.id).letters(39, ALPHANUMERIC)}`,
        name: entry.name ?? `Key of ${entry.user_id}`,
        revoked: entry.revoked ?? false,
        expires_at: entry.expires_at ? base.instant(entry.expires_at) : null,
      })),
    );
  },
};
