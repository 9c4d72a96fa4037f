import type { StateRules } from "../../contract/resource.ts";
import { anyOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { actorOf } from "./actor.ts";
import { type ChangeLog, changeLogs } from "./schema.ts";

const SAMPLES = { organization_user: "usr_", assistant: "asst_", rule: "rule_", document: "doc_" } as const;

/** Entries written by hand; they describe changes and are none, so nothing follows from them. */
export const changeLogRules: StateRules<ChangeLog> = {
  complete(fields, tx, { random }) {
    const organization_id = fields.organization_id ?? anyOf(tx, organizations, "organization_id").id;
    const resource_type = fields.resource_type ?? "assistant";
    return {
      organization_id,
      resource_type,
      timestamp: tx.now,
      resource_id: SAMPLES[resource_type] + random.letters(12),
      resource_name: "Untitled",
      action: "updated",
      changes: [],
      ...actorOf(tx, fields.user_id, organization_id),
      ...fields,
    };
  },
  insert(tx, record) {
    referred(tx, organizations, { field: "organization_id", id: record.organization_id });
    return tx.insert(changeLogs, record);
  },
};
