import { fixtureRecord, listOf } from "../../contract/fixture-record.ts";
import type { NumberedLists } from "../../contract/resource.ts";
import { makeUser } from "./make.ts";
import { User, users } from "./schema.ts";

export const usersFixture = listOf(users, {
  record: fixtureRecord(User, { needs: ["id"] }),
  factory: makeUser,
  numbered: { users: goingRound },
});

/** People go round the organizations; the first of an organization that has no owner owns it. */
function goingRound(lists: NumberedLists) {
  const organizations = lists.of("organizations").map(({ id }) => String(id));
  const owned = new Set(
    lists.of("users").flatMap(({ memberships }) =>
      Object.entries((memberships ?? {}) as User["memberships"])
        .filter(([, role]) => role === "owner")
        .map(([id]) => id),
    ),
  );
  return (position: number) => {
    const home = organizations[position % organizations.length];
    if (home === undefined) return {};
    const role = owned.has(home) ? "member" : "owner";
    owned.add(home);
    return { memberships: { [home]: role } };
  };
}
