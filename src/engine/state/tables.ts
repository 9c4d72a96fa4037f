import type { AnyCollection } from "./collection.ts";
import { type AnyTable, Table } from "./table.ts";

/**
 * The tables of a root, by their collections' names. A list behind one map of places, which all roots of a
 * base share: a change copies the list and nothing else. (As an object with some forty keys, which V8 keeps
 * as a dictionary, the copy was the dearest part of a small change.)
 */
export class Tables implements Iterable<readonly [string, AnyTable]> {
  private readonly places: ReadonlyMap<string, number>;
  private readonly list: readonly AnyTable[];

  private constructor(places: ReadonlyMap<string, number>, list: readonly AnyTable[]) {
    this.places = places;
    this.list = list;
  }

  static of(tables: Iterable<AnyTable>): Tables {
    const byName = new Map([...tables].map((table) => [table.collection.name, table]));
    return new Tables(new Map([...byName.keys()].map((name, place) => [name, place])), [...byName.values()]);
  }

  static empty(collections: readonly AnyCollection[]): Tables {
    return Tables.of(collections.map((collection) => Table.empty(collection)));
  }

  get(name: string): AnyTable | undefined {
    const place = this.places.get(name);
    return place === undefined ? undefined : this.list[place];
  }

  names(): Iterable<string> {
    return this.places.keys();
  }

  all(): readonly AnyTable[] {
    return this.list;
  }

  /** With another table in the place of the one of its name, which there is. */
  replaced(table: AnyTable): Tables {
    const place = this.places.get(table.collection.name);
    if (place === undefined) throw new Error(`there is no table ${table.collection.name}`);
    const list = this.list.slice();
    list[place] = table;
    return new Tables(this.places, list);
  }

  /** With these in the place of those of their names. */
  replacedAll(tables: Iterable<AnyTable>): Tables {
    let result: Tables = this;
    for (const table of tables) result = result.replaced(table);
    return result;
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, AnyTable]> {
    for (const table of this.list) yield [table.collection.name, table];
  }
}
