import type { User } from "../users/schema.ts";
import type { EntityType } from "./schema.ts";

export interface NamedObject {
  id: string;
  name: string;
}

/** An entry of the log without its id, its instant and its actor. */
export interface AuditChange {
  entity_type: EntityType;
  action: string;
  entity: NamedObject;
  target?: NamedObject | undefined;
  department_id?: string;
  previous_value?: string | null;
  new_value?: string | null;
}

export function toNamedObject({ id, name }: NamedObject): NamedObject {
  return { id, name };
}

export function makeChange(
  entity_type: EntityType,
  action: string,
  entity: NamedObject,
  fields: Partial<AuditChange> = {},
): AuditChange {
  const department = entity_type === "department" ? { department_id: entity.id } : {};
  return { entity_type, action, entity: toNamedObject(entity), ...department, ...fields };
}

export function makeUpdate(
  entity_type: EntityType,
  entity: NamedObject,
  from: object,
  to: object,
): AuditChange {
  const values = { previous_value: JSON.stringify(from), new_value: JSON.stringify(to) };
  return makeChange(entity_type, "updated", entity, values);
}

/** The target is the new parent (G31). */
export function makeMove(
  entity: NamedObject,
  from: NamedObject | null | undefined,
  to: NamedObject | null,
): AuditChange {
  const values = { previous_value: from?.id ?? null, new_value: to?.id ?? null };
  return makeChange("department", "reparented", entity, {
    target: to ? toNamedObject(to) : undefined,
    ...values,
  });
}

export function makeAccountChange(
  entity: NamedObject,
  from: User["account"],
  to: User["account"],
): AuditChange {
  const action = to === "active" ? "reactivated" : "deactivated";
  return makeChange("user", action, entity, { previous_value: from, new_value: to });
}

export function makeMembership(department: NamedObject, user: NamedObject): AuditChange[] {
  const entity = { id: `dmem_${department.id}_${user.id}`, name: `${department.name} member` };
  const fields = { target: toNamedObject(user), department_id: department.id };
  return ["membership_added", "membership_removed"].map((action) =>
    makeChange("department_membership", action, entity, fields),
  );
}

export function makeAssignment(role: NamedObject, user: NamedObject | undefined): AuditChange[] {
  if (user === undefined) return [];
  const entity = { id: `rasg_${role.id}_${user.id}`, name: role.name };
  const createEntry = (action: string, previous_value: string | null, new_value: string | null) =>
    makeChange("role_assignment", action, entity, { target: toNamedObject(user), previous_value, new_value });
  return [createEntry("assigned", null, role.name), createEntry("unassigned", role.name, null)];
}

export function makeGrant(knowledgeSlice: NamedObject, department: NamedObject | undefined): AuditChange[] {
  if (department === undefined) return [];
  const entity = { id: `kgrant_${knowledgeSlice.id}_${department.id}`, name: `Read ${knowledgeSlice.name}` };
  return ["created", "removed"].map((action) =>
    makeChange("knowledge_grant", action, entity, { target: toNamedObject(department) }),
  );
}
