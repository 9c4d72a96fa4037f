import Type, { type Static } from "typebox";
import type { FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, UserId } from "../../contract/schema.ts";
import { usersOf } from "../organizations/of-fixture.ts";
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

export const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export const apiKeysFixture: FixtureReader = {
  keys: { api_keys: Type.Array(ApiKeyEntry) },
  check(fixture, report) {
    const known = new Map(usersOf(fixture).map((user) => [user.id, user]));
    const keys = new Map<string, string>();
    for (const [position, entry] of keysOf(fixture).entries()) {
      const user = known.get(entry.user_id);
      const path = ["api_keys", position];
      if (user === undefined) report([...path, "user_id"], `there is no user ${entry.user_id}`);
      if (entry.key === undefined) continue;
      const other = keys.get(entry.key);
      if (other !== undefined) report([...path, "key"], `${other} has the same key`);
      keys.set(entry.key, entry.id);
    }
  },
  seed(fixture, base) {
    base.fill(apiKeys, () =>
      keysOf(fixture).map((entry) => ({
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

function keysOf(fixture: FixtureData): readonly Static<typeof ApiKeyEntry>[] {
  return (fixture["api_keys"] ?? []) as Static<typeof ApiKeyEntry>[];
}
