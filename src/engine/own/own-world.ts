import isEqual from "fast-deep-equal";
import type { Api } from "../contract/api.ts";
import { findEvent } from "../contract/api.ts";
import { invalidInput, OwnFault, resourceNotFound } from "../contract/errors.ts";
import { emit } from "../contract/event.ts";
import type { Call } from "../contract/operation.ts";
import { requireReferences } from "../contract/references.ts";
import { removeWithDependents } from "../contract/removal.ts";
import type { StateActor } from "../contract/resource.ts";
import { ShownCollection } from "../contract/shown-collection.ts";
import { createStateContext } from "../contract/state-context.ts";
import { toSingular } from "../contract/text.ts";
import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import type { Transaction } from "../state/transaction.ts";

type Fields = Record<string, unknown>;

const shownCollections = new WeakMap<Api, ReadonlyMap<string, ShownCollection>>();

/** Lists collections by name, without internal ones. */
function listShownCollections(api: Api): ReadonlyMap<string, ShownCollection> {
  let found = shownCollections.get(api);
  if (found === undefined) {
    found = new Map(
      api.resources.flatMap((resource) =>
        resource.collections
          .filter(({ internal }) => internal !== true)
          .map((one) => [one.name, new ShownCollection(one, resource)] as const),
      ),
    );
    shownCollections.set(api, found);
  }
  return found;
}

/** The world as handlers of own operations see it: records in their public form, as copies. */
export class OwnWorld {
  readonly #api: Api;
  readonly #transaction: CallTransaction;
  readonly #actor: StateActor;

  constructor({ api, world, principal, settings }: Call) {
    this.#api = api as Api;
    this.#transaction = new CallTransaction(world);
    this.#actor = { user_id: principal?.user_id, silent: false, settings };
  }

  /** Creates a world with a property for each collection. */
  static of(call: Call): OwnWorld {
    const api = call.api as Api;
    let World = worldClasses.get(api);
    if (World === undefined) {
      World = class extends OwnWorld {};
      for (const [name, collection] of listShownCollections(api))
        Object.defineProperty(World.prototype, name, {
          get(this: OwnWorld) {
            return this.openRecords(collection);
          },
        });
      worldClasses.set(api, World);
    }
    return new World(call);
  }

