import type { Resource } from "../../contract/resource.ts";
import { makeAuditLog } from "./make.ts";
import { exportAuditLog } from "./operations.ts";
import { auditLogs } from "./schema.ts";
import { auditLogFixture } from "./seed.ts";

export const auditLogsResource = {
  name: "audit_logs",
  collections: [auditLogs],
  operations: [exportAuditLog],
  factories: { audit_logs: makeAuditLog },
  fixture: auditLogFixture,
} satisfies Resource;
