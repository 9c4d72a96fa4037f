import type { Resource } from "../../contract/resource.ts";
import { makeDepartment } from "./make.ts";
import { reparentDepartment } from "./operations.ts";
import { departments } from "./schema.ts";
import { departmentsFixture } from "./seed.ts";
import { departmentState } from "./state.ts";

export const departmentsResource = {
  name: "departments",
  collections: [departments],
  operations: [reparentDepartment],
  factories: { departments: makeDepartment },
  fixture: departmentsFixture,
  state: { departments: departmentState },
} satisfies Resource;
