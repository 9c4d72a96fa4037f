import type { Factory } from "../../contract/factory.ts";
import { inventTeam } from "../../contract/invent.ts";
import { firstRecord } from "../../contract/references.ts";
import { authorOf } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { placeUnder } from "./rules.ts";
import { type Department, departments } from "./schema.ts";

const DAY_MS = 86_400_000;

/** Path and depth follow from the parent; a fixture, whose tree is only growing, says them itself. */
export const makeDepartment: Factory<Department> = (given, context) => {
  const { random, world, past, now } = context;
  const id = given.id ?? context.newId("dept_");
  const above = given.path === undefined ? given.parent_id : undefined;
  const parent = above == null ? undefined : world.get(departments, above);
  const place = placeUnder(id, parent);
  const organization_id =
    given.organization_id ??
    parent?.organization_id ??
    firstRecord(world, organizations, "organization_id").id;
  const name = given.name ?? inventTeam(context);
  const member_count = given.member_count ?? (past ? random.int(1, 30) : 0);
  const created_by = given.created_by ?? authorOf(world, organization_id);
  return {
    id,
    name,
    description: given.description ?? `${name} at a glance: people, plans and knowledge of the department.`,
    parent_id: given.parent_id ?? null,
    path: given.path ?? place.path,
    depth: given.depth ?? place.depth,
    organization_id,
    member_count,
    is_active: given.is_active ?? true,
    is_default: given.is_default ?? false,
    color: given.color ?? null,
    created_by,
    // Nobody makes anything before they are there themselves.
    created_at:
      given.created_at ??
      (past
        ? Math.max(-random.int(30, 300) * DAY_MS, world.get(users, created_by)?.created_at ?? -Infinity)
        : now),
  };
};
