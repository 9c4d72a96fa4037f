import Type, { type Static } from "typebox";
import { Id, Instant, Nullable, Timestamp, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

const fields = {
  id: Id("dept_"),
  name: Type.String({ minLength: 1 }),
  description: Type.String(),
  parent_id: Nullable(Id("dept_")),
  path: Type.String(),
  depth: Type.Integer({ minimum: 0 }),
  organization_id: Id("org_"),
  member_count: Type.Integer({ minimum: 0 }),
  is_active: Type.Boolean(),
  is_default: Type.Boolean(),
  color: Nullable(Type.String({ pattern: "^#[0-9a-f]{6}$" })),
  created_by: UserId(),
};

/** Section 2.2, as it is stored. */
export const Department = Type.Object({ ...fields, created_at: Instant() });
export type Department = Static<typeof Department>;

/** Section 2.2, as it is answered. */
export const DepartmentBody = Type.Object({ ...fields, created_at: Timestamp() }, { $id: "Department" });

export const departments = collection<Department>({
  name: "departments",
  prefix: "dept_",
  idField: "id",
  schema: Department,
  indexes: {
    by_parent: {
      groups: ({ parent_id, organization_id }) => [parent_id ?? `top/${organization_id}`],
      order: ({ id }) => id,
    },
    by_organization: { groups: ({ organization_id }) => [organization_id], order: ({ id }) => id },
  },
});
