import { getOrAdd } from "../maps.ts";
import type { Collection, Index, StoredRecord } from "./collection.ts";
import { type Compare, SortedTree } from "./sorted-tree.ts";
import { type IdTree, type Order, View } from "./view.ts";

type GroupTree = SortedTree<string, IdTree>;

interface Content<R> {
  readonly records: SortedTree<string, R>;
  /** In the order in which the collection declares them. */
  readonly indexes: readonly GroupTree[];
}

const byKey: Compare<string, unknown> = (a, _a, b) => (a < b ? -1 : a > b ? 1 : 0);
const byOrderThenId: Compare<Order, string> = (a, aId, b, bId) =>
  a < b ? -1 : a > b ? 1 : aId < bId ? -1 : aId > bId ? 1 : 0;

const EMPTY_IDS: IdTree = SortedTree.empty(byOrderThenId);

/** One record that was added (no `before`), removed (no `after`) or replaced. */
interface RecordChange<R> {
  id: string;
  before: R | undefined;
  after: R | undefined;
}

/**
 * One collection's records and indexes as a value: every change returns a new table that shares the
 * rest. The content may be a function, so that large collections of a fixture are created when they are
 * first read, once for all sandboxes that share the table.
 */
export class Table<R extends StoredRecord> {
  readonly collection: Collection<R>;
  private content: Content<R> | (() => readonly R[]);
  private readonly count: (() => number) | undefined;

  /** @param count returns the number of records, if it is known without creating them */
  constructor(collection: Collection<R>, content: Content<R> | (() => readonly R[]), count?: () => number) {
    this.collection = collection;
    this.content = content;
    this.count = count;
  }

  static empty<R extends StoredRecord>(collection: Collection<R>): Table<R> {
    return new Table(collection, () => []);
  }

  get size(): number {
    const { content, count } = this;
    return typeof content === "function" && count !== undefined ? count() : this.load().records.size;
  }

  get(id: string): R | undefined {
    return this.load().records.get(id);
  }

  all(): View<R> {
    return View.ofRecords(this.load().records);
  }

  index(name: string, group: string): View<R> {
    const { records, indexes } = this.load();
    const index = this.collection.indexes[name];
    if (index === undefined) throw new Error(`${this.collection.name} has no index ${name}`);
    return View.ofIds(indexes[index.position]!.get(group) ?? EMPTY_IDS, records);
  }

  put(record: R): Table<R> {
    const id = this.collection.getId(record);
    return this.apply({ id, before: this.get(id), after: record });
  }

  remove(id: string): Table<R> {
    return this.apply({ id, before: this.get(id), after: undefined });
  }

  /** @param change its `before` is the table's record of that id */
  apply({ id, before, after }: RecordChange<R>): Table<R> {
    if (before === after) return this;
    const { records, indexes } = this.load();
    return new Table(this.collection, {
      records: after === undefined ? records.delete(id) : records.set(id, after),
      indexes: indexes.map((groupTree, position) => {
        const index = this.collection.indexList[position]!;
        if (before !== undefined && after !== undefined && keepsPosition(index, before, after))
          return groupTree;
        const withoutOld = before === undefined ? groupTree : removeFromGroups(groupTree, index, before, id);
        return after === undefined ? withoutOld : addToGroups(withoutOld, index, after, id);
      }),
    });
  }

  /** The same as one `put` for each record, in any order; their ids are distinct. */
  putAll(changed: readonly R[]): Table<R> {
    const { records, indexes } = this.load();
    const { getId, indexList } = this.collection;
    const unmoved: (readonly [string, R])[] = [];
    const moved: R[] = [];
    for (const record of changed) {
      const id = getId(record);
      const before = records.get(id);
      if (before !== undefined && indexList.every((index) => keepsPosition(index, before, record)))
        unmoved.push([id, record]);
      else moved.push(record);
    }
    unmoved.sort(([a], [b]) => (a < b ? -1 : 1));
    let table: Table<R> = this;
    if (unmoved.length > 0)
      table = new Table(this.collection, { records: records.replaceSorted(unmoved), indexes });
    for (const record of moved) table = table.put(record);
    return table;
  }

  /** The changes from this table to another of its collection; nothing is read when they are the same. */
  *listChangesTo(other: Table<R>): IterableIterator<RecordChange<R>> {
    if (this === other) return;
    const differences = SortedTree.listDifferences(this.load().records, other.load().records);
    for (const { key, before, after } of differences) yield { id: key, before, after };
  }

  private load(): Content<R> {
    if (typeof this.content === "function") this.content = build(this.collection, this.content());
    return this.content;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a root holds tables of every record type
export type AnyTable = Table<any>;

function addToGroups<R>(tree: GroupTree, { groups, order }: Index<R>, record: R, id: string): GroupTree {
  let next = tree;
  for (const group of groups(record))
    next = next.set(group, (next.get(group) ?? EMPTY_IDS).set(order(record), id));
  return next;
}

function removeFromGroups<R>(tree: GroupTree, { groups, order }: Index<R>, record: R, id: string): GroupTree {
  let next = tree;
  for (const group of groups(record)) {
    const ids = (next.get(group) ?? EMPTY_IDS).delete(order(record), id);
    next = ids.size === 0 ? next.delete(group) : next.set(group, ids);
  }
  return next;
}

/** Whether an index has the new record at the position of the old one. */
function keepsPosition<R>({ groups, order }: Index<R>, before: R, after: R): boolean {
  if (order(before) !== order(after)) return false;
  const groupsBefore = groups(before);
  const groupsAfter = groups(after);
  return (
    groupsBefore.length === groupsAfter.length && groupsBefore.every((group, at) => group === groupsAfter[at])
  );
}

function build<R extends StoredRecord>(
  { name, getId, indexList }: Collection<R>,
  records: readonly R[],
): Content<R> {
  const entries = records.map((record) => [getId(record), record] as const);
  const indexes = indexList.map(({ groups, order }) => {
    const lists = new Map<string, [Order, string][]>();
    for (const [id, record] of entries) {
      for (const group of groups(record)) getOrAdd(lists, group, () => []).push([order(record), id]);
    }
    const trees = [...lists].map(([group, ids]) => {
      ids.sort(([a, aId], [b, bId]) => byOrderThenId(a, aId, b, bId));
      return [group, SortedTree.fromSorted(byOrderThenId, ids)] as const;
    });
    return SortedTree.fromSorted(byKey, trees.sort(compareKeys));
  });
  entries.sort(compareKeys);
  const duplicate = entries.find(([id], at) => id === entries[at + 1]?.[0]);
  if (duplicate !== undefined) throw new Error(`${name} holds the id ${duplicate[0]} twice`);
  return { records: SortedTree.fromSorted(byKey, entries), indexes };
}

function compareKeys([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
