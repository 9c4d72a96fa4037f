import type { StateRules } from "../../contract/resource.ts";
import { removeJobsOf } from "../connector-jobs/rules.ts";
import { anyOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { type Connection, connections } from "./schema.ts";
import { nameFor, toolkitFor } from "./seed.ts";

export const connectionRules: StateRules<Connection> = {
  complete(fields, tx, { random }) {
    const toolkit = fields.toolkit ?? toolkitFor(fields.id ?? "", random);
    return {
      organization_id: fields.organization_id ?? anyOf(tx, organizations, "organization_id").id,
      name: nameFor(toolkit, random),
      created_at: tx.now,
      ...fields,
      toolkit,
    };
  },
  insert(tx, record) {
    referred(tx, organizations, { field: "organization_id", id: record.organization_id });
    return tx.insert(connections, record);
  },
  update(tx, _before, after) {
    referred(tx, organizations, { field: "organization_id", id: after.organization_id });
    return tx.put(connections, after);
  },
  remove(tx, { id, organization_id }) {
    removeJobsOf(tx, organization_id, id);
    tx.remove(connections, id);
  },
};
