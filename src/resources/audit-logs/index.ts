import type { Resource } from "../../contract/resource.ts";
import { exportAuditLog } from "./operations.ts";
import { auditLogs } from "./schema.ts";
import { auditLogFixture } from "./seed.ts";
import { auditLogState } from "./state.ts";

export const auditLogsResource: Resource = {
  name: "audit_logs",
  collections: [auditLogs],
  operations: [exportAuditLog],
  fixture: auditLogFixture,
  state: { audit_logs: auditLogState },
};
