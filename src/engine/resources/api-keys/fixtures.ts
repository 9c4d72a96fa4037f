import type { Factory } from "../../contract/factory.ts";
import { fixtureRecord, listReader, readEntries } from "../../contract/fixture-record.ts";
import { requireFirstRecord } from "../../contract/references.ts";
import type { FixtureLists } from "../../contract/resource.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { ApiKey, apiKeys } from "./schema.ts";

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A key acts in an organization that its user belongs to. */
export const makeApiKey: Factory<ApiKey> = (fields, context) => {
  const { random, world } = context;
  const user_id = fields.user_id ?? requireFirstRecord(world, users, "user_id").id;
  return {
    id: fields.id ?? context.createId("apikey_"),
    user_id,
    current:
      fields.current ??
      Object.keys(world.get(users, user_id)?.memberships ?? {})[0] ??
      requireFirstRecord(world, organizations, "current").id,
    key: fields.key ?? `ak_${random.characters(39, ALPHANUMERIC)}`,
    name: fields.name ?? `Key of ${user_id}`,
    revoked: fields.revoked ?? false,
    expires_at: fields.expires_at ?? null,
  };
};

const record = fixtureRecord(ApiKey, { needs: ["id", "user_id", "current"], notNull: ["expires_at"] });

export const apiKeysFixture = listReader(apiKeys, {
  record,
  factory: makeApiKey,
  fieldGenerators: { api_keys: assignUsers },
  check(fixture, report) {
    const keys = new Map<string, string>();
    for (const [position, { id, key }] of readEntries(fixture, "api_keys", record).entries()) {
      if (key === undefined) continue;
      const other = keys.get(key);
      if (other !== undefined) report(["api_keys", position, "key"], `${other} has the same key`);
      keys.set(key, id);
    }
  },
});

/** One key for each user in turn, which acts in an organization of that user. */
function assignUsers(lists: FixtureLists) {
  const users = lists.listRecords("users");
  const [first] = lists.listRecords("organizations");
  return (position: number) => {
    const user = users[position % users.length];
    if (user === undefined) return {};
    const [firstOrganization] = Object.keys(user["memberships"] ?? {});
    return { user_id: user["id"], current: firstOrganization ?? first?.["id"] };
  };
}
