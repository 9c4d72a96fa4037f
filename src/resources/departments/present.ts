import type { WorldReader } from "../../state/transaction.ts";
import type { Department } from "./schema.ts";

export function presentDepartment(department: Department, world: WorldReader) {
  return { ...department, created_at: world.iso(department.created_at) };
}
