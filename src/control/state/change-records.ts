import { removeWithDependents } from "../../engine/contract/removal.ts";
import type { StateActor } from "../../engine/contract/resource.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import type { AnyCollection, StoredRecord } from "../../engine/state/collection.ts";
import type { Transaction } from "../../engine/state/transaction.ts";
import { Problem, unprocessable } from "../problem.ts";
import type { StateCollection } from "./state-collection.ts";

export type Fields = Record<string, unknown>;

export interface StateChange {
  state: StateCollection;
  sandbox: Sandbox;
  actor: StateActor;
  /** Called after all changes, before the commit. @throws Problem 409 (interfaces.md 7) */
  checkLimits: (tx: Transaction) => void;
}

/**
 * POST: given fields are stored; the others are derived from them, or generated from the sandbox's seed.
 * @throws Problem 409 for an id in use, 422 for an invalid record
 */
export function insertRecord({ state, sandbox, actor, checkLimits }: StateChange, input: Fields): Fields {
  state.checkFields(input);
  return sandbox.world.transact((tx) => {
    const completed = state.insertRecord(tx, input, actor, "state");
    const problem = findRecordProblem(state, completed, tx);
    if (problem !== undefined) throw problem;
    const publicRecord = state.toPublic(completed, tx);
    state.requireGivenValuesKept(input, publicRecord, tx);
    checkLimits(tx);
    return publicRecord;
  });
}

/** PATCH: given fields are checked, and the rules keep the API's invariants. @throws Problem 404, 422 */
export function updateRecord(
  { state, sandbox, actor, checkLimits }: StateChange,
  id: string,
  input: Fields,
): Fields {
  const { collection } = state;
  state.checkFields(input);
  const { idField } = collection;
  if (input[idField] !== undefined && input[idField] !== id) {
    throw unprocessable(idField, input[idField], `cannot change: this record is ${id}`);
  }
  return sandbox.world.transact((tx) => {
    const changed = state.updateRecord(tx, requireRecord(tx, collection, id), input, actor);
    checkLimits(tx);
    return state.toPublic(changed, tx);
  });
}

/** DELETE: with all that belongs to it, by declaration. @throws Problem 404 */
export function removeRecord({ state, sandbox, actor, checkLimits }: StateChange, id: string): void {
  const { collection, rules } = state;
  sandbox.world.transact((tx) => {
    const record = requireRecord(tx, collection, id);
    rules.beforeRemove?.(tx, record, actor);
    removeWithDependents(tx, collection, id);
    checkLimits(tx);
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

/** The problem of a stored record whose public form does not fit its schema; used for uploaded snapshots too. */
export function findRecordProblem(
  state: StateCollection,
  record: Fields,
  tx: Transaction,
): Problem | undefined {
  try {
    state.requireNumbersInRange(record, tx);
    state.checkWhole(record, tx);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    return unprocessable("body", null, "is not a valid record of the collection");
  }
}
