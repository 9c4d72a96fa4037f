/**
 * The nodes of a sorted tree: balancing, positions and walks, none of which compares keys. Nodes are never
 * changed, so trees share them. Balance follows Adams' trees as in Haskell's Data.Map (delta 3, ratio 2).
 */
export interface Node<K, V> {
  readonly key: K;
  readonly value: V;
  readonly left: Tree<K, V>;
  readonly right: Tree<K, V>;
  readonly size: number;
}

/** Entries in order, with distinct keys; `values` are as many as `keys`. */
export interface Lists<K, V> {
  readonly keys: readonly K[];
  readonly values: readonly V[];
}

/**
 * A subtree whose entries, one or more, have no nodes until one of them changes, or the tree is balanced within it.
 * Lists of what happens grow by what comes before all else: so kept, an entry takes 16 bytes instead of the 64 of a
 * node, and a collector that marks them finds a few objects in place of one for each.
 */
export class Run<K, V> {
  readonly lists: Lists<K, V>;
  readonly size: number;

  constructor(lists: Lists<K, V>, size: number) {
    this.lists = lists;
    this.size = size;
  }
}

export type Subtree<K, V> = Node<K, V> | Run<K, V>;
export type Tree<K, V> = Subtree<K, V> | undefined;

/** The order of entries: a table's goes by key alone, an index's by (order, id). */
export type Compare<K, V> = (aKey: K, aValue: V, bKey: K, bValue: V) => number;

const DELTA = 3;
const RATIO = 2;

export function sizeOf(tree: Tree<unknown, unknown>): number {
  return tree === undefined ? 0 : tree.size;
}

/** By a field of its own, which costs less than asking for its class. */
export function isRun<K, V>(tree: Subtree<K, V>): tree is Run<K, V> {
  return (tree as Run<K, V>).lists !== undefined;
}

/** The same as nodes. */
export function opened<K, V>(tree: Subtree<K, V>): Node<K, V> {
  return isRun(tree) ? nodesOf(tree.lists, 0, tree.size)! : tree;
}

/** Of the entries from one position to another; undefined: there are none. */
export function nodesOf<K, V>(lists: Lists<K, V>, from: number, to: number): Node<K, V> | undefined {
  if (from >= to) return undefined;
  const { keys, values } = lists;
  const middle = (from + to) >>> 1;
  return {
    key: keys[middle]!,
    value: values[middle]!,
    left: nodesOf(lists, from, middle),
    right: nodesOf(lists, middle + 1, to),
    size: to - from,
  };
}

export type Entry<K, V> = { readonly key: K; readonly value: V };

function make<K, V>(entry: Entry<K, V>, left: Tree<K, V>, right: Tree<K, V>): Node<K, V> {
  return { key: entry.key, value: entry.value, left, right, size: sizeOf(left) + sizeOf(right) + 1 };
}

export function balance<K, V>(entry: Entry<K, V>, left: Tree<K, V>, right: Tree<K, V>): Node<K, V> {
  const leftSize = sizeOf(left);
  const rightSize = sizeOf(right);
  if (leftSize + rightSize > 1) {
    if (rightSize > DELTA * leftSize) return rotateLeft(entry, left, opened(right!));
    if (leftSize > DELTA * rightSize) return rotateRight(entry, opened(left!), right);
  }
  return { key: entry.key, value: entry.value, left, right, size: leftSize + rightSize + 1 };
}

function rotateLeft<K, V>(entry: Entry<K, V>, left: Tree<K, V>, right: Node<K, V>) {
  if (sizeOf(right.left) < RATIO * sizeOf(right.right)) {
    return make(right, make(entry, left, right.left), right.right);
  }
  const middle = opened(right.left!);
  return make(middle, make(entry, left, middle.left), make(right, middle.right, right.right));
}

function rotateRight<K, V>(entry: Entry<K, V>, left: Node<K, V>, right: Tree<K, V>) {
  if (sizeOf(left.right) < RATIO * sizeOf(left.left)) {
    return make(left, left.left, make(entry, left.right, right));
  }
  const middle = opened(left.right!);
  return make(middle, make(left, left.left, middle.left), make(entry, middle.right, right));
}

