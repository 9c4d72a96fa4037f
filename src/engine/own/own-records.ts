import { invalidInput, OwnOperationError, resourceNotFound } from "../contract/errors.ts";
import type { PublicCollection } from "../contract/public-collection.ts";
import { removeWithDependents } from "../contract/removal.ts";
import type { StateActor } from "../contract/resource.ts";
import { isJsonObject } from "../contract/schema.ts";
import { toHint, toSingular } from "../contract/text.ts";
import { copyJson, isEqual, mapValues } from "../maps.ts";
import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import type { Transaction } from "../state/transaction.ts";

type Fields = Record<string, unknown>;

/** The transaction of one call. Changes after its end would be lost. */
export class CallTransaction {
  endedBy: string | undefined;
  private readonly transaction: Transaction;
  private readonly readerName: string | undefined;

  /** @param readerName of a function that may only read */
  constructor(tx: Transaction, readerName: string | undefined) {
    this.transaction = tx;
    this.readerName = readerName;
  }

  /** @throws OwnOperationError for a function that may only read */
  get writable(): Transaction {
    if (this.readerName === undefined) return this.tx;
    throw new OwnOperationError(
      `${this.readerName} changed the world, which it only reads; change it in the handler of an operation`,
    );
  }

  get tx(): Transaction {
    if (this.endedBy === undefined) return this.transaction;
    throw new OwnOperationError(
      `${this.endedBy} used the world after its end; a handler reads and changes records before it returns`,
    );
  }
}

type Condition = Fields | ((record: Fields) => boolean);

/** Records of one collection, or those that meet a condition; read when they are used. */
export class OwnRecords implements Iterable<Fields> {
  private readonly publicCollection: PublicCollection;
  readonly #transaction: CallTransaction;
  readonly #actor: StateActor;
  private readonly conditions: readonly Condition[];
  private readonly order: { field: string; descending: boolean } | undefined;

  constructor(
    publicCollection: PublicCollection,
    transaction: CallTransaction,
    actor: StateActor,
    conditions: readonly Condition[] = [],
    order: OwnRecords["order"] = undefined,
  ) {
    this.publicCollection = publicCollection;
    this.#transaction = transaction;
    this.#actor = actor;
    this.conditions = conditions;
    this.order = order;
  }

