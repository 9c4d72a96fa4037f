import type { Random } from "../../state/random.ts";
import type { Department } from "../departments/schema.ts";
import type { User } from "../users/schema.ts";
import type { VectorStore } from "../vector-stores/schema.ts";
import { Roster } from "./roster.ts";
import { COMPOSITES, SLICES } from "./sample-text.ts";
import type { EntityType } from "./schema.ts";

export interface Named {
  readonly id: string;
  name: string;
}

export interface Person extends Named {
  email: string;
  account: User["account"];
  administers: boolean;
  capabilities: readonly string[];
}

export interface Place extends Named {
  parent_id: string | null;
  description: string;
}

/** One change, as the log tells of it, but for who made it and when. */
export interface Told {
  entity_type: EntityType;
  action: string;
  entity: Named;
  target?: Named | undefined;
  department_id?: string;
  previous_value?: string | null;
  new_value?: string | null;
}

/** A relation of two things that comes and goes, such as a membership. */
export interface Tie {
  kind: "department_membership" | "role_assignment" | "permission" | "knowledge_grant";
  of: Named;
  to: Named;
}

/** The organization as it stands today, from which the past is walked into (G40). */
export interface Present {
  organization_id: string;
  people: readonly User[];
  departments: readonly Department[];
  stores: readonly VectorStore[];
}

/**
 * An organization at an instant of its past. It begins as the present, and each step undoes a legal operation:
 * whatever can be said of it at an instant, the steps told so far lead from there to the present.
 */
export class Past {
  readonly people: Roster<Person>;
  readonly departments: Roster<Place>;
  readonly stores: Roster<Named>;
  readonly roles = new Roster<Named>();
  readonly slices = new Roster(SLICES.map((name) => ({ id: `kslice_${slug(name)}`, name })));
  readonly composites = new Roster(COMPOSITES.map((name) => ({ id: `kcomp_${slug(name)}`, name })));
  /** Who can be drawn as an actor: those who are there today and administer. */
  readonly administrators: Roster<Person>;
  /** Those who are gone today; what made them is theirs to be told too. */
  readonly former = new Set<string>();
  /** People who are to be invited before they were created. */
  readonly invited: Person[] = [];
  private readonly children = new Map<string, Set<string>>();
  private readonly ties = new Map<string, boolean>();
  private readonly tiesOf = new Map<string, Map<string, Tie>>();
  private serial = 0;

  constructor({ organization_id, people, departments, stores }: Present) {
    this.people = new Roster(people.map((user) => asPerson(user, organization_id)));
    this.administrators = new Roster();
    for (const { id } of people) {
      const person = this.people.get(id)!;
      if (person.administers && person.account === "active") this.administrators.add(person);
    }
    this.departments = new Roster(
      departments.map(({ id, name, parent_id, description }) => ({ id, name, parent_id, description })),
    );
    for (const { id, parent_id } of departments) this.noteChild(id, parent_id);
    this.stores = new Roster(stores.map(({ id, name }) => ({ id, name })));
  }

  /** Somebody or something that is gone today, under an id that nothing else has. */
  invent(prefix: string, random: Random, names: readonly string[]): Named {
    const name = random.pick(names);
    const id = `${prefix}${slug(name)}_${++this.serial}`;
    this.former.add(id);
    return { id, name };
  }

  childrenOf(id: string): Place[] {
    return [...(this.children.get(id) ?? [])].map((child) => this.departments.get(child)!);
  }

  addDepartment(place: Place): Place {
    this.noteChild(place.id, place.parent_id);
    return this.departments.add(place);
  }

  removeDepartment(place: Place): void {
    if (place.parent_id !== null) this.children.get(place.parent_id)?.delete(place.id);
    this.departments.remove(place);
  }

  move(place: Place, parent_id: string | null): void {
    if (place.parent_id !== null) this.children.get(place.parent_id)?.delete(place.id);
    place.parent_id = parent_id;
    this.noteChild(place.id, parent_id);
  }

  /** Section 3.5: whether a department is another one or lies below it. */
  isWithin(place: Place, above: Place): boolean {
    for (let next: Place | undefined = place; next !== undefined; ) {
      if (next.id === above.id) return true;
      next = next.parent_id === null ? undefined : this.departments.get(next.parent_id);
    }
    return false;
  }

  removePerson(person: Person): void {
    this.people.remove(person);
    this.administrators.remove(person);
  }

  /** Undefined: nothing in the present or told so far says. */
  isTied(tie: Tie): boolean | undefined {
    return this.ties.get(keyOf(tie));
  }

  setTie(tie: Tie, value: boolean): void {
    const key = keyOf(tie);
    this.ties.set(key, value);
    for (const { id } of [tie.of, tie.to]) {
      let known = this.tiesOf.get(id);
      if (known === undefined) {
        known = new Map();
        this.tiesOf.set(id, known);
      }
      if (value) known.set(key, tie);
      else known.delete(key);
    }
  }

  /** What binds it at this instant; none of it can be older than itself. */
  tied({ id }: Named): Tie[] {
    return [...(this.tiesOf.get(id)?.values() ?? [])];
  }

  private noteChild(id: string, parent_id: string | null): void {
    if (parent_id === null) return;
    const known = this.children.get(parent_id);
    if (known === undefined) this.children.set(parent_id, new Set([id]));
    else known.add(id);
  }
}

function asPerson(user: User, organization_id: string): Person {
  const { id, name, email, account, memberships, capabilities } = user;
  const administers = memberships[organization_id] !== "member";
  return { id, name, email, account, administers, capabilities: capabilities[organization_id] ?? [] };
}

function keyOf({ kind, of, to }: Tie): string {
  return `${kind} ${of.id} ${to.id}`;
}

export function slug(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
}
