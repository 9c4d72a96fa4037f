import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { auditActor } from "./record.ts";
import { type AuditLog, auditLogs } from "./schema.ts";

/** Entries that somebody writes by hand; the log does not log itself. */
export const auditLogState: StateRules<AuditLog> = {
  complete(fields, tx) {
    const organization_id = fields.organization_id ?? tx.all(organizations).page(0, 1)[0]?.id ?? "org_acme";
    const actor_id = fields.actor_id ?? auditActor(tx, { user_id: undefined }, organization_id);
    const actor = tx.get(users, actor_id);
    return {
      timestamp: tx.now,
      entity_type: "user",
      entity_id: actor_id,
      entity_name: actor?.name ?? actor_id,
      action: "updated",
      actor_name: actor?.name ?? actor_id,
      actor_email: actor?.email ?? "",
      target_id: null,
      target_name: null,
      department_id: null,
      previous_value: null,
      new_value: null,
      ...fields,
      organization_id,
      actor_id,
    };
  },
  insert(tx, record) {
    if (tx.get(organizations, record.organization_id) === undefined) {
      throw invalidInput("organization_id", record.organization_id, "there is no such organization");
    }
    return tx.insert(auditLogs, record);
  },
};
