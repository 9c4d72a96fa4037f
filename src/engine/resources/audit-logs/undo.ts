import type { Named, Past, Person, Place, Tie, Told } from "./past.ts";
import type { EntityType } from "./schema.ts";

/** The entries that a tie writes when it comes and when it goes. */
const WORDS: Record<Tie["kind"], { on: string; off: string }> = {
  department_membership: { on: "membership_added", off: "membership_removed" },
  role_assignment: { on: "assigned", off: "unassigned" },
  permission: { on: "updated", off: "updated" },
  knowledge_grant: { on: "created", off: "removed" },
};

/** Undoes the beginning of a tie that holds, or of which nothing is known. */
export function untie(past: Past, tie: Tie): Told {
  past.setTie(tie, false);
  return toldOf(tie, true);
}

/** Undoes the end of a tie that does not hold. */
export function tieAgain(past: Past, tie: Tie): Told {
  past.setTie(tie, true);
  return toldOf(tie, false);
}

function toldOf({ kind, of, to }: Tie, begins: boolean): Told {
  const told = { entity_type: kind, action: WORDS[kind][begins ? "on" : "off"], target: named(to) };
  const suffix = `${of.id}_${to.id}`;
  switch (kind) {
    case "department_membership":
      return { ...told, entity: { id: `dmem_${suffix}`, name: `${of.name} member` }, department_id: of.id };
    case "role_assignment":
      return {
        ...told,
        entity: { id: `rasg_${suffix}`, name: of.name },
        previous_value: begins ? null : of.name,
        new_value: begins ? of.name : null,
      };
    case "permission":
      return {
        ...told,
        entity: of,
        previous_value: begins ? "denied" : "granted",
        new_value: begins ? "granted" : "denied",
      };
    case "knowledge_grant":
      return { ...told, entity: { id: `kgrant_${suffix}`, name: `Read ${of.name}` } };
  }
}

/** Undoes a change of one field; the value that it had before is `value`. */
export function unset<T extends Named>(
  entity_type: EntityType,
  entity: T,
  { field, value }: { field: keyof T & string; value: string },
): Told {
  const named = { id: entity.id, name: entity.name };
  const told: Told = {
    entity_type,
    action: "updated",
    entity: named,
    previous_value: JSON.stringify({ [field]: value }),
    new_value: JSON.stringify({ [field]: entity[field] }),
    ...(entity_type === "department" ? { department_id: entity.id } : {}),
  };
  Object.assign(entity, { [field]: value });
  return told;
}

/** Undoes a move (G31): it came from below `parent_id`. */
export function moveBack(past: Past, place: Place, parent_id: string | null): Told {
  const parent = place.parent_id === null ? undefined : past.departments.get(place.parent_id);
  const told: Told = {
    entity_type: "department",
    action: "reparented",
    entity: named(place),
    target: parent && named(parent),
    department_id: place.id,
    previous_value: parent_id,
    new_value: place.parent_id,
  };
  past.move(place, parent_id);
  return told;
}

/** Undoes a change of the account; nobody administers while theirs is not active. */
export function setAccount(past: Past, person: Person, account: Person["account"]): Told {
  const told: Told = {
    entity_type: "user",
    action: person.account === "active" ? "reactivated" : "deactivated",
    entity: named(person),
    previous_value: account,
    new_value: person.account,
  };
  person.account = account;
  if (account !== "active") past.administrators.remove(person);
  else if (person.administers) past.administrators.add(person);
  return told;
}

/** Newest first: all that only came about after it was created, and that it was. */
export function unmakePerson(past: Past, person: Person): Told[] {
  const told = past.tied(person).map((tie) => untie(past, tie));
  if (person.account !== "active") told.push(setAccount(past, person, "active"));
  past.removePerson(person);
  past.invited.push(person);
  return [...told, { entity_type: "user", action: "created", entity: named(person) }];
}

export function unmakeDepartment(past: Past, place: Place): Told[] {
  const moved = past.childrenOf(place.id).map((child) => moveBack(past, child, null));
  const untied = past.tied(place).map((tie) => untie(past, tie));
  past.removeDepartment(place);
  const created = { entity_type: "department", action: "created", entity: named(place) } as const;
  return [...moved, ...untied, { ...created, department_id: place.id }];
}

export function unmakeThing(
  past: Past,
  entity_type: EntityType,
  { thing, roster }: { thing: Named; roster: { remove(thing: Named): void } },
): Told[] {
  const told = past.tied(thing).map((tie) => untie(past, tie));
  roster.remove(thing);
  return [...told, { entity_type, action: "created", entity: named(thing) }];
}

/** As it was called at that instant; what undoes later entries renames the thing itself. */
export function named({ id, name }: Named): Named {
  return { id, name };
}
