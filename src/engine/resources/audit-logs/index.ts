import type { Resource } from "../../contract/resource.ts";
import { auditLogFixture, makeAuditLog } from "./fixtures.ts";
import { exportAuditLog } from "./operations.ts";
import { auditLogs } from "./schema.ts";

export const auditLogsResource = {
  name: "audit_logs",
  collections: [auditLogs],
  operations: [exportAuditLog],
  factories: { audit_logs: makeAuditLog },
  fixture: auditLogFixture,
} satisfies Resource;
