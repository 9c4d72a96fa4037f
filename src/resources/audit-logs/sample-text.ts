import type { Random } from "../../state/random.ts";
import type { AuditLog, EntityType } from "./schema.ts";

interface Named {
  id: string;
  name: string;
}

/** Who and what the entries of one organization are about. */
export interface Cast {
  people: readonly (Named & { email: string })[];
  actors: readonly (Named & { email: string })[];
  departments: readonly Named[];
}

type Happening = [entity_type: EntityType, action: string];

/** Every type of entity and every action that 4.15 names; the first entries go through them in turn. */
const HAPPENINGS: readonly Happening[] = [
  ["user", "invited"],
  ["user", "created"],
  ["user", "updated"],
  ["user", "deactivated"],
  ["user", "reactivated"],
  ["user", "removed"],
  ["user", "deleted"],
  ["department", "created"],
  ["department", "updated"],
  ["department", "reparented"],
  ["department", "deleted"],
  ["department_membership", "membership_added"],
  ["department_membership", "membership_removed"],
  ["role", "created"],
  ["role", "updated"],
  ["role", "deleted"],
  ["role_assignment", "assigned"],
  ["role_assignment", "unassigned"],
  ["permission", "updated"],
  ["knowledge_slice", "created"],
  ["knowledge_slice", "updated"],
  ["vector_store", "created"],
  ["vector_store", "updated"],
  ["vector_store", "deleted"],
  ["knowledge_grant", "created"],
  ["knowledge_grant", "removed"],
  ["knowledge_composite", "created"],
  ["knowledge_composite", "updated"],
];

const named = (prefix: string, names: readonly string[]): Named[] =>
  names.map((name) => ({ id: prefix + name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_"), name }));

const THINGS: Readonly<Record<EntityType, readonly Named[]>> = {
  user: named("usr_former_", [
    "Nora Blum",
    "Theo Marsh",
    "Ines Duarte",
    "Oskar Lind",
    "Mei Tan",
    "Raul Vega",
  ]),
  department: named("dept_former_", ["Support", "Design", "Research", "Legal", "Finance", "Field Service"]),
  department_membership: named("dmem_", ["Support member", "Design member", "Research member"]),
  role: named("role_", ["Owner", "Admin", "Member", "Auditor", "Editor"]),
  role_assignment: named("rasg_", ["Admin", "Member", "Auditor", "Editor"]),
  permission: named("perm_", ["report-create", "store-manage", "member-invite"]),
  knowledge_slice: named("kslice_", ["Onboarding", "Price lists", "Incident reports", "Travel policy"]),
  vector_store: named("vs_former_", ["Handbook", "Contracts", "Support archive", "Release notes"]),
  knowledge_grant: named("kgrant_", ["Read Onboarding", "Read Price lists", "Edit Handbook"]),
  knowledge_composite: named("kcomp_", ["Company knowledge", "Sales kit", "Service desk"]),
};
const SYSTEM = { id: "usr_system", name: "System", email: "" };

/** One plausible entry, all but where and when. */
export function inventEntry(
  cast: Cast,
  random: Random,
  position: number,
): Omit<AuditLog, "id" | "organization_id" | "timestamp"> {
  const [entity_type, action] =
    position < HAPPENINGS.length ? HAPPENINGS[position]! : random.pick(HAPPENINGS);
  const actor = pickOr(random, cast.actors, pickOr(random, cast.people, SYSTEM));
  const entity = entityOf(entity_type, action, { cast, random });
  const target = targetOf(entity_type, action, { cast, random });
  const department =
    entity_type === "department"
      ? entity
      : entity_type === "department_membership"
        ? pickOr(random, cast.departments, undefined)
        : undefined;
  const [previous_value, new_value] = valuesOf(entity_type, action, random);
  return {
    entity_type,
    entity_id: entity.id,
    entity_name: entity.name,
    action,
    actor_id: actor.id,
    actor_name: actor.name,
    actor_email: actor.email,
    target_id: target?.id ?? null,
    target_name: target?.name ?? null,
    department_id: department?.id ?? null,
    previous_value: action === "reparented" ? pickOr(random, cast.departments, entity).id : previous_value,
    new_value: action === "reparented" ? (target?.id ?? null) : new_value,
  };
}

interface Stage {
  cast: Cast;
  random: Random;
}

/** Those who are still there cannot have been deleted. */
function entityOf(entity_type: EntityType, action: string, { cast, random }: Stage): Named {
  const gone = action === "deleted" || action === "removed";
  const things = THINGS[entity_type];
  if (entity_type === "user" && !gone) return pickOr(random, cast.people, things[0]!);
  if (entity_type === "department" && !gone) return pickOr(random, cast.departments, things[0]!);
  return random.pick(things);
}

function targetOf(entity_type: EntityType, action: string, { cast, random }: Stage): Named | undefined {
  switch (entity_type) {
    case "role_assignment":
    case "department_membership":
    case "permission":
      return pickOr(random, cast.people, THINGS.user[0]!);
    case "knowledge_grant":
      return pickOr(random, cast.departments, THINGS.department[0]!);
    default:
      return action === "reparented" ? pickOr(random, cast.departments, THINGS.department[0]!) : undefined;
  }
}

type Step = readonly [previous_value: string | null, new_value: string | null];

const ROLE_STEPS: readonly Step[] = [
  ["member", "admin"],
  ["admin", "member"],
  ["member", "auditor"],
];
const TEXT_STEPS: readonly Step[] = [
  ["Draft", "Final"],
  ["Internal", "Company-wide"],
  ["2025 edition", "2026 edition"],
];
const SWITCH_STEPS: readonly Step[] = [
  ["denied", "granted"],
  ["granted", "denied"],
];
const NOTHING: Step = [null, null];

function valuesOf(entity_type: EntityType, action: string, random: Random): Step {
  if (action === "assigned") return [null, random.pick(ROLE_STEPS)[1]];
  if (action === "unassigned") return [random.pick(ROLE_STEPS)[0], null];
  if (action === "deactivated") return ["active", "disabled"];
  if (action === "reactivated") return ["disabled", "active"];
  if (action !== "updated") return NOTHING;
  return random.pick(
    entity_type === "user" ? ROLE_STEPS : entity_type === "permission" ? SWITCH_STEPS : TEXT_STEPS,
  );
}

function pickOr<T>(random: Random, items: readonly T[], otherwise: T): T {
  return items.length === 0 ? otherwise : random.pick(items);
}
