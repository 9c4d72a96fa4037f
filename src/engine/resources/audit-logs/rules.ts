import type { RecordLookup } from "../../contract/factory.ts";
import type { StateActor } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { SYSTEM_USER_ID } from "../organizations/access.ts";
import { users } from "../users/schema.ts";
import { type AuditLog, auditLogs } from "./schema.ts";

export type AuditEntry = Pick<
  AuditLog,
  "organization_id" | "entity_type" | "entity_id" | "entity_name" | "action"
> &
  Partial<Pick<AuditLog, "target_id" | "target_name" | "department_id" | "previous_value" | "new_value">>;

/** Writes one entry of the organization's audit log at the sandbox's current time (G31). */
export function recordAudit(tx: Transaction, entry: AuditEntry, actor_id: string): AuditLog {
  const actor = tx.get(users, actor_id);
  return tx.insert(auditLogs, {
    id: tx.createNewestFirstId("log_"),
    organization_id: entry.organization_id,
    timestamp: tx.now,
    entity_type: entry.entity_type,
    entity_id: entry.entity_id,
    entity_name: entry.entity_name,
    action: entry.action,
    actor_id,
    // For a deleted actor, only the id is left.
    actor_name: actor?.name ?? actor_id,
    actor_email: actor?.email ?? "",
    target_id: entry.target_id ?? null,
    target_name: entry.target_name ?? null,
    department_id: entry.department_id ?? null,
    previous_value: entry.previous_value ?? null,
    new_value: entry.new_value ?? null,
  });
}

/** The user in the entry of a state call: `?actor=`, else the organization's owner, else a member (G31). */
export function findAuditActor(
  world: RecordLookup,
  actor: Pick<StateActor, "user_id">,
  organization_id: string,
): string {
  if (actor.user_id !== undefined) return actor.user_id;
  const user =
    world.index(users, "by_owned_organization", organization_id).first() ??
    world.index(users, "by_organization", organization_id).first();
  return user?.id ?? SYSTEM_USER_ID;
}

/** The audit entry of a state call; none if the call is quiet. */
export function recordStateAudit(tx: Transaction, actor: StateActor, entry: AuditEntry): void {
  if (actor.silent) return;
  recordAudit(tx, entry, findAuditActor(tx, actor, entry.organization_id));
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
