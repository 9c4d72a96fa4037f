import type { BaseBuilder, FixtureData } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { auditActor } from "../audit-logs/record.ts";
import { type User, users } from "../users/schema.ts";
import { usersFixture } from "../users/seed.ts";

export interface Actor {
  user_id: string;
  user_name: string;
  user_email: string;
}

/** G31: who is written down for a state call: the user it names, else the organization's owner. */
export function actorOf(world: Transaction, user_id: string | undefined, organization_id: string): Actor {
  const id = auditActor(world, { user_id }, organization_id);
  const user = world.get(users, id);
  return user ? asActor(user) : { user_id: id, user_name: "System", user_email: "" };
}

/**
 * The people of an organization as a fixture seeds them, names and addresses included: logs keep both
 * from the day of the entry, so they have to agree with the users that the same fixture makes.
 */
export function actorsOfFixture(fixture: FixtureData, base: BaseBuilder, organization_id: string): Actor[] {
  let everyone: readonly User[] = [];
  usersFixture.seed(fixture, {
    ...base,
    fill: (collection, records) => {
      if (collection.name === users.name) everyone = records() as readonly object[] as readonly User[];
    },
  });
  const members = everyone.filter((user) => Object.hasOwn(user.memberships, organization_id));
  const active = members.filter(({ account }) => account === "active");
  const known = active.length > 0 ? active : members.length > 0 ? members : everyone;
  return known.length > 0
    ? known.map(asActor)
    : [{ user_id: "usr_system", user_name: "System", user_email: "" }];
}

function asActor({ id, name, email }: User): Actor {
  return { user_id: id, user_name: name, user_email: email };
}
