import type { Resource } from "../../contract/resource.ts";
import { auditLogs } from "./schema.ts";

export const auditLogsResource: Resource = {
  name: "audit_logs",
  collections: [auditLogs],
  operations: [],
};
