import { chooseCreation, type Factory } from "../../contract/factory.ts";
import { createEntryFormat, createListReader, readEntries } from "../../contract/fixture-entry.ts";
import { inventEmail, inventName, makeDistinctEmail } from "../../contract/invent.ts";
import type { FixtureLists, FixtureReader } from "../../contract/resource.ts";
import { DAY_MS } from "../../state/clock.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { organizations } from "../organizations/schema.ts";
import { User, users } from "./schema.ts";

/**
 * A user of a fixture has the memberships that it lists, and is verified. Any other user joins the caller's organization, else the
 * first one, and is not verified yet.
 */
export const makeUser: Factory<User> = (fields, context) => {
  const { random, world, isFixture } = context;
  const id = fields.id ?? context.createId("usr_");
  const name = fields.name ?? inventName(context);
  const organization_id =
    context.actor_organization_id ?? (isFixture ? undefined : world.all(organizations).first()?.id);
  const createEmail = () => {
    const invented = inventEmail(name, id, context);
    return isFixture ? invented : makeDistinctEmail(invented, (other) => hasEmail(world, other));
  };
  return {
    id,
    name,
    email: fields.email ?? createEmail(),
    memberships: fields.memberships ?? (organization_id === undefined ? {} : { [organization_id]: "member" }),
    capabilities: fields.capabilities ?? {},
    account: fields.account ?? "active",
    verified: fields.verified ?? isFixture,
    created_at: fields.created_at ?? chooseCreation(context, () => random.int(60, 400) * DAY_MS),
  };
};

function hasEmail(world: Pick<WorldReader, "all">, email: string): boolean {
  for (const user of world.all(users)) if (user.email === email) return true;
  return false;
}

const entryFormat = createEntryFormat(User, { required: ["id"] });

export const usersFixture: FixtureReader = {
  ...createListReader(users, {
    entryFormat,
    factory: makeUser,
    fieldGenerators: { users: assignInTurn },
    dependsOnSettings: ["locale"],
  }),
  check(fixture, report) {
    for (const [position, user] of readEntries(fixture, "users", entryFormat).entries()) {
      const { memberships = {}, capabilities = {} } = user;
      for (const id of Object.keys(capabilities)) {
        if (Object.hasOwn(memberships, id)) continue;
        const message = `${user.id} is not a member of ${id}: give a membership there, or no capabilities`;
        report(["users", position, "capabilities", id], message);
      }
    }
  },
  // In place of the list reader's own: makes invented e-mail addresses distinct.
  addRecords(fixture, base) {
    base.fill(users, () => {
      const entries = readEntries(fixture, "users", entryFormat);
      const taken = new Set(entries.map(({ email }) => email));
      return entries.map((entry) => {
        const user = makeUser(entryFormat.toFields(entry, base), base.createContext("users", entry.id));
        if (entry.email !== undefined) return user;
        const email = makeDistinctEmail(user.email, (other) => taken.has(other));
        taken.add(email);
        return { ...user, email };
      });
    });
  },
};

/** Assigns users to the organizations in turn; the first user of an organization without an owner owns it. */
function assignInTurn(lists: FixtureLists) {
  const organizationIds = lists.listRecords("organizations").map(({ id }) => String(id));
  const organizationsWithOwner = new Set(
    lists.listRecords("users").flatMap(({ memberships }) =>
      Object.entries((memberships ?? {}) as User["memberships"])
        .filter(([, role]) => role === "owner")
        .map(([id]) => id),
    ),
  );
  return (position: number) => {
    const organization_id = organizationIds[position % organizationIds.length];
    if (organization_id === undefined) return {};
    const role = organizationsWithOwner.has(organization_id) ? "member" : "owner";
    organizationsWithOwner.add(organization_id);
    return { memberships: { [organization_id]: role } };
  };
}
