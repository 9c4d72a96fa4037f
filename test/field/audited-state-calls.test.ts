import { expect, it } from "vitest";
import { exportRows } from "../support/audit-rows.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();
const today = "?from_date=2026-03-15T12:00:00Z";
let earlier = 0;

/**
 * Makes a state call and returns its audit entries, oldest first: entity type, entity name, action, old and new value.
 */
async function listAuditEntries(line: string, body?: object) {
  const [method = "", path] = line.split(" ");
  const call = await api.call(undefined, method, `/_control/sandboxes/default/state/${path}`, body);
  expect(call.status, call.text).toBeLessThan(300);
  const rows = await exportRows(api, today);
  const added = rows.slice(0, rows.length - earlier).toReversed();
  earlier = rows.length;
  return added.map((row) => [
    ...[row["Entity Type"], row["Entity Name"], row["Action"], row["Previous Value"], row["New Value"]],
  ]);
}

const DEPARTMENT = { id: "dept_lab", organization_id: "org_acme", name: "Lab", parent_id: null };

it.each<[string, string, object | undefined, string[][]]>([
  [
    "another role",
    "PATCH users/usr_dan",
    { memberships: { org_acme: "admin" } },
    [
      ["role_assignment", "member", "unassigned", "member", ""],
      ["role_assignment", "admin", "assigned", "", "admin"],
    ],
  ],
  [
    "a role that is lost",
    "PATCH users/usr_dan",
    { memberships: {} },
    [["role_assignment", "admin", "unassigned", "admin", ""]],
  ],
  [
    "a role that is gained",
    "PATCH users/usr_dan",
    { memberships: { org_acme: "member" } },
    [["role_assignment", "member", "assigned", "", "member"]],
  ],
  [
    "a capability that is granted",
    "PATCH users/usr_dan",
    { capabilities: { org_acme: ["report-create"] } },
    [["permission", "report-create", "updated", "denied", "granted"]],
  ],
  [
    "a capability that is denied",
    "PATCH users/usr_dan",
    { capabilities: {} },
    [["permission", "report-create", "updated", "granted", "denied"]],
  ],
  [
    "a suspended account",
    "PATCH users/usr_dan",
    { account: "suspended" },
    [["user", "Dan Whitfield", "deactivated", "active", "suspended"]],
  ],
  [
    "an account that is active again",
    "PATCH users/usr_dan",
    { account: "active" },
    [["user", "Dan Whitfield", "reactivated", "suspended", "active"]],
  ],
  ["a new department", "POST departments", DEPARTMENT, [["department", "Lab", "created", "", ""]]],
  [
    "a department that is switched off",
    "PATCH departments/dept_lab",
    { is_active: false },
    [["department", "Lab", "deactivated", '{"is_active":true}', '{"is_active":false}']],
  ],
  [
    "a department that is switched on and renamed",
    "PATCH departments/dept_lab",
    { is_active: true, name: "Labs" },
    [
      ["department", "Labs", "updated", '{"name":"Lab"}', '{"name":"Labs"}'],
      ["department", "Labs", "reactivated", '{"is_active":false}', '{"is_active":true}'],
    ],
  ],
  [
    "a department that moves",
    "PATCH departments/dept_lab",
    { parent_id: "dept_acme" },
    [["department", "Labs", "reparented", "", "dept_acme"]],
  ],
  [
    "a deleted department",
    "DELETE departments/dept_lab",
    undefined,
    [["department", "Labs", "deleted", "", ""]],
  ],
  [
    "a department that is made again",
    "POST departments",
    DEPARTMENT,
    [["department", "Lab", "created", "", ""]],
  ],
  [
    "a new store",
    "POST vector_stores",
    { id: "vs_lab", organization_id: "org_acme", name: "Lab" },
    [["vector_store", "Lab", "created", "", ""]],
  ],
  ["a deleted store", "DELETE vector_stores/vs_lab", undefined, [["vector_store", "Lab", "deleted", "", ""]]],
  ["a deleted user", "DELETE users/usr_dan", undefined, [["user", "Dan Whitfield", "deleted", "", ""]]],
])("%s is audited in the words of 4.15 [4.15, G31]", async (_what, call, body, entries) => {
  expect(await listAuditEntries(call, body)).toEqual(entries);
});