  get #tx(): Transaction {
    return this.#transaction.tx;
  }

  get size(): number {
    return this.conditions.length === 0 ? this.#tx.all(this.collection).size : this.list().length;
  }

  get(id: unknown): Fields | undefined {
    const { name, idField } = this.collection;
    if (isJsonObject(id) && id[idField] !== undefined)
      throw new OwnOperationError(`a record of ${name} was given where its ${idField} is expected`);
    // A handler in JavaScript may give any value, such as the user of a request without credentials.
    const record = typeof id === "string" ? this.#tx.get(this.collection, id) : undefined;
    const [found] = record === undefined ? [] : this.list([record]);
    return found && this.toPublic(found);
  }

  require(id: string): Fields {
    const { name, idField } = this.collection;
    const parameter = idField === "id" ? `${toSingular(name)}_id` : idField;
    const record = this.get(id);
    if (record === undefined) throw resourceNotFound(parameter, id);
    return record;
  }

  where(condition: Condition): OwnRecords {
    const isTest = typeof condition === "function";
    if (!isTest) this.requireValues(condition);
    const given = isTest ? condition : mapValues(condition, copyJson);
    const conditions = [...this.conditions, given];
    return new OwnRecords(this.publicCollection, this.#transaction, this.#actor, conditions, this.order);
  }

  orderBy(field: string, direction: "asc" | "desc" = "asc"): OwnRecords {
    this.requireField(field);
    if (direction !== "asc" && direction !== "desc")
      throw new OwnOperationError(
        `${JSON.stringify(direction)} is not a direction of orderBy; use "asc" or "desc"`,
      );
    const order = { field, descending: direction === "desc" };
    return new OwnRecords(this.publicCollection, this.#transaction, this.#actor, this.conditions, order);
  }

  first(): Fields | undefined {
    return this.page({ limit: 1 })[0];
  }

  page(page: { limit?: number | null; offset?: number | null } = {}): Fields[] {
    const limit = Math.max(0, page.limit ?? Number.POSITIVE_INFINITY);
    const offset = Math.max(0, page.offset ?? 0);
    const isWholeCollection = this.conditions.length === 0 && this.order === undefined;
    const records = isWholeCollection
      ? this.#tx.all(this.collection).page(offset, limit)
      : this.list().slice(offset, offset + limit);
    return records.map((record) => this.toPublic(record));
  }

  [Symbol.iterator](): IterableIterator<Fields> {
    return this.page().values();
  }

  /** Lets a handler return the records. */
  toJSON(): Fields[] {
    return this.page();
  }

  /** @throws ApiError INVALID_INPUT for a field that does not fit */
  insert(values: Fields): Fields {
    const { publicCollection } = this;
    const tx = this.#transaction.writable;
    const fields = copyJson(values) as Fields;
    publicCollection.checkFields(fields);
    const after = this.toPublic(publicCollection.insertRecord(tx, fields, this.#actor, "own"));
    publicCollection.checkRecord(after);
    publicCollection.requireGivenValuesKept(fields, after, tx);
    return after;
  }

  /** @throws ApiError RESOURCE_NOT_FOUND, INVALID_INPUT */
  update(id: string, values: Fields): Fields {
    const { publicCollection, collection } = this;
    const tx = this.#transaction.writable;
    this.require(id);
    const fields = copyJson(values) as Fields;
    publicCollection.checkFields(fields);
    if ((fields[collection.idField] ?? id) !== id)
      throw invalidInput(collection.idField, fields[collection.idField], `the id of ${id} cannot change`);
    return this.toPublic(publicCollection.updateRecord(tx, tx.get(collection, id)!, fields, this.#actor));
  }

  /** @throws ApiError RESOURCE_NOT_FOUND */
  remove(id: string): void {
    const tx = this.#transaction.writable;
    this.require(id);
    this.publicCollection.rules.beforeRemove?.(tx, tx.get(this.collection, id)!, this.#actor);
    removeWithDependents(tx, this.collection, id);
  }

  private get collection(): AnyCollection {
    return this.publicCollection.collection;
  }

  private toPublic(record: StoredRecord): Fields {
    return copyJson(this.publicCollection.toPublic(record, this.#tx)) as Fields;
  }

  private list(candidates?: readonly StoredRecord[]): StoredRecord[] {
    const { publicCollection, order } = this;
    const tx = this.#tx;
    const equalFields = this.conditions.flatMap((one) =>
      typeof one === "object" ? Object.entries(publicCollection.toStored(one, tx)) : [],
    );
    const predicates = this.conditions.filter((one) => typeof one === "function");
    const records = [...(candidates ?? this.listCandidates(equalFields))].filter(
      (record) =>
        equalFields.every(([name, value]) => isEqual((record as Fields)[name] ?? null, value ?? null)) &&
        predicates.every((isMet) => isMet(this.toPublic(record))),
    );
    if (order === undefined) return records;
    const sign = order.descending ? -1 : 1;
    return records.sort(
      (a, b) => sign * compareFields((a as Fields)[order.field], (b as Fields)[order.field]),
    );
  }

  /** Lists candidates by the index of one of the fields, if the collection has one. */
  private listCandidates(equalFields: readonly (readonly [string, unknown])[]): Iterable<StoredRecord> {
    const { collection } = this;
    const tx = this.#tx;
    for (const [index, { field }] of Object.entries(collection.indexes)) {
      const [, value] = equalFields.find(([name]) => name === field) ?? [];
      if (typeof value === "string") return tx.index(collection, index, value);
    }
    return tx.all(collection);
  }

  /** An undefined value is refused: it could mean any record, or one without the field. */
  private requireValues(condition: Fields): void {
    if (!isJsonObject(condition))
      throw new OwnOperationError(
        `where takes fields with their values, or a function, not ${JSON.stringify(condition)}`,
      );
    for (const [name, value] of Object.entries(condition)) {
      this.requireField(name);
      if (value === undefined)
        throw new OwnOperationError(
          `where has the field ${name} with the value undefined; leave it out to find all records, or give null to find those without it`,
        );
    }
  }

  private requireField(name: string): void {
    const { properties } = this.publicCollection;
    if (Object.hasOwn(properties, name)) return;
    const hint = toHint(String(name), Object.keys(properties));
    throw new OwnOperationError(`${name} is not a field of ${this.collection.name}${hint}`);
  }
}

/** Compares two values; an absent one is the largest, and objects are equal. */
export function compareFields(a: unknown, b: unknown): number {
  if (a == null && b == null) return 0;
  if (a == null || b == null) return a == null ? 1 : -1;
  if ((a as string) < (b as string)) return -1;
  return (a as string) > (b as string) ? 1 : 0;
}
