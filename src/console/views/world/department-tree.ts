import type { StateRecord } from "../../api/types.ts";

export type Department = StateRecord<"departments">;

export interface Branch {
  department: Department;
  children: readonly Branch[];
}

export interface Move {
  department: Department;
  /** Null makes it top-level. */
  parent: Department | null;
}

/** The departments of one organization as a tree, by name. */
export function treeOf(departments: readonly Department[]): readonly Branch[] {
  const below = new Map<string | null, Department[]>();
  for (const department of departments) {
    const siblings = below.get(department.parent_id);
    if (siblings) siblings.push(department);
    else below.set(department.parent_id, [department]);
  }
  const branches = (parent: string | null): readonly Branch[] =>
    (below.get(parent) ?? [])
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .map((department) => ({ department, children: branches(department.id) }));
  return branches(null);
}
