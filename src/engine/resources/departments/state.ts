import { invalidInput } from "../../contract/errors.ts";
import type { StateActor, StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { changedFields, recordStateAudit } from "../audit-logs/record.ts";
import { listDescendants, moveDepartment, placeUnder, reparentedEntry, wouldCycle } from "./rules.ts";
import { type Department, departments } from "./schema.ts";

/** Path and depth follow from the parent and are never taken as given; the tree stays a tree. */
export const departmentState: StateRules<Department> = {
  insert(tx, record, actor) {
    const place = placeUnder(record.id, findParent(tx, record));
    refuseOwnPlace(record, place, place);
    const inserted = tx.insert(departments, { ...record, ...place });
    audit(tx, actor, { department: inserted, action: "created" });
    return inserted;
  },
  update(tx, before, after, actor) {
    if (after.organization_id !== before.organization_id)
      throw invalidInput("organization_id", after.organization_id, "a department stays in its organization");
    const parent = findParent(tx, after);
    if (parent && wouldCycle(before, parent))
      throw invalidInput("parent_id", after.parent_id, "the move would create a cycle");
    const place = placeUnder(after.id, parent);
    refuseOwnPlace(after, place, before);
    const kept = tx.put(departments, {
      ...after,
      parent_id: before.parent_id,
      path: before.path,
      depth: before.depth,
    });
    const values = changedFields(before, kept);
    if (values !== undefined) audit(tx, actor, { department: kept, action: "updated", ...values });
    if (after.parent_id === before.parent_id) return kept;
    recordStateAudit(tx, actor, reparentedEntry(kept, parent));
    return moveDepartment(tx, kept, parent);
  },
  /**
   * With everything below it, from the leaves up: refusing would leave a test to take the tree down by
   * hand, and departments without a parent that exists would break their paths.
   */
  remove(tx, record, actor) {
    for (const department of [record, ...listDescendants(tx, record)].reverse())
      audit(tx, actor, { department, action: "deleted" });
  },
};

function findParent(tx: Transaction, { parent_id, organization_id }: Department): Department | undefined {
  if (parent_id === null) return undefined;
  const parent = tx.get(departments, parent_id);
  if (parent?.organization_id !== organization_id)
    throw invalidInput("parent_id", parent_id, "there is no such department in this organization");
  return parent;
}

type Place = Pick<Department, "path" | "depth">;

/** A path or depth in the request that contradicts the parent. */
function refuseOwnPlace(given: Department, derived: Place, before: Place): void {
  for (const field of ["path", "depth"] as const) {
    if (given[field] !== derived[field] && given[field] !== before[field])
      throw invalidInput(
        field,
        given[field],
        `${field} follows from the parent; here it is ${derived[field]}`,
      );
  }
}

function audit(
  tx: Transaction,
  actor: StateActor,
  {
    department,
    ...rest
  }: { department: Department; action: string; previous_value?: string; new_value?: string },
): void {
  recordStateAudit(tx, actor, {
    organization_id: department.organization_id,
    entity_type: "department",
    entity_id: department.id,
    entity_name: department.name,
    department_id: department.id,
    ...rest,
  });
}
