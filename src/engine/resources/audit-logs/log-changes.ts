import type { User } from "../users/schema.ts";
import type { EntityType } from "./schema.ts";

export interface NamedObject {
  id: string;
  name: string;
}

/** An entry of the log without its id, its organization, its instant and its actor. */
export interface AuditChange {
  entity_type: EntityType;
  action: string;
  entity: NamedObject;
  target?: NamedObject | undefined;
  department_id?: string;
  previous_value?: string | null;
  new_value?: string | null;
}

export function makeChange(
  entity_type: EntityType,
  action: string,
  entity: NamedObject,
  fields: Partial<AuditChange> = {},
): AuditChange {
  const department = entity_type === "department" ? { department_id: entity.id } : {};
  return { entity_type, action, entity, ...department, ...fields };
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

/** A move of a department; the target is the new parent, empty at top level (G31). */
export function makeMove(
  department: NamedObject,
  previous_value: string | null,
  parent: NamedObject | undefined,
): AuditChange {
  const values = { previous_value, new_value: parent?.id ?? null };
  return makeChange("department", "reparented", department, { target: parent, ...values });
}

/** A changed account status; section 4.15 calls a suspended or disabled user deactivated. */
export function makeAccountChange(
  user: NamedObject,
  from: User["account"],
  to: User["account"],
): AuditChange {
  const inactiveAction = from === "active" ? "deactivated" : "updated";
  const action = to === "active" ? "reactivated" : inactiveAction;
  return makeChange("user", action, user, { previous_value: from, new_value: to });
}

/** A granted or denied capability, which section 4.15 calls a permission. */
export function makeCapabilityChange(name: string, user: NamedObject, isGranted: boolean): AuditChange {
  const entity = { id: `perm_${name.replaceAll("-", "_")}`, name };
  const [previous_value, new_value] = isGranted ? ["denied", "granted"] : ["granted", "denied"];
  return makeChange("permission", "updated", entity, { target: user, previous_value, new_value });
}

/** The two steps of a lifecycle: a user joins a department and leaves it. */
export function makeMembershipSteps(department: NamedObject, user: NamedObject): AuditChange[] {
  const entity = { id: `dmem_${department.id}_${user.id}`, name: `${department.name} member` };
  const fields = { target: user, department_id: department.id };
  return ["membership_added", "membership_removed"].map((action) =>
    makeChange("department_membership", action, entity, fields),
  );
}

export function makeAssignmentSteps(role: NamedObject, user: NamedObject | undefined): AuditChange[] {
  if (user === undefined) return [];
  const entity = { id: `rasg_${role.id}_${user.id}`, name: role.name };
  return [
    makeChange("role_assignment", "assigned", entity, { target: user, new_value: role.name }),
    makeChange("role_assignment", "unassigned", entity, { target: user, previous_value: role.name }),
  ];
}

export function makeGrantSteps(slice: NamedObject, department: NamedObject | undefined): AuditChange[] {
  if (department === undefined) return [];
  const entity = { id: `kgrant_${slice.id}_${department.id}`, name: `Read ${slice.name}` };
  return ["created", "removed"].map((action) =>
    makeChange("knowledge_grant", action, entity, { target: department }),
  );
}
