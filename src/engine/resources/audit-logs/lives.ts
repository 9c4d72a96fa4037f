import type { FactoryContext } from "../../contract/factory.ts";
import { inventEmail, inventJob, inventName, inventTeam, inventTitle } from "../../contract/invent.ts";
import type { Random } from "../../state/random.ts";
import type { Department } from "../departments/schema.ts";
import type { User } from "../users/schema.ts";
import type { VectorStore } from "../vector-stores/schema.ts";
import type { EntityType } from "./schema.ts";

/** The organization as the fixture describes it, in which its log ends (G40). */
export interface Present {
  organization_id: string;
  people: readonly User[];
  departments: readonly Department[];
  stores: readonly VectorStore[];
}

interface Named {
  id: string;
  name: string;
}

/** An entry of the log without its id, its instant and its actor. */
export interface Change {
  entity_type: EntityType;
  action: string;
  entity: Named;
  target?: Named | undefined;
  department_id?: string;
  previous_value?: string | null;
  new_value?: string | null;
}

/** Steps of one thing in their legal order, after which everything else is as it was before. */
export interface Life<Step> {
  steps: readonly Step[];
  /** Lives with the same key do not overlap in time. */
  key?: string;
}

type Draw = (at: number) => Life<Change> | undefined;

const MAX_TRIES = 8;
const MAX_STEPS = 12;
const CAPABILITIES = ["report-create", "store-manage", "member-invite"];

/**
 * Draws one life after the other, each kind in turn: of things that are gone today, and of changes to things of today
 * that are reverted. `at` is an instant before the life begins; `isFree` says whether a key's last life is over.
 */
export function lifeDrawer(present: Present, context: FactoryContext) {
  const { random } = context;
  const { organization_id } = present;
  const parents = new Map(present.departments.map((department) => [department.id, department]));
  const departments = byAge(present.departments);
  const people = byAge(present.people);
  const stores = byAge(present.stores);
  const pick = <T extends { created_at: number }>(list: readonly T[], at: number) =>
    pickBefore(list, random, at);
  const maybe = (changes: Change[]) => (random.chance(0.6) ? changes : []);
  let serial = 0;
  const invent = (prefix: string, name: string): Named => {
    const id = `${prefix}former_${organization_id.slice("org_".length)}_${++serial}`;
    return { id, name };
  };

  const person: Draw = (at) => {
    const user = invent("usr_", inventName(context));
    const email = inventEmail(user.name, user.id, context);
    const later = email.replace("@", ".2@");
    const department = pick(departments, at);
    return {
      steps: [
        change("user", "invited", user),
        change("user", "created", user),
        ...maybe([updated("user", user, { email }, { email: later })]),
        ...maybe(department ? membership(department, user) : []),
        ...maybe([accountChange(user, "active", "disabled"), accountChange(user, "disabled", "active")]),
        change("user", random.pick(["deleted", "removed"]), user),
      ],
    };
  };

  const department: Draw = (at) => {
    const place = invent("dept_", inventTeam(context));
    const [parent, other, user] = [pick(departments, at), pick(departments, at), pick(people, at)];
    const [before, after] = [{ description: "Being set up." }, { description: place.name }];
    return {
      steps: [
        change("department", "created", place),
        ...maybe([updated("department", place, before, after)]),
        ...(other ? [moved(place, parent === other ? null : parent, other)] : []),
        ...maybe(user ? membership(place, user) : []),
        change("department", "deleted", place),
      ],
    };
  };

  /** Roles, stores, slices and composites: they get a name, may be tied to something, and are deleted. */
  const thing =
    (
      entity_type: EntityType,
      prefix: string,
      tie: (entity: Named, at: number) => Change[] = () => [],
    ): Draw =>
    (at) => {
      const entity = invent(prefix, entity_type === "role" ? inventJob(context) : inventTitle(context));
      const draft = { id: entity.id, name: `${entity.name} (draft)` };
      return {
        steps: [
          change(entity_type, "created", draft),
          updated(entity_type, entity, { name: draft.name }, { name: entity.name }),
          ...tie(entity, at),
          change(entity_type, "deleted", entity),
        ],
      };
    };
  const role = thing("role", "role_", (entity, at) => {
    const user = pick(people, at);
    return user ? assignment(entity, user) : [];
  });
  const slice = thing("knowledge_slice", "kslice_", (entity, at) => {
    const place = pick(departments, at);
    return place ? grant(entity, place) : [];
  });

  const member: Draw = (at) => {
    const [place, user] = [pick(departments, at), pick(people, at)];
    return place && user && { key: `member ${place.id} ${user.id}`, steps: membership(place, user) };
  };
  const permission: Draw = (at) => {
    const user = pick(people, at);
    const name = random.pick(CAPABILITIES);
    // Owners and admins have every capability (G02), so it is granted to others.
    if (user === undefined || administers(user, organization_id)) return undefined;
    const [before, after] = user.capabilities[organization_id]?.includes(name)
      ? ["granted", "denied"]
      : ["denied", "granted"];
    const entity = { id: `perm_${name.replaceAll("-", "_")}`, name };
    const from = (previous_value: string, new_value: string) =>
      change("permission", "updated", entity, { target: named(user), previous_value, new_value });
    return { key: `permission ${name} ${user.id}`, steps: [from(before, after), from(after, before)] };
  };
  const description: Draw = (at) => {
    const place = pick(departments, at);
    if (place === undefined) return undefined;
    const [now, then] = [{ description: place.description }, { description: `${place.description} (draft)` }];
    const steps = [updated("department", place, now, then), updated("department", place, then, now)];
    return { key: `description ${place.id}`, steps };
  };
  const move: Draw = (at) => {
    const place = pick(departments, at);
    const parent = parents.get(place?.parent_id ?? "");
    if (place === undefined || parent === undefined || parent.created_at >= at) return undefined;
    return { key: `parent ${place.id}`, steps: [moved(place, parent, null), moved(place, null, parent)] };
  };
  const storeName: Draw = (at) => {
    const store = pick(stores, at);
    if (store === undefined) return undefined;
    const other = { id: store.id, name: `${store.name} (draft)` };
    const [now, then] = [{ name: store.name }, { name: other.name }];
    const steps = [updated("vector_store", other, now, then), updated("vector_store", store, then, now)];
    return { key: `name ${store.id}`, steps };
  };

  const kinds: readonly Draw[] = [
    ...[person, member, department, permission, role, description, slice, move],
    ...[thing("vector_store", "vs_"), storeName, thing("knowledge_composite", "kcomp_")],
  ];
  let turn = 0;
  return (at: number, isFree: (key: string) => boolean): Life<Change> => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const life = kinds[turn++ % kinds.length]!(at);
      if (life !== undefined && (life.key === undefined || isFree(life.key))) return life;
    }
    return person(at)!;
  };
}

