import type { StateRules } from "../../contract/resource.ts";
import { removeJobsOf } from "../connector-jobs/rules.ts";
import { type Connection, connections } from "./schema.ts";

export const connectionRules: StateRules<Connection> = {
  remove(tx, { id, organization_id }) {
    removeJobsOf(tx, organization_id, id);
    tx.remove(connections, id);
  },
};
