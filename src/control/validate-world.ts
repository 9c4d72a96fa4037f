import { type TSchema, Type } from "typebox";
import type { Resource } from "../engine/contract/resource.ts";
import { ClosedObject } from "../engine/contract/schema.ts";
import { getOrAdd } from "../engine/maps.ts";
import type { SnapshotDocument } from "../engine/sandbox/snapshots.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../engine/state/clock.ts";
import type { AnyCollection } from "../engine/state/collection.ts";
import type { Root } from "../engine/state/tables.ts";
import { timers } from "../engine/state/timers.ts";
import type { Transaction } from "../engine/state/transaction.ts";
import type { WorldValue } from "../engine/state/world-parts.ts";
import { unprocessable } from "./problem.ts";
import { readWorld } from "./snapshot-diff.ts";
import { findRecordProblem } from "./state/change-records.ts";
import { listStateCollections, StateCollection } from "./state/state-collection.ts";

/**
 * Validates every record of an uploaded or stored world, so that none breaks the emulated API later. A record must fit the schema
 * of the state calls; records of internal collections are checked too. Records of `base` are skipped: they are valid.
 * @throws Problem 422 that names collection and record
 */
export function validateWorld(
  resources: readonly Resource[],
  world: WorldValue,
  base?: Root,
  place = "world.tables",
): void {
  const tx = readWorld(world);
  for (const collection of listAllCollections(resources))
    for (const record of listChangedRecords(collection, tx, base))
      validateRecord(getStateCollection(resources, collection), record, tx, place);
}

/** As `validateWorld`, for given records of a world or of its past; undefined ones, which were deleted, are skipped. @throws Problem 422 */
export function validateRecords(
  resources: readonly Resource[],
  records: readonly (readonly [AnyCollection, object | undefined])[],
  world: WorldValue,
  place: string,
): void {
  const tx = readWorld(world);
  for (const [collection, record] of records)
    if (record !== undefined)
      validateRecord(getStateCollection(resources, collection), record as Record<string, unknown>, tx, place);
}

function validateRecord(
  state: StateCollection,
  record: Record<string, unknown>,
  tx: Transaction,
  place: string,
): void {
  const problem = findRecordProblem(state, record, tx);
  if (problem === undefined) return;
  const { collection } = state;
  const id = collection.getId(record);
  throw unprocessable(
    `${place}.${collection.name}`,
    id,
    `contains ${id}, which is invalid: ${problem.message.replace(/\.$/, "")}`,
  );
}

/** Compiles the validators, one collection per step. */
export function* compileWorldValidators(resources: readonly Resource[]): Generator<void> {
  for (const collection of listAllCollections(resources)) {
    getStateCollection(resources, collection).prepare();
    yield;
  }
}

function listAllCollections(resources: readonly Resource[]): readonly AnyCollection[] {
  return [...resources.flatMap(({ collections }) => collections), timers];
}

const internalCollections = new WeakMap<AnyCollection, StateCollection>();

/** Also for an internal collection, which the state calls do not list. */
function getStateCollection(resources: readonly Resource[], collection: AnyCollection): StateCollection {
  const state = listStateCollections(resources).get(collection.name);
  return state ?? getOrAdd(internalCollections, collection, () => new StateCollection(collection));
}

function* listChangedRecords(
  collection: AnyCollection,
  tx: Transaction,
  base: Root | undefined,
): IterableIterator<Record<string, unknown>> {
  const original = base?.tables.get(collection.name);
  const table = tx.toRoot().tables.get(collection.name);
  if (original === undefined || table === undefined) {
    yield* tx.all(collection) as Iterable<Record<string, unknown>>;
    return;
  }
  for (const { after } of original.listChangesTo(table))
    if (after !== undefined) yield after as Record<string, unknown>;
}

export const WholeNumber = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since 1970, in the years that a timestamp can name. */
export const Epoch = Type.Integer({ minimum: FIRST_INSTANT, maximum: LAST_INSTANT });
export const Records = Type.Array(Type.Object({}));

/** Whole minutes since 1970. */
const Minute = Type.Integer({
  minimum: FIRST_INSTANT / 60_000,
  maximum: Math.floor(LAST_INSTANT / 60_000),
});

/** `[api key id, counts]`; spelt out, because JSON Schema 2020-12 writes tuples differently from TypeBox. */
const RateWindow = Type.Unsafe<SnapshotDocument["windows"][number]>({
  type: "array",
  minItems: 2,
  maxItems: 2,
  prefixItems: [Type.String(), ClosedObject({ minute: Minute, requests: WholeNumber, tokens: WholeNumber })],
});
export const RateWindows = Type.Array(RateWindow);

/** The fields of a world without its tables; `clockFields` are further ones of its clock. */
export function createWorldFields(clockFields: Record<string, TSchema> = {}) {
  return {
    seed: WholeNumber,
    secret_key: Type.String({ minLength: 1, maxLength: 200 }),
    origin: Epoch,
    clock: ClosedObject({
      mode: Type.Enum(["real", "frozen", "scaled"]),
      now: Epoch,
      rate: Type.Number({ minimum: 0, maximum: 1_000_000 }),
      ...clockFields,
    }),
    requests: WholeNumber,
    draws: WholeNumber,
  };
}
