import type { RecordLookup } from "../../contract/factory.ts";
import { getOrAdd } from "../../maps.ts";
import type { Random } from "../../state/random.ts";
import type { Transaction } from "../../state/transaction.ts";
import { findAuditActor } from "../audit-logs/rules.ts";
import { SYSTEM_USER_ID } from "../organizations/access.ts";
import { type User, users } from "../users/schema.ts";
import { type ChangeLog, changeLogs, type FieldChange } from "./schema.ts";

interface RecordedChange {
  organization_id: string;
  resource_type: ChangeLog["resource_type"];
  resource_id: string;
  resource_name: string;
  action: ChangeLog["action"];
  /** Undefined: the organization's owner (G31). */
  actor_id: string | undefined;
  changes?: FieldChange[];
}

/** Writes one entry of the change log that 4.16 lists, at the sandbox's current time. */
export function recordChange(tx: Transaction, { actor_id, ...change }: RecordedChange): ChangeLog {
  return tx.insert(changeLogs, {
    id: tx.createNewestFirstId("log_"),
    timestamp: tx.now,
    changes: [],
    ...change,
    ...findActor(tx, actor_id, change.organization_id),
  });
}

export interface Actor {
  user_id: string;
  user_name: string;
  user_email: string;
}

const SYSTEM: Actor = { user_id: SYSTEM_USER_ID, user_name: "System", user_email: "" };
const MAX_TRIES = 20;

/** The author of a state call's change: the user in the call, else the organization's owner (G31). */
export function findActor(world: RecordLookup, user_id: string | undefined, organization_id: string): Actor {
  const id = findAuditActor(world, { user_id }, organization_id);
  const user = world.get(users, id);
  return user ? toActor(user) : { user_id: id, user_name: "System", user_email: "" };
}

const actorsByWorld = new WeakMap<RecordLookup, Map<string, readonly User[]>>();

/** A user who could make a change at an instant of a fixture's past: one who existed by then (G40). */
export function pickActor(
  world: RecordLookup,
  { organization_id, at }: { organization_id: string; at: number },
  random: Random,
): Actor {
  const people = listActors(world, organization_id);
  for (let tries = 0; tries < MAX_TRIES && people.length > 0; tries++) {
    const user = random.pick(people);
    if (user.created_at <= at) return toActor(user);
  }
  return SYSTEM;
}

/** The active users of an organization. A fixture's users do not change, so the list is computed once. */
function listActors(world: RecordLookup, organization_id: string): readonly User[] {
  const byOrganization = getOrAdd(actorsByWorld, world, () => new Map());
  return getOrAdd(byOrganization, organization_id, () =>
    [...world.index(users, "by_organization", organization_id)].filter(({ account }) => account === "active"),
  );
}

function toActor({ id, name, email }: User): Actor {
  return { user_id: id, user_name: name, user_email: email };
}
