import type { Collection, Index, StoredRecord } from "./collection.ts";
import { type Compare, SortedTree } from "./sorted-tree.ts";
import { type IdTree, type Order, View } from "./view.ts";

type GroupTree = SortedTree<string, IdTree>;

interface Content<R> {
  readonly rows: SortedTree<string, R>;
  /** In the order in which the collection declares them. */
  readonly indexes: readonly GroupTree[];
}

const byKey: Compare<string, unknown> = (a, _a, b) => (a < b ? -1 : a > b ? 1 : 0);
const byOrderThenId: Compare<Order, string> = (a, aId, b, bId) =>
  a < b ? -1 : a > b ? 1 : aId < bId ? -1 : aId > bId ? 1 : 0;

const EMPTY_IDS: IdTree = SortedTree.empty(byOrderThenId);

/** One record that was added (no `before`), removed (no `after`) or replaced. */
export interface RecordChange<R> {
  id: string;
  before: R | undefined;
  after: R | undefined;
}

/**
 * One collection's records and indexes as a value: every change returns a new table that shares the
 * rest. Content may be given as a thunk: a fixture's big collections are only made when first read,
 * once for all sandboxes that share the table.
 */
export class Table<R extends StoredRecord> {
  private content: Content<R> | undefined;
  private source: (() => readonly R[]) | undefined;
  private readonly count: (() => number) | undefined;
  readonly collection: Collection<R>;

  private constructor(
    collection: Collection<R>,
    content: Content<R> | undefined,
    source?: () => readonly R[],
    count?: () => number,
  ) {
    this.collection = collection;
    this.content = content;
    this.source = source;
    this.count = count;
  }

  /** @param count how many there will be, where that is known without making them */
  static of<R extends StoredRecord>(
    collection: Collection<R>,
    source: () => readonly R[],
    count?: () => number,
  ): Table<R> {
    return new Table(collection, undefined, source, count);
  }

  static empty<R extends StoredRecord>(collection: Collection<R>): Table<R> {
    return Table.of(collection, () => []);
  }

  get size(): number {
    if (this.content === undefined && this.count !== undefined) return this.count();
    return this.loaded().rows.size;
  }

  get(id: string): R | undefined {
    return this.loaded().rows.get(id);
  }

  /** All records by id. */
  all(): View<R> {
    const { rows } = this.loaded();
    return View.ofRows(rows);
  }

  index(name: string, group: string): View<R> {
    const { rows, indexes } = this.loaded();
    const groups = indexes[this.collection.indexNames.indexOf(name)];
    if (groups === undefined) throw new Error(`${this.collection.name} has no index ${name}`);
    return View.ofIds(groups.get(group) ?? EMPTY_IDS, rows);
  }

  put(record: R): Table<R> {
    const id = this.collection.idOf(record);
    return this.replaced({ id, before: this.get(id), after: record });
  }

  remove(id: string): Table<R> {
    return this.replaced({ id, before: this.get(id), after: undefined });
  }

  /** For whoever knows what stands there, `before`. */
  replaced({ id, before, after }: RecordChange<R>): Table<R> {
    if (before === after) return this;
    const { rows, indexes } = this.loaded();
    return new Table(this.collection, {
      rows: after === undefined ? rows.delete(id) : rows.set(id, after),
      indexes: this.reindexed(indexes, before, after),
    });
  }

  /** The same as one `put` for each record, in any order; their ids are distinct. */
  putAll(records: readonly R[]): Table<R> {
    const { rows, indexes } = this.loaded();
    const { idOf } = this.collection;
    const specs = this.collection.indexList;
    const inPlace: (readonly [string, R])[] = [];
    const others: R[] = [];
    for (const record of records) {
      const id = idOf(record);
      const before = rows.get(id);
      if (before !== undefined && specs.every((spec) => staysInPlace(spec, before, record)))
        inPlace.push([id, record]);
      else others.push(record);
    }
    inPlace.sort(([a], [b]) => (a < b ? -1 : 1));
    let table: Table<R> =
      inPlace.length === 0
        ? this
        : new Table(this.collection, { rows: rows.replaceSorted(inPlace), indexes });
    for (const record of others) table = table.put(record);
    return table;
  }

