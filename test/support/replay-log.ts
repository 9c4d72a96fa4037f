import { expect } from "vitest";
import type { AuditLog } from "../../src/engine/resources/audit-logs/schema.ts";
import type { Department } from "../../src/engine/resources/departments/schema.ts";
import type { User } from "../../src/engine/resources/users/schema.ts";
import type { VectorStore } from "../../src/engine/resources/vector-stores/schema.ts";

export interface Present {
  organization_id: string;
  people: readonly User[];
  departments: readonly Department[];
  stores: readonly VectorStore[];
}

type Values = Record<string, string | null>;

/** Entities of one type, as far as the entries describe them. */
class KnownEntities {
  readonly alive = new Map<string, Values>();
  /** Ids are unique, so relations of a deleted entity need not be removed. */
  private readonly ids = new Set<string>();

  constructor(type: string, beginning: ReadonlyMap<string, Values>) {
    this.type = type;
    for (const [id, values] of beginning) this.create(id, values);
  }

  readonly type: string;

  require(id: string, what: string): Values {
    const found = this.alive.get(id);
    if (found === undefined) throw new Error(`${what}: there is no ${this.type} ${id} at that time`);
    return found;
  }

  create(id: string, values: Values): void {
    if (this.ids.has(id)) throw new Error(`${this.type} ${id} is created twice`);
    this.ids.add(id);
    this.alive.set(id, { ...values });
  }
}

const WITH_LIFE = ["user", "department", "role", "vector_store", "knowledge_slice", "knowledge_composite"];
const BEGINS = ["created", "invited"];
const ENDS = ["deleted", "removed"];

/**
 * Replays an organization's audit log (newest first) from a state that is derived from the log. Checks that each
 * entry was possible at its time, and that the final state equals the present.
 * @throws at the first entry that cannot have happened
 */
export function replayLog(entries: readonly AuditLog[], present: Present): void {
  const log = [...entries].reverse();
  const first = findBeginning(log, present);
  const known = new Map(WITH_LIFE.map((type) => [type, new KnownEntities(type, first.alive.get(type)!)]));
  const people = known.get("user")!;
  const departments = known.get("department")!;
  const ties = new Map<string, boolean>();
  let last = Number.NEGATIVE_INFINITY;
  for (const entry of log) {
    const { entity_type, entity_id, action, target_id, previous_value, new_value } = entry;
    const what = `${entry.id} ${entity_type} ${action} ${entity_id}`;
    if (entry.timestamp < last) throw new Error(`${what}: out of order`);
    last = entry.timestamp;
    requireActor(entry, people, what);
    const things = known.get(entity_type);
    const setTie = (key: string, value: boolean) => {
      if (ties.get(key) === value) throw new Error(`${what}: it is so already`);
      ties.set(key, value);
    };
    if (things !== undefined && action === "invited") {
      if (things.alive.has(entity_id)) throw new Error(`${what}: is there already`);
    } else if (things !== undefined && action === "created") {
      things.create(entity_id, first.values.get(`${entity_type} ${entity_id}`) ?? {});
      const { parent_id } = things.alive.get(entity_id)!;
      if (entity_type === "department" && parent_id != null) departments.require(parent_id, what);
    } else if (things !== undefined && ENDS.includes(action)) {
      things.require(entity_id, what);
      for (const { parent_id } of departments.alive.values())
        if (parent_id === entity_id) throw new Error(`${what}: something lies below it`);
      things.alive.delete(entity_id);
    } else if (things !== undefined && action === "reparented") {
      const place = things.require(entity_id, what);
      expect(place["parent_id"], what).toBe(previous_value);
      expect(new_value, what).not.toBe(previous_value);
      expect(target_id, what).toBe(new_value);
      for (
        let above = new_value;
        above !== null;
        above = departments.require(above, what)["parent_id"] ?? null
      )
        if (above === entity_id) throw new Error(`${what}: a cycle`);
      place["parent_id"] = new_value;
      if (new_value !== null) expect(entry.target_name, what).toBe(departments.alive.get(new_value)!["name"]);
    } else if (things !== undefined && action === "updated") {
      const thing = things.require(entity_id, what);
      for (const [field, value] of Object.entries(JSON.parse(previous_value!)))
        expect(thing[field], what).toBe(value);
      Object.assign(thing, JSON.parse(new_value!));
    } else if (action === "deactivated" || action === "reactivated") {
      const person = people.require(entity_id, what);
      expect(person["account"], what).toBe(previous_value);
      expect([previous_value, new_value].indexOf("active"), what).toBe(action === "reactivated" ? 1 : 0);
      person["account"] = new_value;
    } else if (entity_type === "permission") {
      people.require(target_id!, what);
      const before = ties.get(`${entity_id} ${target_id}`) ?? previous_value === "granted";
      expect(before, what).toBe(previous_value === "granted");
      setTie(`${entity_id} ${target_id}`, new_value === "granted");
    } else if (entity_type === "department_membership") {
      departments.require(entry.department_id!, what);
      people.require(target_id!, what);
      setTie(`${entity_id} ${entry.department_id} ${target_id}`, action === "membership_added");
    } else if (entity_type === "role_assignment") {
      people.require(target_id!, what);
      expect(
        [...known.get("role")!.alive.values()].map(({ name }) => name),
        what,
      ).toContain(entry.entity_name);
      setTie(`${entity_id} ${target_id}`, action === "assigned");
    } else if (entity_type === "knowledge_grant") {
      departments.require(target_id!, what);
      setTie(`${entity_id} ${target_id}`, action === "created");
    } else throw new Error(`${what}: unknown change`);
    if (things?.alive.has(entity_id))
      expect(entry.entity_name, what).toBe(things.alive.get(entity_id)!["name"]);
  }
  expectPresent({ known, ties }, present);
  expectCreations(log, present);
}

