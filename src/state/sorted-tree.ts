import { type Difference, differencesOf } from "./tree-differences.ts";

/**
 * A persistent, weight-balanced search tree that knows the size of every subtree, so that besides
 * `get` it answers `at(position)` and `rank(entry)` in O(log n). No kept library offers a persistent
 * ordered map with ranks, and offsets, totals and date ranges of the API's lists need exactly that;
 * see docs/decisions/0002-state-as-a-value.md for what was measured.
 *
 * Entries are ordered by `compare(keyA, valueA, keyB, valueB)`: a table orders by key alone, an index
 * by (order, id). Balance follows Adams' trees as in Haskell's Data.Map (delta 3, ratio 2).
 */
export type Compare<K, V> = (aKey: K, aValue: V, bKey: K, bValue: V) => number;

export interface Node<K, V> {
  readonly key: K;
  readonly value: V;
  readonly left: Node<K, V> | undefined;
  readonly right: Node<K, V> | undefined;
  readonly size: number;
}

const DELTA = 3;
const RATIO = 2;

export class SortedTree<K, V> {
  private readonly root: Node<K, V> | undefined;
  private readonly compare: Compare<K, V>;

  private constructor(compare: Compare<K, V>, root: Node<K, V> | undefined) {
    this.compare = compare;
    this.root = root;
  }

  static empty<K, V>(compare: Compare<K, V>): SortedTree<K, V> {
    return new SortedTree(compare, undefined);
  }

  /** Builds from entries that are already in order and distinct, in O(n). */
  static fromSorted<K, V>(compare: Compare<K, V>, entries: readonly (readonly [K, V])[]): SortedTree<K, V> {
    return new SortedTree(compare, build(entries, 0, entries.length));
  }

  get size(): number {
    return sizeOf(this.root);
  }

  /** The stored value of the entry that compares equal. */
  get(key: K, value?: V): V | undefined {
    let node = this.root;
    while (node !== undefined) {
      const order = this.compare(key, value as V, node.key, node.value);
      if (order === 0) return node.value;
      node = order < 0 ? node.left : node.right;
    }
    return undefined;
  }

  /** The value at a zero-based position in order, undefined outside 0..size-1. */
  at(position: number): V | undefined {
    return nodeAt(this.root, position)?.value;
  }

  /** The first entry in order. */
  first(): readonly [K, V] | undefined {
    const node = nodeAt(this.root, 0);
    return node && [node.key, node.value];
  }

  /** How many entries stand before this one, whether or not it is present itself. */
  rank(key: K, value: V): number {
    let node = this.root;
    let before = 0;
    while (node !== undefined) {
      if (this.compare(key, value, node.key, node.value) <= 0) {
        node = node.left;
      } else {
        before += sizeOf(node.left) + 1;
        node = node.right;
      }
    }
    return before;
  }

  set(key: K, value: V): SortedTree<K, V> {
    return new SortedTree(this.compare, this.inserted(this.root, key, value));
  }

  /**
   * Other values for keys that are all present, in order and distinct: each shared node is copied once,
   * however many of the entries lie below it.
   */
  replaceSorted(entries: readonly (readonly [K, V])[]): SortedTree<K, V> {
    return new SortedTree(this.compare, this.replaced(this.root, entries, [0, entries.length]));
  }

  /** The same tree (by reference) when nothing compares equal. */
  delete(key: K, value?: V): SortedTree<K, V> {
    const root = this.removed(this.root, key, value as V);
    return root === this.root ? this : new SortedTree(this.compare, root);
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

  /** Values at positions [from, to), last first. */
  *reversed(from = 0, to: number = this.size): IterableIterator<V> {
    for (const node of walkBack(this.root, from, to)) yield node.value;
  }

  *entries(from = 0, to: number = this.size): IterableIterator<[K, V]> {
    for (const node of walk(this.root, from, to)) yield [node.key, node.value];
  }

  /** See tree-differences.ts. */
  static *differences<K, V>(
    before: SortedTree<K, V>,
    after: SortedTree<K, V>,
  ): IterableIterator<Difference<K, V>> {
    yield* differencesOf(before.compare, before.root, after.root);
  }

  private inserted(node: Node<K, V> | undefined, key: K, value: V): Node<K, V> {
    if (node === undefined) return { key, value, left: undefined, right: undefined, size: 1 };
    const order = this.compare(key, value, node.key, node.value);
    if (order === 0) return { key, value, left: node.left, right: node.right, size: node.size };
    return order < 0
      ? balance(node, this.inserted(node.left, key, value), node.right)
      : balance(node, node.left, this.inserted(node.right, key, value));
  }

  private replaced(
    node: Node<K, V> | undefined,
    entries: readonly (readonly [K, V])[],
    [from, to]: readonly [number, number],
  ): Node<K, V> | undefined {
    if (node === undefined || from >= to) return node;
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [key, value] = entries[middle]!;
      if (this.compare(key, value, node.key, node.value) < 0) low = middle + 1;
      else high = middle;
    }
    const here = entries[low];
    const hit = low < to && this.compare(here![0], here![1], node.key, node.value) === 0;
    return {
      key: node.key,
      value: hit ? here![1] : node.value,
      left: this.replaced(node.left, entries, [from, low]),
      right: this.replaced(node.right, entries, [hit ? low + 1 : low, to]),
      size: node.size,
    };
  }

  private removed(node: Node<K, V> | undefined, key: K, value: V): Node<K, V> | undefined {
    if (node === undefined) return undefined;
    const order = this.compare(key, value, node.key, node.value);
    if (order === 0) return glue(node.left, node.right);
    if (order < 0) {
      const left = this.removed(node.left, key, value);
      return left === node.left ? node : balance(node, left, node.right);
    }
    const right = this.removed(node.right, key, value);
    return right === node.right ? node : balance(node, node.left, right);
  }
}

