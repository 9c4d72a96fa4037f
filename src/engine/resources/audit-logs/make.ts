import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { auditActor } from "./record.ts";
import type { AuditLog } from "./schema.ts";

/** An entry that somebody writes by hand; the log does not log itself. */
export const makeAuditLog: Factory<AuditLog> = (given, context) => {
  const { world, now } = context;
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  const actor_id = given.actor_id ?? auditActor(world, { user_id: undefined }, organization_id);
  const actor = world.get(users, actor_id);
  return {
    id: given.id ?? context.newId("log_"),
    organization_id,
    timestamp: given.timestamp ?? now,
    entity_type: given.entity_type ?? "user",
    entity_id: given.entity_id ?? actor_id,
    entity_name: given.entity_name ?? actor?.name ?? actor_id,
    action: given.action ?? "updated",
    actor_id,
    // Somebody who is gone is still named by what is left of them.
    actor_name: given.actor_name ?? actor?.name ?? actor_id,
    actor_email: given.actor_email ?? actor?.email ?? "",
    target_id: given.target_id ?? null,
    target_name: given.target_name ?? null,
    department_id: given.department_id ?? null,
    previous_value: given.previous_value ?? null,
    new_value: given.new_value ?? null,
  };
};
