import type { Random } from "../../state/random.ts";
import type { Named, Past, Person, Tie, Told } from "./past.ts";
import { slug } from "./past.ts";
import type { Roster } from "./roster.ts";
import {
  COMPOSITES,
  CUSTOM_ROLES,
  EARLIER_DESCRIPTIONS,
  FORMER_DEPARTMENTS,
  FORMER_PEOPLE,
  FORMER_STORES,
  PERMISSIONS,
  SLICES,
} from "./sample-text.ts";
import type { EntityType } from "./schema.ts";
import {
  moveBack,
  named,
  setAccount,
  tieAgain,
  unmakeDepartment,
  unmakePerson,
  unmakeThing,
  unset,
  untie,
} from "./undo.ts";

/** Undoes one operation that may have been the latest; empty where none of its kind can have been. Newest first. */
export type Happening = (past: Past, random: Random) => Told[];

const personDeleted =
  (action: string): Happening =>
  (past, random) => {
    const { id, name } = past.invent("usr_former_", random, FORMER_PEOPLE);
    const email = `${slug(name).replaceAll("_", ".")}@example.test`;
    const account = random.pick(["active", "disabled"] as const);
    const person: Person = { id, name, email, account, administers: false, capabilities: [] };
    past.people.add(person);
    return [{ entity_type: "user", action, entity: named(person) }];
  };

const deactivated: Happening = (past, random) => {
  const person = past.people.pick(random, ({ account }) => account !== "active");
  return person ? [setAccount(past, person, "active")] : [];
};

/** Those who are there today have other logs, in which they act: they were never out of service in between. */
const reactivated: Happening = (past, random) => {
  const person = past.people.pick(random, ({ id, account }) => account === "active" && past.former.has(id));
  return person ? [setAccount(past, person, "disabled")] : [];
};

const emailChanged: Happening = (past, random) => {
  const person = past.people.pick(random, ({ id }) => past.former.has(id));
  if (person === undefined) return [];
  const [local = "", domain = "example.test"] = person.email.split("@");
  const value = `${local.replace(/\.\d+$/, "")}.${random.int(2, 999)}@${domain}`;
  return value === person.email ? [] : [unset("user", person, { field: "email", value })];
};

const personCreated: Happening = (past, random) => {
  const person = past.people.pick(random, ({ id }) => past.former.has(id));
  return person ? unmakePerson(past, person) : [];
};

/** Who was invited and never came is of the past too. */
const personInvited: Happening = (past, random) => {
  const person = past.invited.pop() ?? past.invent("usr_invited_", random, FORMER_PEOPLE);
  return [{ entity_type: "user", action: "invited", entity: named(person) }];
};

const departmentDeleted: Happening = (past, random) => {
  const parent = past.departments.pick(random);
  const invented = past.invent("dept_former_", random, FORMER_DEPARTMENTS);
  const description = random.pick(EARLIER_DESCRIPTIONS);
  const place = past.addDepartment({ ...invented, parent_id: parent?.id ?? null, description });
  return [{ entity_type: "department", action: "deleted", entity: named(place), department_id: place.id }];
};

const departmentMoved: Happening = (past, random) => {
  const place = past.departments.pick(random);
  if (place === undefined) return [];
  const fits = (other: Named) => other.id !== place.parent_id;
  const found = past.departments.pick(random, (other) => fits(other) && !past.isWithin(other, place));
  if (found === undefined && place.parent_id === null) return [];
  const toTop = found === undefined || (place.parent_id !== null && random.chance(0.2));
  return [moveBack(past, place, toTop ? null : found.id)];
};

const departmentDescribed: Happening = (past, random) => {
  const place = past.departments.pick(random);
  const value = random.pick(EARLIER_DESCRIPTIONS);
  if (place === undefined || place.description === value) return [];
  return [unset("department", place, { field: "description", value })];
};

const departmentCreated: Happening = (past, random) => {
  const fits = ({ id }: Named) => past.former.has(id) && past.childrenOf(id).length === 0;
  const place = past.departments.pick(random, fits);
  return place ? unmakeDepartment(past, place) : [];
};

/** Roles, stores, slices and composites: things with a name. */
interface Kind {
  entity_type: EntityType;
  prefix: string;
  names: readonly string[];
  of: (past: Past) => Roster<Named>;
  /** Whether nothing of today speaks against one that still exists. */
  free?: boolean;
}

