import type { StateActor } from "../../contract/resource.ts";
import type { fillFromSchema as fillType } from "../../fixtures/filler.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { AnyCollection, StoredRecord } from "../../state/collection.ts";
import type { Transaction } from "../../state/transaction.ts";
import { conflict, Problem, unprocessable } from "../problem.ts";
import type { StateCollection } from "./state-collection.ts";

export type Fields = Record<string, unknown>;

export interface Target {
  state: StateCollection;
  sandbox: Sandbox;
  actor: StateActor;
  /** Asked once everything is done, before it is committed. @throws Problem 409 (interfaces 7) */
  admit: (tx: Transaction) => void;
}

/**
 * POST: what was given is kept, the rules derive, the rest is filled plausibly from the sandbox's seed.
 * @throws Problem 409 for an id in use, 422 for anything that cannot be
 */
export async function insertRecord({ state, sandbox, actor, admit }: Target, given: Fields): Promise<Fields> {
  state.check(given);
  // Before the transaction, which must not wait; and not at the server's start, which must not pay for it.
  const { fillFromSchema } = await import("../../fixtures/filler.ts");
  const { collection, rules } = state;
  return sandbox.world.transact((tx) => {
    const random = tx.random(`state/${collection.name}`);
    const fields = state.toStored(given, tx);
    requireFree(tx, collection, fields[collection.idField]);
    let record: Fields = { ...fields, ...rules.complete?.(fields, tx, { random, settings: actor.settings }) };
    record = { ...record, ...filled(fillFromSchema, { state, record, tx, random }) };
    record[collection.idField] ??= tx.newId(collection.prefix);
    if (given[collection.idField] === undefined) requireFree(tx, collection, record[collection.idField]);
    record = inOrder(record, state);
    const inserted = rules.insert ? rules.insert(tx, record, actor) : tx.insert(collection, record);
    const whole = wholeRecord(state, tx, inserted);
    admit(tx);
    return whole;
  });
}

/** PATCH: the rules keep the API's invariants. @throws Problem 404, 422 */
export function updateRecord({ state, sandbox, actor, admit }: Target, id: string, given: Fields): Fields {
  const { collection, rules } = state;
  state.check(given);
  const { idField } = collection;
  if (given[idField] !== undefined && given[idField] !== id) {
    throw unprocessable(idField, given[idField], `cannot change: this record is ${id}`);
  }
  return sandbox.world.transact((tx) => {
    const before = requireRecord(tx, collection, id);
    const after = { ...before, ...state.toStored(given, tx) };
    const updated = rules.update ? rules.update(tx, before, after, actor) : tx.put(collection, after);
    admit(tx);
    return present(state, tx, updated);
  });
}

/** DELETE: takes with it what the API would. @throws Problem 404 */
export function removeRecord({ state, sandbox, actor, admit }: Target, id: string): void {
  const { collection, rules } = state;
  sandbox.world.transact((tx) => {
    const record = requireRecord(tx, collection, id);
    if (rules.remove) rules.remove(tx, record, actor);
    else tx.remove(collection, id);
    admit(tx);
  });
}

/** @throws Problem 404 */
export function requireRecord(tx: Transaction, collection: AnyCollection, id: string): StoredRecord {
  const record = tx.get(collection, id);
  if (record !== undefined) return record;
  throw new Problem("unknown-record", {
    detail: `There is no ${id.slice(0, 200)} in ${collection.name}. GET the collection to see what there is.`,
    value: id,
  });
}

/** As it stands after the change, with what the rules added to it. */
function present(state: StateCollection, tx: Transaction, record: StoredRecord): Fields {
  const { collection } = state;
  return state.toPublic(tx.get(collection, collection.idOf(record)) ?? record, tx);
}

function requireFree(tx: Transaction, collection: AnyCollection, id: unknown): void {
  if (id === undefined || tx.get(collection, id as string) === undefined) return;
  throw conflict(
    "id-in-use",
    `There is a record ${id} in ${collection.name} already`,
    "PATCH it, choose another id, or leave the id away to get one made up",
  );
}

/** As the schema lists the fields, so that records read alike however they came to be. */
function inOrder(record: Fields, { properties }: StateCollection): Fields {
  const names = Object.keys(properties).filter((name) => Object.hasOwn(record, name));
  return { ...Object.fromEntries(names.map((name) => [name, record[name]])), ...record };
}

/** What the schema requires and neither the caller nor the rules gave. */
function filled(
  fill: typeof fillType,
  {
    state,
    record,
    tx,
    random,
  }: {
    state: StateCollection;
    record: Fields;
    tx: Transaction;
    random: Parameters<typeof fillType>[0]["random"];
  },
): Fields {
  const shown = publicOrSelf(state, record, tx);
  const missing = state.required.filter(
    (name) => name !== state.collection.idField && record[name] === undefined && shown[name] === undefined,
  );
  return missing.length === 0
    ? {}
    : fill({ properties: state.properties, missing, given: record, tx, random });
}

/** Rules that render a record may stumble over one that is not whole yet. */
function publicOrSelf(state: StateCollection, record: Fields, tx: Transaction): Fields {
  try {
    return state.toPublic(record, tx);
  } catch {
    return record;
  }
}

/**
 * As it stands now that the rules have stored it; judged here and not before, since rules add to it.
 * @throws Problem 422 for the field that neither caller nor rules nor schema could make fit
 */
function wholeRecord(state: StateCollection, tx: Transaction, inserted: StoredRecord): Fields {
  const record = (tx.get(state.collection, state.collection.idOf(inserted)) ?? inserted) as Fields;
  const { problem } = wholeness(state, record, tx);
  if (problem) throw problem;
  return state.toPublic(record, tx);
}

/** Whether a stored record's public form fits its schema; used for uploaded snapshots too. */
export function wholeness(state: StateCollection, record: Fields, tx: Transaction): { problem?: Problem } {
  try {
    state.requireStoredInstants(record);
    state.checkWhole(state.toPublic(record, tx));
    return {};
  } catch (error) {
    if (error instanceof Problem) return { problem: error };
    return { problem: unprocessable("body", null, "is no such record as the collection holds") };
  }
}