function named({ id, name }: Named): Named {
  return { id, name };
}

export function change(
  entity_type: EntityType,
  action: string,
  entity: Named,
  more: Partial<Change> = {},
): Change {
  const of = entity_type === "department" ? { department_id: entity.id } : {};
  return { entity_type, action, entity: named(entity), ...of, ...more };
}

function updated(entity_type: EntityType, entity: Named, from: object, to: object): Change {
  const values = { previous_value: JSON.stringify(from), new_value: JSON.stringify(to) };
  return change(entity_type, "updated", entity, values);
}

/** G31: the target is the new parent. */
export function moved(entity: Named, from: Named | null | undefined, to: Named | null): Change {
  return change("department", "reparented", entity, {
    target: to === null ? undefined : named(to),
    previous_value: from?.id ?? null,
    new_value: to?.id ?? null,
  });
}

export function accountChange(entity: Named, from: User["account"], to: User["account"]): Change {
  const action = to === "active" ? "reactivated" : "deactivated";
  return change("user", action, entity, { previous_value: from, new_value: to });
}

function membership(department: Named, user: Named): Change[] {
  const entity = { id: `dmem_${department.id}_${user.id}`, name: `${department.name} member` };
  const more = { target: named(user), department_id: department.id };
  return ["membership_added", "membership_removed"].map((action) =>
    change("department_membership", action, entity, more),
  );
}

function assignment(role: Named, user: Named): Change[] {
  const entity = { id: `rasg_${role.id}_${user.id}`, name: role.name };
  const target = named(user);
  return [
    change("role_assignment", "assigned", entity, { target, previous_value: null, new_value: role.name }),
    change("role_assignment", "unassigned", entity, { target, previous_value: role.name, new_value: null }),
  ];
}

function grant(slice: Named, department: Named): Change[] {
  const entity = { id: `kgrant_${slice.id}_${department.id}`, name: `Read ${slice.name}` };
  const more = { target: named(department) };
  return ["created", "removed"].map((action) => change("knowledge_grant", action, entity, more));
}

export function administers({ memberships }: User, organization_id: string): boolean {
  return ["owner", "admin"].includes(memberships[organization_id] ?? "");
}

export function byAge<T extends { created_at: number }>(records: readonly T[]): readonly T[] {
  return [...records].sort((a, b) => a.created_at - b.created_at);
}

/** One of those that were there before an instant; `records` are sorted by age. */
export function pickBefore<T extends { created_at: number }>(
  records: readonly T[],
  random: Random,
  at: number,
): T | undefined {
  let [low, high] = [0, records.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (records[middle]!.created_at < at) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? undefined : records[random.int(0, low - 1)];
}

/**
 * Fills places, the newest first, with lives: each ends at the newest free place and shares those before it with
 * others. The earliest steps of a life for which no place is left are before the log's beginning. `nextLife` gets the
 * oldest place at which the life may begin, and whether a key is free.
 * @returns the steps, the newest first
 */
export function interleave<Step>(
  count: number,
  random: Random,
  nextLife: (where: { oldest: number; isFree: (key: string) => boolean }) => Life<Step>,
): Step[] {
  const filled = new Array<Step | undefined>(count).fill(undefined);
  const begins = new Map<string, number>();
  for (let newest = 0; newest < count; newest++) {
    if (filled[newest] !== undefined) continue;
    const free: number[] = [];
    for (let place = newest + 1; place < count && free.length < 2 * MAX_STEPS; place++)
      if (filled[place] === undefined) free.push(place);
    const isFree = (key: string) => (begins.get(key) ?? -1) < newest;
    const { steps, key } = nextLife({ oldest: free.at(-1) ?? newest, isFree });
    const places = [newest, ...random.sample(free.slice(0, 2 * (steps.length - 1)), steps.length - 1)];
    for (const [back, place] of places.entries()) filled[place] = steps[steps.length - 1 - back]!;
    if (key !== undefined) begins.set(key, places.at(-1)!);
  }
  return filled as Step[];
}
