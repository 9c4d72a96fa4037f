import { PackedLists, type Packing } from "./packed-lists.ts";
import { type Difference, differencesOf } from "./tree-differences.ts";
import {
  balance,
  type Compare,
  collect,
  entryAt,
  glue,
  isRun,
  type Lists,
  link,
  type Node,
  nodesOf,
  opened,
  Run,
  rankIn,
  sizeOf,
  type Tree,
  walk,
} from "./tree-nodes.ts";

export interface TreeKind<K, V> {
  readonly compare: Compare<K, V>;
  /** Of trees whose older entries are seldom read. What is read of them is another object each time. */
  readonly packing?: Packing<K, V> | undefined;
}

/** What was added before all else, the newest first; each stands before the rest. */
interface Edge<K, V> {
  readonly key: K;
  readonly value: V;
  readonly rest: Edge<K, V> | undefined;
  readonly size: number;
}

/** Below that, the path to an entry is no longer than an edge would be. */
const LEAST_WITH_EDGE = 64;
const MAX_EDGE = 32;
/** Of fewer, a run spares the room of one node at most. */
const LEAST_IN_RUN = 4;
/** Of fewer, a packed run would be little but what it has anyway. */
const LEAST_PACKED = 16;

/**
 * A persistent, weight-balanced search tree that knows the size of every subtree, so that besides
 * `get` it answers `at(position)` and `rank(entry)` in O(log n). No kept library offers a persistent
 * ordered map with ranks, and offsets, totals and date ranges of the API's lists need exactly that;
 * see docs/decisions/0002-state-as-a-value.md for what was measured.
 *
 * Lists are newest first, so most of what is added comes before all else. It waits in a chain at the tree's edge
 * until somebody looks behind it or the chain has grown long, and then goes in at once: a path through a large tree
 * is copied once for all of it.
 */
export class SortedTree<K, V> {
  private within: Tree<K, V>;
  private edge: Edge<K, V> | undefined;
  readonly kind: TreeKind<K, V>;

  private constructor(kind: TreeKind<K, V>, root: Tree<K, V>, edge?: Edge<K, V>) {
    this.kind = kind;
    this.within = root;
    this.edge = edge;
  }

  static empty<K, V>(kind: TreeKind<K, V>): SortedTree<K, V> {
    return new SortedTree(kind, undefined);
  }

  /** Builds from entries that are already in order and distinct, in O(n). */
  static fromSorted<K, V>(kind: TreeKind<K, V>, entries: readonly (readonly [K, V])[]): SortedTree<K, V> {
    const keys = entries.map(([key]) => key);
    const values = entries.map(([, value]) => value);
    return new SortedTree(kind, nodesOf({ keys, values }, 0, keys.length));
  }

  get size(): number {
    return sizeOf(this.within) + (this.edge?.size ?? 0);
  }

  /** The stored value of the entry that compares equal. */
  get(key: K, value?: V): V | undefined {
    const { edge } = this;
    const { compare } = this.kind;
    if (edge !== undefined && compare(key, value as V, edge.key, edge.value) < 0) return undefined;
    let node = this.root;
    while (node !== undefined) {
      if (isRun(node)) return this.found(node, key, value as V);
      const order = compare(key, value as V, node.key, node.value);
      if (order === 0) return node.value;
      node = order < 0 ? node.left : node.right;
    }
    return undefined;
  }

  private found(run: Run<K, V>, key: K, value: V): V | undefined {
    const at = rankIn(run, this.kind.compare, { key, value });
    const { keys, values } = run.lists;
    return at < run.size && this.kind.compare(key, value, keys[at]!, values[at]!) === 0
      ? values[at]
      : undefined;
  }

  /** The value at a zero-based position in order, undefined outside 0..size-1. */
  at(position: number): V | undefined {
    return entryAt(this.root, position)?.value;
  }

  /** The first entry in order. */
  first(): readonly [K, V] | undefined {
    const entry = entryAt(this.root, 0);
    return entry && [entry.key, entry.value];
  }

  /** How many entries stand before this one, whether or not it is present itself. */
  rank(key: K, value: V): number {
    const { compare } = this.kind;
    let node = this.root;
    let before = 0;
    while (node !== undefined) {
      if (isRun(node)) return before + rankIn(node, compare, { key, value });
      if (compare(key, value, node.key, node.value) <= 0) {
        node = node.left;
      } else {
        before += sizeOf(node.left) + 1;
        node = node.right;
      }
    }
    return before;
  }