export function glue<K, V>(left: Tree<K, V>, right: Tree<K, V>): Tree<K, V> {
  if (left === undefined) return right;
  if (right === undefined) return left;
  if (left.size > right.size) {
    const last = entryAt(left, left.size - 1)!;
    return balance(last, withoutLast(left), right);
  }
  const first = entryAt(right, 0)!;
  return balance(first, left, withoutFirst(right));
}

function withoutFirst<K, V>(tree: Subtree<K, V>): Tree<K, V> {
  const node = opened(tree);
  return node.left === undefined ? node.right : balance(node, withoutFirst(node.left), node.right);
}

function withoutLast<K, V>(tree: Subtree<K, V>): Tree<K, V> {
  const node = opened(tree);
  return node.right === undefined ? node.left : balance(node, node.left, withoutLast(node.right));
}

/** A tree of all of `left`, the entry and all of `right`, in that order; costs as much as their heights differ. */
export function link<K, V>(left: Tree<K, V>, entry: Entry<K, V>, right: Tree<K, V>): Node<K, V> {
  if (right !== undefined && DELTA * sizeOf(left) < right.size) {
    const node = opened(right);
    return balance(node, link(left, entry, node.left), node.right);
  }
  if (left !== undefined && DELTA * sizeOf(right) < left.size) {
    const node = opened(left);
    return balance(node, node.left, link(node.right, entry, right));
  }
  return make(entry, left, right);
}

export function entryAt<K, V>(root: Tree<K, V>, position: number): Entry<K, V> | undefined {
  let node = root;
  let index = position;
  while (node !== undefined) {
    if (isRun(node)) return entryOf(node, index);
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

function entryOf<K, V>({ lists, size }: Run<K, V>, index: number): Entry<K, V> | undefined {
  const { keys, values } = lists;
  return index >= 0 && index < size ? { key: keys[index]!, value: values[index]! } : undefined;
}

/** How many entries of a run stand before one, whether or not it is there itself. */
export function rankIn<K, V>(
  { lists, size }: Run<K, V>,
  compare: Compare<K, V>,
  { key, value }: Entry<K, V>,
): number {
  const { keys, values: stored } = lists;
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(key, value, keys[middle]!, stored[middle]!) <= 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Appends the values at positions [skip, end) of a subtree. */
export function collect<V>(
  node: Tree<unknown, V>,
  { skip, end }: { skip: number; end: number },
  values: V[],
): void {
  if (node === undefined || skip >= node.size || end <= 0) return;
  if (isRun(node)) {
    const { values: listed } = node.lists;
    const last = Math.min(end, node.size);
    for (let at = skip; at < last; at++) values.push(listed[at]!);
    return;
  }
  const before = sizeOf(node.left);
  if (skip < before) collect(node.left, { skip, end }, values);
  if (skip <= before && before < end) values.push(node.value);
  if (end > before + 1) {
    collect(node.right, { skip: Math.max(0, skip - before - 1), end: end - before - 1 }, values);
  }
}

export function* walk<K, V>(root: Tree<K, V>, from: number, to: number): IterableIterator<Entry<K, V>> {
  const end = Math.min(to, sizeOf(root));
  let left = end - Math.max(0, from);
  if (left <= 0) return;
  const path = pathTo(root, Math.max(0, from));
  while (left-- > 0) {
    const node = path.pop()!;
    yield node;
    for (let next = node.right; next !== undefined; next = path.at(-1)!.left) path.push(opened(next));
  }
}

/** The nodes still to visit when a walk starts at `position`: those whose turn comes after it, and it. */
function pathTo<K, V>(root: Tree<K, V>, position: number): Node<K, V>[] {
  const path: Node<K, V>[] = [];
  let next = root;
  let index = position;
  while (next !== undefined) {
    const node = opened(next);
    const before = sizeOf(node.left);
    if (index === before) {
      path.push(node);
      return path;
    }
    if (index < before) {
      path.push(node);
      next = node.left;
    } else {
      index -= before + 1;
      next = node.right;
    }
  }
  return path;
}
