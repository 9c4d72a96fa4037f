import type { Factory } from "../../contract/factory.ts";
import { createEntryFormat, createListReader, readEntries } from "../../contract/fixture-entry.ts";
import { requireFirstRecord } from "../../contract/references.ts";
import type { FixtureLists } from "../../contract/resource.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { ApiKey, apiKeys } from "./schema.ts";

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Makes a key. Its `current` organization is by default the caller's, its user's first one, or the first of the world. */
export const makeApiKey: Factory<ApiKey> = (fields, context) => {
  const { random, world } = context;
  const user_id = fields.user_id ?? context.actor_id ?? requireFirstRecord(context, users, "user_id").id;
  return {
    id: fields.id ?? context.createId("apikey_"),
    user_id,
    current:
      fields.current ??
      context.actor_organization_id ??
      Object.keys(world.get(users, user_id)?.memberships ?? {})[0] ??
      requireFirstRecord(context, organizations, "current").id,
    key: fields.key ?? `ak_${random.characters(39, ALPHANUMERIC)}`,
    name: fields.name ?? `Key of ${user_id}`,
    revoked: fields.revoked ?? false,
    expires_at: fields.expires_at ?? null,
  };
};

const entryFormat = createEntryFormat(ApiKey, {
  required: ["id", "user_id", "current"],
  notNull: ["expires_at"],
});

export const apiKeysFixture = createListReader(apiKeys, {
  entryFormat,
  factory: makeApiKey,
  fieldGenerators: { api_keys: assignUsers },
  check(fixture, report) {
    const idsByKey = new Map<string, string>();
    for (const [position, { id, key }] of readEntries(fixture, "api_keys", entryFormat).entries()) {
      if (key === undefined) continue;
      const otherId = idsByKey.get(key);
      if (otherId !== undefined) report(["api_keys", position, "key"], `${otherId} has the same key`);
      idsByKey.set(key, id);
    }
  },
});

/** Assigns generated keys to the users in turn; a key acts in the first organization of its user. */
function assignUsers(lists: FixtureLists) {
  const owners = lists.listRecords("users");
  const [defaultOrganization] = lists.listRecords("organizations");
  return (position: number) => {
    const owner = owners[position % owners.length];
    if (owner === undefined) return {};
    const [firstOrganization] = Object.keys(owner["memberships"] ?? {});
    return { user_id: owner["id"], current: firstOrganization ?? defaultOrganization?.["id"] };
  };
}