  set(key: K, value: V): SortedTree<K, V> {
    const first = this.size < LEAST_WITH_EDGE ? undefined : (this.edge ?? entryAt(this.within, 0));
    if (first !== undefined && this.kind.compare(key, value, first.key, first.value) < 0) {
      const rest = this.edge?.size === MAX_EDGE ? undefined : this.edge;
      const size = rest === undefined ? 1 : rest.size + 1;
      const within = rest === undefined ? this.root : this.within;
      return new SortedTree(this.kind, within, { key, value, rest, size });
    }
    return new SortedTree(this.kind, this.inserted(this.root, key, value));
  }

  /**
   * Other values for keys that are all present, in order and distinct: each shared node is copied once,
   * however many of the entries lie below it.
   */
  replaceSorted(entries: readonly (readonly [K, V])[]): SortedTree<K, V> {
    return new SortedTree(this.kind, this.replaced(this.root, entries, [0, entries.length]));
  }

  /** The same tree (by reference) when nothing compares equal. */
  delete(key: K, value?: V): SortedTree<K, V> {
    const root = this.removed(this.root, key, value as V);
    return root === this.root ? this : new SortedTree(this.kind, root);
  }

  /** Values at positions [from, to), in order, at once. */
  slice(from = 0, to: number = this.size): V[] {
    const values: V[] = [];
    collect(this.root, { skip: Math.max(0, from), end: to }, values);
    return values;
  }

  /** The same one by one, for lists that may not be read to their end. */
  *values(from = 0, to: number = this.size): IterableIterator<V> {
    for (const node of walk(this.root, from, to)) yield node.value;
  }

  *entries(from = 0, to: number = this.size): IterableIterator<[K, V]> {
    for (const node of walk(this.root, from, to)) yield [node.key, node.value];
  }

  /** See tree-differences.ts. */
  static *differences<K, V>(
    before: SortedTree<K, V>,
    after: SortedTree<K, V>,
  ): IterableIterator<Difference<K, V>> {
    yield* differencesOf(before.kind.compare, before.root, after.root);
  }

  /** All of it as one tree; the same value as before. */
  private get root(): Tree<K, V> {
    if (this.edge === undefined) return this.within;
    // Of their length from the start: lists that grew by appending have room for ten more.
    const keys: K[] = new Array(this.edge.size - 1);
    const values: V[] = new Array(this.edge.size - 1);
    let last = this.edge;
    for (let at = 0; last.rest !== undefined; last = last.rest) {
      keys[at] = last.key;
      values[at++] = last.value;
    }
    this.within = link(this.runOf({ keys, values }), last, this.within);
    this.edge = undefined;
    return this.within;
  }

  private runOf(lists: Lists<K, V>): Tree<K, V> {
    const size = lists.keys.length;
    if (size < LEAST_IN_RUN) return nodesOf(lists, 0, size);
    const { packing } = this.kind;
    const packed = packing !== undefined && size >= LEAST_PACKED;
    return new Run(packed ? PackedLists.of(packing, lists) : lists, size);
  }

  private inserted(tree: Tree<K, V>, key: K, value: V): Node<K, V> {
    if (tree === undefined) return { key, value, left: undefined, right: undefined, size: 1 };
    const node = opened(tree);
    const order = this.kind.compare(key, value, node.key, node.value);
    if (order === 0) return { key, value, left: node.left, right: node.right, size: node.size };
    return order < 0
      ? balance(node, this.inserted(node.left, key, value), node.right)
      : balance(node, node.left, this.inserted(node.right, key, value));
  }

  private replaced(
    tree: Tree<K, V>,
    entries: readonly (readonly [K, V])[],
    [from, to]: readonly [number, number],
  ): Tree<K, V> {
    if (tree === undefined || from >= to) return tree;
    const node = opened(tree);
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [key, value] = entries[middle]!;
      if (this.kind.compare(key, value, node.key, node.value) < 0) low = middle + 1;
      else high = middle;
    }
    const here = entries[low];
    const hit = low < to && this.kind.compare(here![0], here![1], node.key, node.value) === 0;
    return {
      key: node.key,
      value: hit ? here![1] : node.value,
      left: this.replaced(node.left, entries, [from, low]),
      right: this.replaced(node.right, entries, [hit ? low + 1 : low, to]),
      size: node.size,
    };
  }

  private removed(tree: Tree<K, V>, key: K, value: V): Tree<K, V> {
    if (tree === undefined) return undefined;
    const node = opened(tree);
    const order = this.kind.compare(key, value, node.key, node.value);
    if (order === 0) return glue(node.left, node.right);
    if (order < 0) {
      const left = this.removed(node.left, key, value);
      return left === node.left ? tree : balance(node, left, node.right);
    }
    const right = this.removed(node.right, key, value);
    return right === node.right ? tree : balance(node, node.left, right);
  }
}
