import type { AnyCollection, StoredRecord } from "./collection.ts";
import { type AnyTable, Table } from "./table.ts";
import { timers } from "./timers.ts";

/** The whole world as one immutable value. Reset, snapshot, fork and rollback each store or replace a reference to one. */
export interface Root {
  readonly tables: Tables;
  /** How many ids and labelled draws were made; part of the value, so that a restore repeats them. */
  readonly draws: number;
}

/**
 * Returns a function that finds out whether records of a collection can be read by these declarations. A world may still
 * have records of a user's own collection that was removed.
 */
export function createReadableTest(collections: readonly AnyCollection[]) {
  const idFields = new Map([...collections, timers].map(({ name, idField }) => [name, idField]));
  return ({ name, idField }: AnyCollection): boolean => idFields.get(name) === idField;
}

/** The root with the records alone that these declarations can read, as files need it. */
export function keepReadable(root: Root, collections: readonly AnyCollection[]): Root {
  const isReadable = createReadableTest(collections);
  const others = root.tables
    .all()
    .flatMap(({ collection }) => (isReadable(collection) ? [] : collection.name));
  return others.length === 0 ? root : { ...root, tables: root.tables.without(others) };
}

/** The records that have an id of their own by the collection's new declaration, which may name another field. */
function listIdentified(collection: AnyCollection, before: AnyTable | undefined): StoredRecord[] {
  const records = new Map<unknown, StoredRecord>();
  for (const record of before?.all() ?? []) records.set(collection.getId(record), record);
  return [...records].flatMap(([id, record]) => (typeof id === "string" && id !== "" ? [record] : []));
}

/**
 * The tables of a root by their collections' names: a list, and a map of positions in it, which a change shares; only
 * the list is copied. (V8 stores an object of some forty keys as a dictionary, whose copy was the most expensive part
 * of a small change.)
 */
export class Tables implements Iterable<readonly [string, AnyTable]> {
  private readonly positions: ReadonlyMap<string, number>;
  private readonly list: readonly AnyTable[];

  private constructor(positions: ReadonlyMap<string, number>, list: readonly AnyTable[]) {
    this.positions = positions;
    this.list = list;
  }

  /** @param tables one of each name */
  static of(tables: readonly AnyTable[]): Tables {
    return new Tables(new Map(tables.map(({ collection }, position) => [collection.name, position])), tables);
  }

  static empty(collections: readonly AnyCollection[]): Tables {
    return Tables.of(collections.map((collection) => Table.empty(collection)));
  }

  get(name: string): AnyTable | undefined {
    const position = this.positions.get(name);
    return position === undefined ? undefined : this.list[position];
  }

  all(): readonly AnyTable[] {
    return this.list;
  }

  replace(table: AnyTable): Tables {
    const position = this.positions.get(table.collection.name);
    if (position === undefined) throw new Error(`there is no table ${table.collection.name}`);
    const list = this.list.slice();
    list[position] = table;
    return new Tables(this.positions, list);
  }

  replaceAll(tables: readonly AnyTable[]): Tables {
    return tables.reduce((result: Tables, table) => result.replace(table), this);
  }

  /**
   * Adds a table for each of these collections. A new one is empty; a collection that was declared again
   * keeps its records that have an id. Other tables stay, since their collection may be declared again.
   */
  addMissing(collections: readonly AnyCollection[]): Tables {
    const missing = collections.filter((collection) => this.get(collection.name)?.collection !== collection);
    if (missing.length === 0) return this;
    const tables = new Map<string, AnyTable>(this);
    for (const collection of missing) {
      const before = tables.get(collection.name);
      tables.set(collection.name, new Table(collection, () => listIdentified(collection, before)));
    }
    return Tables.of([...tables.values()]);
  }

  without(names: readonly string[]): Tables {
    return Tables.of(this.list.filter(({ collection }) => !names.includes(collection.name)));
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, AnyTable]> {
    for (const table of this.list) yield [table.collection.name, table];
  }
}
