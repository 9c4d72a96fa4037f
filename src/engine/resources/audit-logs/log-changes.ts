import type { User } from "../users/schema.ts";
import type { EntityType } from "./schema.ts";

export interface Named {
  id: string;
  name: string;
}

/** An entry of the log without its id, its instant and its actor. */
export interface AuditChange {
  entity_type: EntityType;
  action: string;
  entity: Named;
  target?: Named | undefined;
  department_id?: string;
  previous_value?: string | null;
  new_value?: string | null;
}

export function toNamed({ id, name }: Named): Named {
  return { id, name };
}

export function logChange(
  entity_type: EntityType,
  action: string,
  entity: Named,
  more: Partial<AuditChange> = {},
): AuditChange {
  const place = entity_type === "department" ? { department_id: entity.id } : {};
  return { entity_type, action, entity: toNamed(entity), ...place, ...more };
}

export function logUpdate(entity_type: EntityType, entity: Named, from: object, to: object): AuditChange {
  const values = { previous_value: JSON.stringify(from), new_value: JSON.stringify(to) };
  return logChange(entity_type, "updated", entity, values);
}

/** The target is the new parent (G31). */
export function logMove(entity: Named, from: Named | null | undefined, to: Named | null): AuditChange {
  const values = { previous_value: from?.id ?? null, new_value: to?.id ?? null };
  return logChange("department", "reparented", entity, { target: to ? toNamed(to) : undefined, ...values });
}

export function logAccountChange(entity: Named, from: User["account"], to: User["account"]): AuditChange {
  const action = to === "active" ? "reactivated" : "deactivated";
  return logChange("user", action, entity, { previous_value: from, new_value: to });
}

export function logMembership(department: Named, user: Named): AuditChange[] {
  const entity = { id: `dmem_${department.id}_${user.id}`, name: `${department.name} member` };
  const more = { target: toNamed(user), department_id: department.id };
  return ["membership_added", "membership_removed"].map((action) =>
    logChange("department_membership", action, entity, more),
  );
}

export function logAssignment(role: Named, user: Named | undefined): AuditChange[] {
  if (user === undefined) return [];
  const entity = { id: `rasg_${role.id}_${user.id}`, name: role.name };
  const assign = (action: string, previous_value: string | null, new_value: string | null) =>
    logChange("role_assignment", action, entity, { target: toNamed(user), previous_value, new_value });
  return [assign("assigned", null, role.name), assign("unassigned", role.name, null)];
}

export function logGrant(slice: Named, department: Named | undefined): AuditChange[] {
  if (department === undefined) return [];
  const entity = { id: `kgrant_${slice.id}_${department.id}`, name: `Read ${slice.name}` };
  return ["created", "removed"].map((action) =>
    logChange("knowledge_grant", action, entity, { target: toNamed(department) }),
  );
}
