import { type Static, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Description, Id, Instant, Nullable, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/** A department (section 2.2). */
export const Department = Type.Object({
  id: Id("dept_"),
  name: Type.String({ minLength: 1 }),
  description: Description(),
  parent_id: Nullable(Id("dept_", belongsTo("departments"))),
  path: Type.String(),
  depth: Type.Integer({ minimum: 0 }),
  organization_id: Id("org_", belongsTo("organizations")),
  member_count: Type.Integer({ minimum: 0 }),
  is_active: Type.Boolean(),
  is_default: Type.Boolean(),
  color: Nullable(Type.String({ pattern: "^#[0-9a-fA-F]{6}$" })),
  created_by: UserId(mentions("users")),
  created_at: Instant(),
});
export type Department = Static<typeof Department>;

export const { schema: DepartmentBody, render: renderDepartment } = publicView(Department, {
  $id: "Department",
});

export const departments = collection({
  name: "departments",
  schema: Department,
  indexes: {
    by_parent: { groups: "parent_id", order: ({ id }) => id },
    by_organization: { groups: "organization_id", order: ({ id }) => id },
  },
});
