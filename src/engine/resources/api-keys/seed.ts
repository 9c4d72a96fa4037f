import { entriesOf, fixtureRecord, listOf } from "../../contract/fixture-record.ts";
import type { NumberedLists } from "../../contract/resource.ts";
import { makeApiKey } from "./make.ts";
import { ApiKey, apiKeys } from "./schema.ts";

const record = fixtureRecord(ApiKey, { needs: ["id", "user_id", "current"], notNull: ["expires_at"] });

export const apiKeysFixture = listOf(apiKeys, {
  record,
  factory: makeApiKey,
  numbered: { api_keys: oneForEach },
  check(fixture, report) {
    const keys = new Map<string, string>();
    for (const [position, { id, key }] of entriesOf(fixture, "api_keys", record).entries()) {
      if (key === undefined) continue;
      const other = keys.get(key);
      if (other !== undefined) report(["api_keys", position, "key"], `${other} has the same key`);
      keys.set(key, id);
    }
  },
});

/** One key for each person in turn, acting in an organization that the person belongs to. */
function oneForEach(lists: NumberedLists) {
  const users = lists.of("users");
  const [first] = lists.of("organizations");
  return (position: number) => {
    const user = users[position % users.length];
    if (user === undefined) return {};
    const [home] = Object.keys(user["memberships"] ?? {});
    return { user_id: user["id"], current: home ?? first?.["id"] };
  };
}