  get #tx(): Transaction {
    return this.#transaction.tx;
  }

  /** Later uses throw. */
  end(operation: string): void {
    this.#transaction.endedBy = operation;
  }

  get now(): string {
    return this.#tx.iso(this.#tx.now);
  }

  newId(prefix: string): string {
    return this.#tx.newId(prefix);
  }

  random(): number {
    return this.#tx.random("own").float();
  }

  of({ name }: { name: string }): OwnRecords {
    const collection = listShownCollections(this.#api).get(name);
    if (collection === undefined) throw new OwnFault(`there is no collection ${name}`);
    return this.openRecords(collection);
  }

  emit(event: string | { name: string }, record: object): void {
    const name = typeof event === "string" ? event : event.name;
    const declared = findEvent(this.#api, name);
    if (declared === undefined) throw new OwnFault(`there is no event ${name}`);
    const [collection] = declared.about.collections;
    const shown = collection && listShownCollections(this.#api).get(collection.name);
    const id = (record as Fields)[collection?.idField ?? "id"];
    const subject = declared.about.find(this.#tx, String(id)) ?? shown?.toStored(record as Fields, this.#tx);
    if (subject === undefined) throw new OwnFault(`${name} needs the record that it is about`);
    emit(this.#tx, declared, subject);
  }

  private openRecords(collection: ShownCollection): OwnRecords {
    return new OwnRecords(collection, this.#transaction, this.#actor);
  }
}

/** The transaction of one call. Changes after its end would be lost. */
class CallTransaction {
  endedBy: string | undefined;
  private readonly open: Transaction;

  constructor(tx: Transaction) {
    this.open = tx;
  }

  get tx(): Transaction {
    if (this.endedBy === undefined) return this.open;
    throw new OwnFault(
      `${this.endedBy} used the world after its end; a handler reads and changes records before it returns`,
    );
  }
}

const worldClasses = new WeakMap<Api, typeof OwnWorld>();

type Condition = Fields | ((record: Fields) => boolean);

/** Records of one collection, or those that meet a condition; read when they are used. */
export class OwnRecords implements Iterable<Fields> {
  private readonly shown: ShownCollection;
  readonly #transaction: CallTransaction;
  readonly #actor: StateActor;
  private readonly wanted: readonly Condition[];
  private readonly order: { field: string; descending: boolean } | undefined;

  constructor(
    shown: ShownCollection,
    transaction: CallTransaction,
    actor: StateActor,
    wanted: readonly Condition[] = [],
    order: OwnRecords["order"] = undefined,
  ) {
    this.shown = shown;
    this.#transaction = transaction;
    this.#actor = actor;
    this.wanted = wanted;
    this.order = order;
  }

  get #tx(): Transaction {
    return this.#transaction.tx;
  }

  get size(): number {
    return this.wanted.length === 0 ? this.#tx.all(this.collection).size : this.list().length;
  }

  get(id: string): Fields | undefined {
    const record = this.#tx.get(this.collection, id);
    return record === undefined ? undefined : this.show(record);
  }

  require(id: string): Fields {
    const { name, idField } = this.collection;
    const parameter = idField === "id" ? `${toSingular(name)}_id` : idField;
    const found = this.get(id);
    if (found === undefined) throw resourceNotFound(parameter, id);
    return found;
  }

  where(wanted: Condition): OwnRecords {
    if (typeof wanted === "object") for (const name of Object.keys(wanted)) this.requireField(name);
    return new OwnRecords(this.shown, this.#transaction, this.#actor, [...this.wanted, wanted], this.order);
  }

  orderBy(field: string, direction: "asc" | "desc" = "asc"): OwnRecords {
    this.requireField(field);
    const order = { field, descending: direction === "desc" };
    return new OwnRecords(this.shown, this.#transaction, this.#actor, this.wanted, order);
  }

  first(): Fields | undefined {
    return this.page({ limit: 1 })[0];
  }

  page(page: { limit?: number | null; offset?: number | null } = {}): Fields[] {
    const limit = Math.max(0, page.limit ?? Number.POSITIVE_INFINITY);
    const offset = Math.max(0, page.offset ?? 0);
    if (this.wanted.length === 0 && this.order === undefined) {
      const all = this.#tx.all(this.collection);
      return all.page(offset, Math.min(limit, all.size)).map((record) => this.show(record));
    }
    return this.list()
      .slice(offset, offset + limit)
      .map((record) => this.show(record));
  }

  [Symbol.iterator](): IterableIterator<Fields> {
    return this.page().values();
  }

  /** A handler may return them. */
  toJSON(): Fields[] {
    return this.page();
  }

  /** @throws ApiError INVALID_INPUT for a field that does not fit */
  insert(values: Fields): Fields {
    const { shown, collection } = this;
    const [tx, actor] = [this.#tx, this.#actor];
    const fields = copy(values) as Fields;
    shown.check(fields);
    const stored = shown.toStored(fields, tx);
    requireReferences(tx, collection, stored);
    const random = tx.random(`own/${collection.name}`);
    const record: Fields = shown.factory(
      stored,
      createStateContext(tx, { random, settings: actor.settings }),
    );
    const id = collection.idOf(record);
    if (tx.get(collection, id) !== undefined) throw invalidInput(collection.idField, id, `${id} is in use`);
    const inserted = shown.rules.insert?.(tx, record, actor) ?? tx.insert(collection, record);
    const after = this.show(tx.get(collection, collection.idOf(inserted)) ?? inserted);
    shown.checkPublic(after);
    shown.requireKept(fields, after, tx);
    return after;
  }

  /** @throws ApiError RESOURCE_NOT_FOUND, INVALID_INPUT */
  update(id: string, values: Fields): Fields {
    const { shown, collection } = this;
    const [tx, actor] = [this.#tx, this.#actor];
    this.require(id);
    const fields = copy(values) as Fields;
    shown.check(fields);
    if ((fields[collection.idField] ?? id) !== id)
      throw invalidInput(collection.idField, fields[collection.idField], `the id of ${id} cannot change`);
    const stored = shown.toStored(fields, tx);
    requireReferences(tx, collection, stored);
    const before = tx.get(collection, id)!;
    const shownBefore = this.show(before);
    const after = { ...before, ...stored };
    const updated = shown.rules.update?.(tx, before, after, actor) ?? tx.put(collection, after);
    const changed = this.show(tx.get(collection, id) ?? updated);
    shown.requireKept(fields, changed, tx, shownBefore);
    return changed;
  }

  /** @throws ApiError RESOURCE_NOT_FOUND */
  remove(id: string): void {
    this.require(id);
    this.shown.rules.remove?.(this.#tx, this.#tx.get(this.collection, id)!, this.#actor);
    removeWithDependents(this.#tx, this.collection, id);
  }

  private get collection(): AnyCollection {
    return this.shown.collection;
  }

  private show(record: StoredRecord): Fields {
    return copy(this.shown.toPublic(record, this.#tx)) as Fields;
  }

  private list(): StoredRecord[] {
    const { shown, order } = this;
    const tx = this.#tx;
    const equal = this.wanted.flatMap((one) =>
      typeof one === "object" ? Object.entries(shown.toStored(one, tx)) : [],
    );
    const conditions = this.wanted.filter((one) => typeof one === "function");
    const found = [...this.listCandidates(equal)].filter(
      (record) =>
        equal.every(([name, value]) => isSame((record as Fields)[name], value)) &&
        conditions.every((fits) => fits(this.show(record))),
    );
    if (order === undefined) return found;
    const sign = order.descending ? -1 : 1;
    return found.sort((a, b) => sign * compare((a as Fields)[order.field], (b as Fields)[order.field]));
  }

  /** Lists candidates by the index of one of the fields, if the collection has one. */
  private listCandidates(equal: readonly (readonly [string, unknown])[]): Iterable<StoredRecord> {
    const { collection } = this;
    const tx = this.#tx;
    for (const [name, { field }] of Object.entries(collection.indexes)) {
      const [, value] = equal.find(([wanted]) => wanted === field) ?? [];
      if (typeof value === "string") return tx.index(collection, name, value);
    }
    return tx.all(collection);
  }

  private requireField(name: string): void {
    if (Object.hasOwn(this.shown.properties, name)) return;
    throw new OwnFault(`${name} is not a field of ${this.collection.name}`);
  }
}

/** A field that is absent is equal to null. */
function isSame(found: unknown, wanted: unknown): boolean {
  return isEqual(found ?? null, wanted ?? null);
}

/** Compares two values; an absent one is the largest. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a == null || b == null) return (a ?? null) === (b ?? null) ? 0 : a == null ? 1 : -1;
  return (a as string) < (b as string) ? -1 : 1;
}

/** Copies JSON values: a handler may change what it gets, and what it has given. */
export function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (inner === undefined ? [] : [[name, copy(inner)]])),
  );
}