function sizeOf(node: Node<unknown, unknown> | undefined): number {
  return node === undefined ? 0 : node.size;
}

type Entry<K, V> = { readonly key: K; readonly value: V };

function make<K, V>(entry: Entry<K, V>, left: Node<K, V> | undefined, right: Node<K, V> | undefined) {
  return { key: entry.key, value: entry.value, left, right, size: sizeOf(left) + sizeOf(right) + 1 };
}

function balance<K, V>(
  entry: Entry<K, V>,
  left: Node<K, V> | undefined,
  right: Node<K, V> | undefined,
): Node<K, V> {
  const leftSize = sizeOf(left);
  const rightSize = sizeOf(right);
  if (leftSize + rightSize > 1) {
    if (rightSize > DELTA * leftSize) return rotateLeft(entry, left, right!);
    if (leftSize > DELTA * rightSize) return rotateRight(entry, left!, right);
  }
  return { key: entry.key, value: entry.value, left, right, size: leftSize + rightSize + 1 };
}

function rotateLeft<K, V>(entry: Entry<K, V>, left: Node<K, V> | undefined, right: Node<K, V>) {
  if (sizeOf(right.left) < RATIO * sizeOf(right.right)) {
    return make(right, make(entry, left, right.left), right.right);
  }
  const middle = right.left!;
  return make(middle, make(entry, left, middle.left), make(right, middle.right, right.right));
}

function rotateRight<K, V>(entry: Entry<K, V>, left: Node<K, V>, right: Node<K, V> | undefined) {
  if (sizeOf(left.right) < RATIO * sizeOf(left.left)) {
    return make(left, left.left, make(entry, left.right, right));
  }
  const middle = left.right!;
  return make(middle, make(left, left.left, middle.left), make(entry, middle.right, right));
}

function glue<K, V>(left: Node<K, V> | undefined, right: Node<K, V> | undefined): Node<K, V> | undefined {
  if (left === undefined) return right;
  if (right === undefined) return left;
  if (left.size > right.size) {
    const last = nodeAt(left, left.size - 1)!;
    return balance(last, withoutLast(left), right);
  }
  const first = nodeAt(right, 0)!;
  return balance(first, left, withoutFirst(right));
}

function withoutFirst<K, V>(node: Node<K, V>): Node<K, V> | undefined {
  return node.left === undefined ? node.right : balance(node, withoutFirst(node.left), node.right);
}

function withoutLast<K, V>(node: Node<K, V>): Node<K, V> | undefined {
  return node.right === undefined ? node.left : balance(node, node.left, withoutLast(node.right));
}

function nodeAt<K, V>(root: Node<K, V> | undefined, position: number): Node<K, V> | undefined {
  let node = root;
  let index = position;
  while (node !== undefined) {
    const before = sizeOf(node.left);
    if (index === before) return node;
    if (index < before) {
      node = node.left;
    } else {
      index -= before + 1;
      node = node.right;
    }
  }
  return undefined;
}

function build<K, V>(
  entries: readonly (readonly [K, V])[],
  from: number,
  to: number,
): Node<K, V> | undefined {
  if (from >= to) return undefined;
  const middle = (from + to) >>> 1;
  const [key, value] = entries[middle]!;
  return {
    key,
    value,
    left: build(entries, from, middle),
    right: build(entries, middle + 1, to),
    size: to - from,
  };
}

/** Appends the values at positions [skip, end) of a subtree. */
function collect<V>(
  node: Node<unknown, V> | undefined,
  { skip, end }: { skip: number; end: number },
  values: V[],
): void {
  if (node === undefined || skip >= node.size || end <= 0) return;
  const before = sizeOf(node.left);
  if (skip < before) collect(node.left, { skip, end }, values);
  if (skip <= before && before < end) values.push(node.value);
  if (end > before + 1) {
    collect(node.right, { skip: Math.max(0, skip - before - 1), end: end - before - 1 }, values);
  }
}

function* walk<K, V>(root: Node<K, V> | undefined, from: number, to: number): IterableIterator<Node<K, V>> {
  const end = Math.min(to, sizeOf(root));
  let left = end - Math.max(0, from);
  if (left <= 0) return;
  const path = pathTo(root, Math.max(0, from), "left");
  while (left-- > 0) {
    const node = path.pop()!;
    yield node;
    for (let next = node.right; next !== undefined; next = next.left) path.push(next);
  }
}

function* walkBack<K, V>(
  root: Node<K, V> | undefined,
  from: number,
  to: number,
): IterableIterator<Node<K, V>> {
  const end = Math.min(to, sizeOf(root));
  let left = end - Math.max(0, from);
  if (left <= 0) return;
  const path = pathTo(root, end - 1, "right");
  while (left-- > 0) {
    const node = path.pop()!;
    yield node;
    for (let next = node.left; next !== undefined; next = next.right) path.push(next);
  }
}

/** The nodes still to visit when a walk starts at `position`: those whose turn comes after it, and it. */
function pathTo<K, V>(root: Node<K, V> | undefined, position: number, towards: "left" | "right") {
  const path: Node<K, V>[] = [];
  let node = root;
  let index = position;
  while (node !== undefined) {
    const before = sizeOf(node.left);
    if (index === before) {
      path.push(node);
      return path;
    }
    if (index < before) {
      if (towards === "left") path.push(node);
      node = node.left;
    } else {
      if (towards === "right") path.push(node);
      index -= before + 1;
      node = node.right;
    }
  }
  return path;
}
