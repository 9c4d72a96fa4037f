/**
 * The nodes of a sorted tree: balancing, positions and walks, none of which compares keys. Nodes are never
 * changed, so trees share them. Balance follows Adams' trees as in Haskell's Data.Map (delta 3, ratio 2).
 */
export interface Node<K, V> {
  readonly key: K;
  readonly value: V;
  readonly left: Node<K, V> | undefined;
  readonly right: Node<K, V> | undefined;
  readonly size: number;
}

/** The order of entries: a table's goes by key alone, an index's by (order, id). */
export type Compare<K, V> = (aKey: K, aValue: V, bKey: K, bValue: V) => number;

const DELTA = 3;
const RATIO = 2;

export function sizeOf(node: Node<unknown, unknown> | undefined): number {
  return node === undefined ? 0 : node.size;
}

type Entry<K, V> = { readonly key: K; readonly value: V };

function make<K, V>(entry: Entry<K, V>, left: Node<K, V> | undefined, right: Node<K, V> | undefined) {
  return { key: entry.key, value: entry.value, left, right, size: sizeOf(left) + sizeOf(right) + 1 };
}

export function balance<K, V>(
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

export function glue<K, V>(
  left: Node<K, V> | undefined,
  right: Node<K, V> | undefined,
): Node<K, V> | undefined {
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

/** A tree of all of `left`, the entry and all of `right`, in that order; costs as much as their heights differ. */
export function link<K, V>(
  left: Node<K, V> | undefined,
  entry: Entry<K, V>,
  right: Node<K, V> | undefined,
): Node<K, V> {
  if (right !== undefined && DELTA * sizeOf(left) < right.size)
    return balance(right, link(left, entry, right.left), right.right);
  if (left !== undefined && DELTA * sizeOf(right) < left.size)
    return balance(left, left.left, link(left.right, entry, right));
  return make(entry, left, right);
}

export function nodeAt<K, V>(root: Node<K, V> | undefined, position: number): Node<K, V> | undefined {
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

export function build<K, V>(
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
export function collect<V>(
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

export function* walk<K, V>(
  root: Node<K, V> | undefined,
  from: number,
  to: number,
): IterableIterator<Node<K, V>> {
  const end = Math.min(to, sizeOf(root));
  let left = end - Math.max(0, from);
  if (left <= 0) return;
  const path = pathTo(root, Math.max(0, from));
  while (left-- > 0) {
    const node = path.pop()!;
    yield node;
    for (let next = node.right; next !== undefined; next = next.left) path.push(next);
  }
}

/** The nodes still to visit when a walk starts at `position`: those whose turn comes after it, and it. */
function pathTo<K, V>(root: Node<K, V> | undefined, position: number): Node<K, V>[] {
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
      path.push(node);
      node = node.left;
    } else {
      index -= before + 1;
      node = node.right;
    }
  }
  return path;
}
