import type { RecordLookup } from "../../contract/factory.ts";
import type { Random } from "../../state/random.ts";
import { auditActor } from "../audit-logs/record.ts";
import { SYSTEM_USER_ID } from "../organizations/people.ts";
import { type User, users } from "../users/schema.ts";

export interface Actor {
  user_id: string;
  user_name: string;
  user_email: string;
}

const SYSTEM: Actor = { user_id: SYSTEM_USER_ID, user_name: "System", user_email: "" };
const MAX_TRIES = 20;

/** G31: who is written down for a state call: the user it names, else the organization's owner. */
export function actorOf(world: RecordLookup, user_id: string | undefined, organization_id: string): Actor {
  const id = auditActor(world, { user_id }, organization_id);
  const user = world.get(users, id);
  return user ? asActor(user) : { user_id: id, user_name: "System", user_email: "" };
}

const actors = new WeakMap<RecordLookup, Map<string, readonly User[]>>();

/** Who of an organization made a change at an instant of a fixture's past: somebody who was there by then (G40). */
export function actorAt(
  world: RecordLookup,
  { organization_id, at }: { organization_id: string; at: number },
  random: Random,
): Actor {
  const people = actorsOfFixture(world, organization_id);
  for (let tries = 0; tries < MAX_TRIES && people.length > 0; tries++) {
    const user = random.pick(people);
    if (user.created_at <= at) return asActor(user);
  }
  return SYSTEM;
}

/**
 * The people of an organization whose changes a fixture tells of: those who can still make some. A fixture's
 * people stay as they are, so they are listed once.
 */
function actorsOfFixture(world: RecordLookup, organization_id: string): readonly User[] {
  let known = actors.get(world);
  if (known === undefined) {
    known = new Map();
    actors.set(world, known);
  }
  let found = known.get(organization_id);
  if (found === undefined) {
    found = [...world.index(users, "by_organization", organization_id)].filter(
      ({ account }) => account === "active",
    );
    known.set(organization_id, found);
  }
  return found;
}

function asActor({ id, name, email }: User): Actor {
  return { user_id: id, user_name: name, user_email: email };
}