function requireActor(entry: AuditLog, people: KnownEntities, what: string): void {
  if (entry.actor_id === "usr_system") return;
  const actor = people.require(entry.actor_id, what);
  expect([actor["account"], actor["name"], actor["email"]], what).toEqual([
    "active",
    entry.actor_name,
    entry.actor_email,
  ]);
}

/** Derives the entities before the first entry, and the values that each began with, from its first change. */
function findBeginning(log: readonly AuditLog[], present: Present) {
  const values = new Map<string, Values>();
  const alive = new Map<string, Map<string, Values>>(WITH_LIFE.map((type) => [type, new Map()]));
  const seen = new Set<string>();
  for (const { id, name, email, account } of present.people) addEntity("user", id, { name, email, account });
  for (const { id, name, parent_id, description } of present.departments)
    addEntity("department", id, { name, parent_id, description });
  for (const { id, name } of present.stores) addEntity("vector_store", id, { name });
  const changed = new Set<string>();
  const setFirst = (key: string, fields: Values) => {
    for (const [field, value] of Object.entries(fields)) {
      if (changed.has(`${key} ${field}`)) continue;
      changed.add(`${key} ${field}`);
      values.set(key, { ...values.get(key), [field]: value });
    }
  };
  for (const { entity_type, entity_id, entity_name, action, previous_value } of log) {
    if (!WITH_LIFE.includes(entity_type)) continue;
    const key = `${entity_type} ${entity_id}`;
    if (!values.has(key))
      addEntity(entity_type, entity_id, { name: entity_name, parent_id: null, account: "active" });
    if (!seen.has(key) && BEGINS.includes(action)) alive.get(entity_type)!.delete(entity_id);
    seen.add(key);
    if (action === "updated") setFirst(key, JSON.parse(previous_value!));
    if (action === "reparented") setFirst(key, { parent_id: previous_value });
    if (action === "deactivated" || action === "reactivated") setFirst(key, { account: previous_value });
  }
  for (const [type, things] of alive)
    for (const id of things.keys()) things.set(id, values.get(`${type} ${id}`)!);
  return { values, alive };

  function addEntity(type: string, id: string, of: Values): void {
    values.set(`${type} ${id}`, of);
    alive.get(type)!.set(id, of);
  }
}

function expectPresent(
  { known, ties }: { known: ReadonlyMap<string, KnownEntities>; ties: ReadonlyMap<string, boolean> },
  { organization_id, people, departments, stores }: Present,
): void {
  const listAlive = (type: string) => Object.fromEntries(known.get(type)!.alive);
  const indexById = <T extends { id: string }>(records: readonly T[], of: (record: T) => object) =>
    Object.fromEntries(records.map((record) => [record.id, expect.objectContaining(of(record))]));
  expect(listAlive("user")).toEqual(
    indexById(people, ({ name, email, account }) => ({ name, email, account })),
  );
  expect(listAlive("department")).toEqual(
    indexById(departments, ({ name, parent_id, description }) => ({ name, parent_id, description })),
  );
  expect(listAlive("vector_store")).toEqual(indexById(stores, ({ name }) => ({ name })));
  for (const { id, capabilities } of people) {
    for (const name of capabilities[organization_id] ?? []) {
      const key = `perm_${name.replaceAll("-", "_")} ${id}`;
      expect(ties.get(key) ?? true, key).toBe(true);
    }
  }
}

/** Checks that each record created in the log's period has an entry with its time and creator. */
function expectCreations(log: readonly AuditLog[], { people, departments, stores }: Present): void {
  const oldest = log[0]?.timestamp ?? 0;
  const members = new Set(people.map(({ id }) => id));
  const created = new Map(
    log
      .filter(({ action, entity_type }) => action === "created" && entity_type !== "knowledge_grant")
      .map((entry) => [entry.entity_id, entry]),
  );
  const began: readonly { id: string; created_at: number; created_by?: string }[] = [
    ...people,
    ...departments,
    ...stores,
  ];
  for (const record of began) {
    const entry = created.get(record.id);
    if (entry === undefined) expect(record.created_at, record.id).toBeLessThanOrEqual(oldest);
    else expect(entry.timestamp, record.id).toBe(record.created_at);
    const { created_by = "" } = record;
    if (entry && members.has(created_by)) expect(entry.actor_id, record.id).toBe(created_by);
  }
}
