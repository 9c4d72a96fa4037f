import type { RecordLookup } from "../../contract/factory.ts";
import type { StateActor } from "../../contract/resource.ts";
import { getOrAdd } from "../../maps.ts";
import type { Random } from "../../state/random.ts";
import type { Transaction } from "../../state/transaction.ts";
import { findOwnerOrMember, SYSTEM_USER_ID } from "../organizations/access.ts";
import { type User, users } from "../users/schema.ts";
import type { AuditChange } from "./log-changes.ts";
import { type AuditLog, auditLogs } from "./schema.ts";

/** The entry of a change; values that the change does not have are null. */
export function toAuditLog(
  change: AuditChange,
  entry: Pick<AuditLog, "id" | "organization_id" | "timestamp"> & {
    actor: Pick<User, "id" | "name" | "email">;
  },
): AuditLog {
  const { id, organization_id, timestamp, actor } = entry;
  return {
    id,
    organization_id,
    timestamp,
    entity_type: change.entity_type,
    entity_id: change.entity.id,
    entity_name: change.entity.name,
    action: change.action,
    actor_id: actor.id,
    actor_name: actor.name,
    actor_email: actor.email,
    target_id: change.target?.id ?? null,
    target_name: change.target?.name ?? null,
    department_id: change.department_id ?? null,
    previous_value: change.previous_value ?? null,
    new_value: change.new_value ?? null,
  };
}

/** Writes one entry of the organization's audit log at the sandbox's current time (G31). */
export function recordAudit(
  tx: Transaction,
  organization_id: string,
  change: AuditChange,
  actor_id: string,
): void {
  const actor = toPerson(tx, actor_id);
  const id = tx.createNewestFirstId("log_");
  tx.insert(auditLogs, toAuditLog(change, { id, organization_id, timestamp: tx.now, actor }));
}

/** The user in the entry of a state call: `?actor=`, else the owner, else a member, else the system (G31). */
export function findActorId(
  world: RecordLookup,
  user_id: string | undefined,
  organization_id: string,
): string {
  return user_id ?? findOwnerOrMember(world, organization_id)?.id ?? SYSTEM_USER_ID;
}

/** Writes the audit entry of a state call, unless the call is silent. */
export function recordStateAudit(
  tx: Transaction,
  { user_id, silent }: StateActor,
  organization_id: string,
  change: AuditChange,
): void {
  if (!silent) recordAudit(tx, organization_id, change, findActorId(tx, user_id, organization_id));
}

/** The user in an entry, or the system. A deleted user has the id as name, and no e-mail address. */
export function toPerson(world: RecordLookup, id: string): Pick<User, "id" | "name" | "email"> {
  return world.get(users, id) ?? { id, name: id === SYSTEM_USER_ID ? "System" : id, email: "" };
}

/** Previous and new value of an update: the fields that differ, as JSON; undefined if none differs. */
export function toAuditValues<R extends object>(
  before: R,
  after: R,
  ignored: readonly (keyof R)[] = [],
): { previous_value: string; new_value: string } | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof R)[];
  const changed = names.filter(
    (name) => !ignored.includes(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  if (changed.length === 0) return undefined;
  const toJson = (record: R) =>
    JSON.stringify(Object.fromEntries(changed.map((name) => [name, record[name]])));
  return { previous_value: toJson(before), new_value: toJson(after) };
}

/** The user in an entry of the change log, or of the history of an assistant. */
interface Actor {
  user_id: string;
  user_name: string;
  user_email: string;
}

/** Random picks until the system is taken; a filtered list for each entry would cost too much. */
const MAX_TRIES = 20;

/** The actor that `findActorId` finds, with the name that the audit log shows. */
export function findActor(world: RecordLookup, user_id: string | undefined, organization_id: string): Actor {
  return toActor(toPerson(world, findActorId(world, user_id, organization_id)));
}

const actorsByWorld = new WeakMap<RecordLookup, Map<string, readonly User[]>>();

/** A user who existed at an instant of a fixture's past, as the author of a change (G40); the system if none is found. */
export function pickActor(
  world: RecordLookup,
  { organization_id, at }: { organization_id: string; at: number },
  random: Random,
): Actor {
  const people = listActiveUsers(world, organization_id);
  for (let tries = 0; tries < MAX_TRIES && people.length > 0; tries++) {
    const user = random.pick(people);
    if (user.created_at <= at) return toActor(user);
  }
  return toActor(toPerson(world, SYSTEM_USER_ID));
}

/** The active users of an organization. A fixture's users do not change, so the list is computed once. */
function listActiveUsers(world: RecordLookup, organization_id: string): readonly User[] {
  const byOrganization = getOrAdd(actorsByWorld, world, () => new Map());
  return getOrAdd(byOrganization, organization_id, () =>
    [...world.index(users, "by_organization", organization_id)].filter(({ account }) => account === "active"),
  );
}

function toActor({ id, name, email }: Pick<User, "id" | "name" | "email">): Actor {
  return { user_id: id, user_name: name, user_email: email };
}