const ROLE: Kind = { entity_type: "role", prefix: "role_", names: CUSTOM_ROLES, of: ({ roles }) => roles };
const STORE: Kind = {
  entity_type: "vector_store",
  prefix: "vs_former_",
  names: FORMER_STORES,
  of: ({ stores }) => stores,
};
const SLICE: Kind = {
  entity_type: "knowledge_slice",
  prefix: "kslice_",
  names: SLICES,
  of: ({ slices }) => slices,
  free: true,
};
const COMPOSITE: Kind = {
  entity_type: "knowledge_composite",
  prefix: "kcomp_",
  names: COMPOSITES,
  of: ({ composites }) => composites,
  free: true,
};

const thingDeleted =
  ({ entity_type, prefix, names, of }: Kind): Happening =>
  (past, random) => {
    const thing = of(past).add(past.invent(prefix, random, names));
    return [{ entity_type, action: "deleted", entity: named(thing) }];
  };

const thingRenamed =
  ({ entity_type, of }: Kind): Happening =>
  (past, random) => {
    const thing = of(past).pick(random);
    if (thing === undefined) return [];
    const value = /^(.*) \(draft\)$/.exec(thing.name)?.[1] ?? `${thing.name} (draft)`;
    return [unset(entity_type, thing, { field: "name", value })];
  };

const thingCreated =
  ({ entity_type, prefix, names, of, free }: Kind): Happening =>
  (past, random) => {
    const roster = of(past);
    const found = roster.pick(random, ({ id }) => free === true || past.former.has(id));
    const thing = found ?? (free ? past.invent(prefix, random, names) : undefined);
    return thing ? unmakeThing(past, entity_type, { thing, roster }) : [];
  };

const membership = (past: Past, random: Random) =>
  tieOf("department_membership", past.departments.pick(random), past.people.pick(random));
const assignment = (past: Past, random: Random) =>
  tieOf("role_assignment", past.roles.pick(random), past.people.pick(random));
const grant = (past: Past, random: Random) =>
  tieOf("knowledge_grant", past.slices.pick(random), past.departments.pick(random));

function tieOf(kind: Tie["kind"], of: Named | undefined, to: Named | undefined): Tie | undefined {
  return of && to ? { kind, of, to } : undefined;
}

type Draw = (past: Past, random: Random) => Tie | undefined;

const MAX_DRAWS = 8;

function drawn(past: Past, random: Random, { draw, fits }: { draw: Draw; fits: (tie: Tie) => boolean }) {
  for (let draws = 0; draws < MAX_DRAWS; draws++) {
    const tie = draw(past, random);
    if (tie && fits(tie)) return tie;
  }
  return undefined;
}

const begun =
  (draw: Draw): Happening =>
  (past, random) => {
    const tie = drawn(past, random, { draw, fits: (found) => past.isTied(found) !== false });
    return tie ? [untie(past, tie)] : [];
  };

const ended =
  (draw: Draw): Happening =>
  (past, random) => {
    const tie = drawn(past, random, { draw, fits: (found) => past.isTied(found) !== true });
    return tie ? [tieAgain(past, tie)] : [];
  };

/** Owners and admins have every capability (G02), so it is granted to others; today's are what the world says. */
const permissionChanged: Happening = (past, random) => {
  const person = past.people.pick(random, ({ administers }) => !administers);
  const name = random.pick(PERMISSIONS);
  const tie = tieOf("permission", { id: `perm_${slug(name)}`, name }, person);
  if (person === undefined || tie === undefined) return [];
  const held = past.isTied(tie) ?? person.capabilities.includes(name);
  return [held ? untie(past, tie) : tieAgain(past, tie)];
};

/** Every type of entity and action that 4.15 names; going back, what ends a thing comes before what began it. */
export const HAPPENINGS: readonly Happening[] = [
  personDeleted("deleted"),
  personDeleted("removed"),
  reactivated,
  deactivated,
  emailChanged,
  departmentDeleted,
  departmentMoved,
  departmentDescribed,
  ended(membership),
  begun(membership),
  thingDeleted(ROLE),
  ended(assignment),
  begun(assignment),
  thingRenamed(ROLE),
  permissionChanged,
  thingRenamed(SLICE),
  thingDeleted(STORE),
  thingRenamed(STORE),
  ended(grant),
  begun(grant),
  thingRenamed(COMPOSITE),
  thingCreated(STORE),
  thingCreated(ROLE),
  thingCreated(SLICE),
  thingCreated(COMPOSITE),
  departmentCreated,
  personCreated,
  personInvited,
];