  /** What changed from this table to another of its collection; nothing is read when they are the same. */
  *changesTo(after: Table<R>): IterableIterator<RecordChange<R>> {
    if (this === after) return;
    for (const { key, before, after: is } of SortedTree.differences(
      this.loaded().rows,
      after.loaded().rows,
    )) {
      yield { id: key, before, after: is };
    }
  }

  private reindexed(indexes: Content<R>["indexes"], before: R | undefined, after: R | undefined) {
    const specs = this.collection.indexList;
    const next = indexes.slice();
    for (let at = 0; at < specs.length; at++) {
      const spec = specs[at]!;
      if (before !== undefined && after !== undefined && staysInPlace(spec, before, after)) continue;
      let tree = next[at]!;
      if (before !== undefined) tree = withoutId(tree, placeIn(spec, before), this.collection.idOf(before));
      if (after !== undefined) tree = withId(tree, placeIn(spec, after), after, this.collection);
      next[at] = tree;
    }
    return next;
  }

  private loaded(): Content<R> {
    if (this.content === undefined) {
      this.content = build(this.collection, this.source!());
      this.source = undefined;
    }
    return this.content;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a root holds tables of every record type
export type AnyTable = Table<any>;

/** Where an index lists a record. */
interface Place {
  groups: readonly string[];
  order: Order;
}

function placeIn<R>({ groups, order }: Index<R>, record: R): Place {
  return { groups: groups(record), order: order(record) };
}

function withId<R extends StoredRecord>(
  tree: GroupTree,
  place: Place,
  record: R,
  collection: Collection<R>,
): GroupTree {
  const id = collection.idOf(record);
  let next = tree;
  for (const group of place.groups) {
    next = next.set(group, (next.get(group) ?? EMPTY_IDS).set(place.order, id));
  }
  return next;
}

function withoutId(tree: GroupTree, place: Place, id: string): GroupTree {
  let next = tree;
  for (const group of place.groups) {
    const ids = (next.get(group) ?? EMPTY_IDS).delete(place.order, id);
    next = ids.size === 0 ? next.delete(group) : next.set(group, ids);
  }
  return next;
}

/** Whether an index would list the new record where it lists the old one. */
function staysInPlace<R>({ groups, order }: Index<R>, before: R, after: R): boolean {
  return order(before) === order(after) && sameGroups(groups(before), groups(after));
}

function sameGroups(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((group, position) => group === b[position]);
}

function build<R extends StoredRecord>(collection: Collection<R>, records: readonly R[]): Content<R> {
  const entries = records.map((record) => [collection.idOf(record), record] as const);
  const rows = SortedTree.fromSorted<string, R>(byKey, sortedDistinct(collection, entries));
  const indexes = collection.indexList.map(({ groups, order }) => {
    const lists = new Map<string, [Order, string][]>();
    for (const [id, record] of entries) {
      for (const group of groups(record)) {
        let list = lists.get(group);
        if (list === undefined) {
          list = [];
          lists.set(group, list);
        }
        list.push([order(record), id]);
      }
    }
    const trees = [...lists]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([group, ids]) => {
        ids.sort(([a, aId], [b, bId]) => byOrderThenId(a, aId, b, bId));
        return [group, SortedTree.fromSorted(byOrderThenId, ids)] as const;
      });
    return SortedTree.fromSorted<string, IdTree>(byKey, trees);
  });
  return { rows, indexes };
}

function sortedDistinct<R extends StoredRecord>(
  collection: Collection<R>,
  entries: readonly (readonly [string, R])[],
): (readonly [string, R])[] {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (let i = 1; i < sorted.length; i++) {
    if (sorted[i]![0] === sorted[i - 1]![0]) {
      throw new Error(`${collection.name} holds the id ${sorted[i]![0]} twice`);
    }
  }
  return sorted;
}
