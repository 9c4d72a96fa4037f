import { type Static, Type } from "typebox";
import { belongsTo } from "../../contract/references.ts";
import { Id, Instant, Nullable, StringEnum, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/** All types of entities; the reference (4.15) allows no others. */
export const ENTITY_TYPES = [
  "user",
  "department",
  "role",
  "role_assignment",
  "department_membership",
  "permission",
  "knowledge_slice",
  "vector_store",
  "knowledge_grant",
  "knowledge_composite",
] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

/** The actions that section 4.15 names; since there may be "further values", the field accepts any text. */
export const NAMED_ACTIONS = [
  "created",
  "updated",
  "deleted",
  "invited",
  "deactivated",
  "reactivated",
  "removed",
  "assigned",
  "unassigned",
  "reparented",
  "membership_added",
  "membership_removed",
] as const;

/** One entry of an organization's audit log, with the names at the time of the change. */
export const AuditLog = Type.Object({
  id: Id("log_"),
  organization_id: Id("org_", belongsTo("organizations")),
  timestamp: Instant(),
  // `entity` is the changed record, such as a department; `target` is whom the change concerns, such as a new member.
  entity_type: StringEnum(ENTITY_TYPES),
  entity_id: Type.String({ minLength: 1 }),
  entity_name: Type.String(),
  action: Type.String({ minLength: 1 }),
  actor_id: UserId(),
  actor_name: Type.String(),
  actor_email: Type.String(),
  target_id: Nullable(Type.String()),
  target_name: Nullable(Type.String()),
  department_id: Nullable(Id("dept_")),
  previous_value: Nullable(Type.String()),
  new_value: Nullable(Type.String()),
});
export type AuditLog = Static<typeof AuditLog>;

export const auditLogs = collection({
  name: "audit_logs",
  schema: AuditLog,
  // Indexed by organization only: another index would slow each change, while exports are rare and may scan.
  indexes: {
    by_organization: { groups: ({ organization_id }) => [organization_id], order: (log) => -log.timestamp },
  },
});
