import type { Resource } from "../../contract/resource.ts";
import { departmentsFixture, makeDepartment } from "./fixtures.ts";
import { reparentDepartment } from "./operations.ts";
import { departments } from "./schema.ts";
import { departmentState } from "./state.ts";

export const departmentsResource = {
  name: "departments",
  collections: [departments],
  operations: [reparentDepartment],
  factories: { departments: makeDepartment },
  fixture: departmentsFixture,
  state: { departments: departmentState },
} satisfies Resource;
