import { invalidInput } from "../../contract/errors.ts";
import type { StateActor, StateRules } from "../../contract/resource.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { type AuditChange, makeChange, makeMove } from "../audit-logs/log-changes.ts";
import { recordStateAudit, toAuditValues } from "../audit-logs/rules.ts";
import { type Department, departments } from "./schema.ts";

/**
 * Whether the new parent is the department itself or one of its descendants (section 3.5). The ids are compared too, since
 * the paths of an uploaded world may be wrong.
 */
export function wouldCycle(department: Department, newParent: Department): boolean {
  return newParent.id === department.id || `/${newParent.path}/`.includes(`/${department.id}/`);
}

/** A top-level department is at depth 0, and its path is its own id (G10). */
export function derivePath(id: string, parent: Department | undefined): { path: string; depth: number } {
  return parent === undefined
    ? { path: id, depth: 0 }
    : { path: `${parent.path}/${id}`, depth: parent.depth + 1 };
}

/**
 * Moves a department with all its descendants, in the caller's transaction. Each path is the parent's path and an id, so
 * that JavaScript stores the common beginning once.
 */
export function moveDepartment(
  tx: Transaction,
  department: Department,
  parent: Department | undefined,
): Department {
  const { path, depth } = derivePath(department.id, parent);
  const moved = tx.put(departments, { ...department, parent_id: parent?.id ?? null, path, depth });
  const changed = [moved];
  // The loop also reaches the departments that it adds.
  for (const current of changed)
    for (const child of tx.index(departments, "by_parent", current.id))
      changed.push({ ...child, ...derivePath(child.id, current) });
  tx.putAll(departments, changed.slice(1));
  return moved;
}

/** Everything below a department, parents before their children; a recursion would overflow with long chains. */
function listDescendants(world: WorldReader, { id }: Department): Department[] {
  const descendants = [...world.index(departments, "by_parent", id)];
  // The loop also reaches the departments that it adds.
  for (const current of descendants)
    for (const child of world.index(departments, "by_parent", current.id)) descendants.push(child);
  return descendants;
}

/** Path and depth always follow from the parent. No change creates a cycle. */
export const departmentStateRules: StateRules<Department> = {
  insert(tx, record, actor) {
    const position = derivePath(record.id, findParent(tx, record));
    refuseContradiction(record, position);
    const inserted = tx.insert(departments, { ...record, ...position });
    recordDepartmentAudit(tx, actor, inserted, "created");
    return inserted;
  },
  update(tx, before, after, actor) {
    if (after.organization_id !== before.organization_id)
      throw invalidInput("organization_id", after.organization_id, "a department stays in its organization");
    const parent = findParent(tx, after);
    if (parent && wouldCycle(before, parent))
      throw invalidInput("parent_id", after.parent_id, "the move would create a cycle");
    const position = derivePath(after.id, parent);
    refuseContradiction(after, position, before);
    // At its old position first: the move below is a change of its own, with its own audit entry.
    const { parent_id, path, depth } = before;
    const stored = tx.put(departments, { ...after, parent_id, path, depth });
    const values = toAuditValues(before, stored, ["is_active"]);
    if (values !== undefined) recordDepartmentAudit(tx, actor, stored, "updated", values);
    if (stored.is_active !== before.is_active) {
      const change = toAuditValues({ is_active: before.is_active }, { is_active: stored.is_active });
      recordDepartmentAudit(tx, actor, stored, stored.is_active ? "reactivated" : "deactivated", change);
    }
    if (after.parent_id === before.parent_id) return stored;
    recordStateAudit(tx, actor, stored.organization_id, makeMove(stored, before.parent_id, parent));
    return moveDepartment(tx, stored, parent);
  },
  /**
   * Records the deletion of a department and of everything below it, from the leaves up. The caller deletes the
   * descendants too: a refusal would be inconvenient for tests, and departments with a missing parent would have invalid
   * paths.
   */
  beforeRemove(tx, record, actor) {
    for (const department of [record, ...listDescendants(tx, record)].reverse())
      recordDepartmentAudit(tx, actor, department, "deleted");
  },
};

/** Undefined at the top level. @throws ApiError for a parent that the organization does not have */
function findParent(tx: Transaction, { parent_id, organization_id }: Department): Department | undefined {
  if (parent_id === null) return undefined;
  const parent = tx.get(departments, parent_id);
  if (parent?.organization_id !== organization_id)
    throw invalidInput("parent_id", parent_id, "there is no such department in this organization");
  return parent;
}

type TreePosition = Pick<Department, "path" | "depth">;

/** Refuses a path or depth in the request that contradicts the parent, unless it is the value from before the change. */
function refuseContradiction(after: Department, derived: TreePosition, before = derived): void {
  for (const field of ["path", "depth"] as const) {
    if (after[field] !== derived[field] && after[field] !== before[field])
      throw invalidInput(
        field,
        after[field],
        `${field} follows from the parent; here it is ${derived[field]}`,
      );
  }
}

function recordDepartmentAudit(
  tx: Transaction,
  actor: StateActor,
  department: Department,
  action: string,
  values?: Partial<AuditChange>,
): void {
  const change = makeChange("department", action, department, values);
  recordStateAudit(tx, actor, department.organization_id, change);
}
