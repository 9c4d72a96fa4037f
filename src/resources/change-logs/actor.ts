import type { Surroundings } from "../../contract/make.ts";
import { auditActor } from "../audit-logs/record.ts";
import { SYSTEM_USER_ID } from "../organizations/people.ts";
import { type User, users } from "../users/schema.ts";

export interface Actor {
  user_id: string;
  user_name: string;
  user_email: string;
}

/** G31: who is written down for a state call: the user it names, else the organization's owner. */
export function actorOf(world: Surroundings, user_id: string | undefined, organization_id: string): Actor {
  const id = auditActor(world, { user_id }, organization_id);
  const user = world.get(users, id);
  return user ? asActor(user) : { user_id: id, user_name: "System", user_email: "" };
}

const actors = new WeakMap<Surroundings, Map<string, readonly Actor[]>>();

/**
 * The people of an organization whose changes a fixture tells of, by preference those who can still make some.
 * A fixture's people stay as they are, so they are listed once.
 */
export function actorsOfFixture(world: Surroundings, organization_id: string): readonly Actor[] {
  let known = actors.get(world);
  if (known === undefined) {
    known = new Map();
    actors.set(world, known);
  }
  let found = known.get(organization_id);
  if (found === undefined) {
    found = peopleOf(world, organization_id);
    known.set(organization_id, found);
  }
  return found;
}

function peopleOf(world: Surroundings, organization_id: string): readonly Actor[] {
  const members = [...world.index(users, "by_organization", organization_id)];
  const active = members.filter(({ account }) => account === "active");
  const people = active.length > 0 ? active : members.length > 0 ? members : [...world.all(users)];
  return people.length > 0
    ? people.map(asActor)
    : [{ user_id: SYSTEM_USER_ID, user_name: "System", user_email: "" }];
}

function asActor({ id, name, email }: User): Actor {
  return { user_id: id, user_name: name, user_email: email };
}
