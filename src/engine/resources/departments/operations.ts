import { Type } from "typebox";
import { ApiError, resourceNotFound } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id, Nullable } from "../../contract/schema.ts";
import { makeMove } from "../audit-logs/log-changes.ts";
import { recordAudit } from "../audit-logs/rules.ts";
import { ADMINISTRATOR_ERRORS, requireAdministrator } from "../organizations/access.ts";
import { departmentsFixture, makeDepartment } from "./fixtures.ts";
import { departmentStateRules, moveDepartment, wouldCycle } from "./rules.ts";
import { DepartmentBody, departments, renderDepartment } from "./schema.ts";

export const reparentDepartment = operation({
  id: "departments.reparent",
  section: "4.3",
  assumptions: ["G02", "G03", "G10", "G31"],
  assumed: { values: { "/color": "G10" } },
  route: "POST /v1/organizations/{organization_id}/departments/{department_id}/reparent",
  summary: "Move a department under another parent",
  description:
    "The department's descendants move with it, and get new paths and depths. `new_parent_id: null` makes the department top-level.",
  params: Type.Object({ organization_id: Id("org_"), department_id: Id("dept_") }),
  body: { kind: "json", schema: Type.Object({ new_parent_id: Nullable(Id("dept_")) }) },
  errors: [
    ...ADMINISTRATOR_ERRORS,
    "RESOURCE_NOT_FOUND",
    { code: "RESOURCE_NOT_FOUND", details: ["new_parent_id"] },
    "DEPARTMENT_CYCLE_DETECTED",
  ],
  success: { status: 200, schema: DepartmentBody },
  access(call) {
    const { organization_id, department_id } = call.params;
    const { new_parent_id } = call.body;
    requireAdministrator(call, organization_id);
    const department = call.world.get(departments, department_id);
    if (department?.organization_id !== organization_id)
      throw resourceNotFound("department_id", department_id);
    // The existence of the parent is checked with the other existence checks, cycles in `handle` (G04).
    const parent = new_parent_id === null ? undefined : call.world.get(departments, new_parent_id);
    if (new_parent_id !== null && parent?.organization_id !== organization_id)
      throw resourceNotFound("new_parent_id", new_parent_id);
    return { department, parent };
  },
  handle({ body: { new_parent_id }, params: { department_id }, world, principal }, { department, parent }) {
    if (parent && wouldCycle(department, parent)) {
      throw new ApiError("DEPARTMENT_CYCLE_DETECTED", { details: { department_id, new_parent_id } });
    }
    // A move to the current parent is not a change (G31).
    if (department.parent_id === new_parent_id) return renderDepartment(department, world);
    const moved = moveDepartment(world, department, parent);
    const move = makeMove(department, department.parent_id, parent);
    recordAudit(world, department.organization_id, move, principal.user_id);
    return renderDepartment(moved, world);
  },
});

export const departmentsResource = {
  name: "departments",
  collections: [departments],
  operations: [reparentDepartment],
  factories: { departments: makeDepartment },
  fixture: departmentsFixture,
  state: { departments: departmentStateRules },
} satisfies Resource;
