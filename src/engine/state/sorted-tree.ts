/** Compares two entries: those of a table by key alone, those of an index by (order, id). */
export type Compare<K, V> = (aKey: K, aValue: V, bKey: K, bValue: V) => number;

/** Nodes are never changed, so trees share them. */
interface Node<K, V> {
  readonly key: K;
  readonly value: V;
  readonly left: Tree<K, V>;
  readonly right: Tree<K, V>;
  readonly size: number;
}
type Tree<K, V> = Node<K, V> | undefined;
type Entry<K, V> = Pick<Node<K, V>, "key" | "value">;

interface Difference<K, V> {
  key: K;
  before: V | undefined;
  after: V | undefined;
}

/**
 * A persistent, weight-balanced search tree. It knows the size of every subtree, so `slice` and `rank` take O(log n),
 * as `get` does. No library offers a persistent ordered map with ranks, which offsets, totals and
 * date ranges of the API's lists need; docs/decisions/0002-immutable-state.md has the measurements.
 */
export class SortedTree<K, V> {
  private readonly root: Tree<K, V>;
  private readonly compare: Compare<K, V>;

  private constructor(compare: Compare<K, V>, root: Tree<K, V>) {
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
    return countNodes(this.root);
  }

  /** The value of a key, for trees whose order depends on keys alone. */
  get(key: K): V | undefined {
    let node = this.root;
    while (node !== undefined) {
      const order = this.compare(key, undefined as V, node.key, node.value);
      if (order === 0) return node.value;
      node = order < 0 ? node.left : node.right;
    }
    return undefined;
  }

  /** The number of entries before this one, which need not be present itself. */
  rank(key: K, value: V): number {
    let node = this.root;
    let count = 0;
    while (node !== undefined) {
      if (this.compare(key, value, node.key, node.value) <= 0) node = node.left;
      else {
        count += countNodes(node.left) + 1;
        node = node.right;
      }
    }
    return count;
  }

  set(key: K, value: V): SortedTree<K, V> {
    return new SortedTree(this.compare, insert(this.compare, this.root, { key, value }));
  }

  /** Replaces the values of keys that are all present, in order and distinct; copies each node on the way once. */
  replaceSorted(entries: readonly (readonly [K, V])[]): SortedTree<K, V> {
    return new SortedTree(this.compare, this.replaceEntries(this.root, entries, 0, entries.length));
  }

  /** Returns the tree itself if there is no equal entry. */
  delete(key: K, value?: V): SortedTree<K, V> {
    const root = remove(this.compare, this.root, { key, value: value as V });
    return root === this.root ? this : new SortedTree(this.compare, root);
  }

  /** Values at positions [from, to), in order. */
  slice(from = 0, to: number = this.size): V[] {
    const values: V[] = [];
    collect(this.root, { skip: Math.max(0, from), end: to }, values);
    return values;
  }

  /** Entries in order. */
  entries(): IterableIterator<[K, V]> {
    return walk(this.root);
  }

  /**
   * The differences between two trees of the same order, in that order. Subtrees that both share are skipped, so
   * comparing a tree with one made from it costs as much as the changes between them.
   */
  static *listDifferences<K, V>(
    before: SortedTree<K, V>,
    after: SortedTree<K, V>,
  ): IterableIterator<Difference<K, V>> {
    const oldStack = toPending(before.root);
    const newStack = toPending(after.root);
    for (;;) {
      const oldTop = oldStack.at(-1);
      const newTop = newStack.at(-1);
      if (oldTop === undefined && newTop === undefined) return;
      if (oldTop?.subtree !== undefined && oldTop.subtree === newTop?.subtree) {
        oldStack.pop();
        newStack.pop();
      } else if (oldTop?.subtree !== undefined && oldTop.subtree.size >= countNodes(newTop?.subtree)) {
        // The larger one first, so that both sides reach a shared subtree at the same time.
        expandTop(oldStack, oldTop.subtree);
      } else if (newTop?.subtree !== undefined) {
        expandTop(newStack, newTop.subtree);
      } else {
        // If one side has ended, only the other has entries left.
        const [a, b] = [oldTop?.entry, newTop?.entry];
        let order = a === undefined ? 1 : -1;
        if (a !== undefined && b !== undefined) order = before.compare(a.key, a.value, b.key, b.value);
        const oldEntry = order <= 0 ? oldStack.pop()!.entry : undefined;
        const newEntry = order >= 0 ? newStack.pop()!.entry : undefined;
        if (oldEntry?.value !== newEntry?.value)
          yield { key: (oldEntry ?? newEntry)!.key, before: oldEntry?.value, after: newEntry?.value };
      }
    }
  }

  /** The subtree with the values of the entries at [from, to); their keys are all in it. */
  private replaceEntries(
    node: Tree<K, V>,
    entries: readonly (readonly [K, V])[],
    from: number,
    to: number,
  ): Tree<K, V> {
    if (node === undefined || from >= to) return node;
    // `low` becomes the index of the first entry that is not before the node.
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [key, value] = entries[middle]!;
      if (this.compare(key, value, node.key, node.value) < 0) low = middle + 1;
      else high = middle;
    }
    const candidate = low < to ? entries[low]! : undefined;
    const isReplaced =
      candidate !== undefined && this.compare(candidate[0], candidate[1], node.key, node.value) === 0;
    return {
      key: node.key,
      value: isReplaced ? candidate[1] : node.value,
      left: this.replaceEntries(node.left, entries, from, low),
      right: this.replaceEntries(node.right, entries, isReplaced ? low + 1 : low, to),
      size: node.size,
    };
  }
}

function countNodes(tree: { readonly size: number } | undefined): number {
  return tree === undefined ? 0 : tree.size;
}

function makeNode<K, V>({ key, value }: Entry<K, V>, left: Tree<K, V>, right: Tree<K, V>): Node<K, V> {
  return { key, value, left, right, size: countNodes(left) + countNodes(right) + 1 };
}

function build<K, V>(entries: readonly (readonly [K, V])[], from: number, to: number): Tree<K, V> {
  if (from >= to) return undefined;
  const middle = (from + to) >>> 1;
  const [key, value] = entries[middle]!;
  return makeNode({ key, value }, build(entries, from, middle), build(entries, middle + 1, to));
}

/** Balance of Adams' trees, as in Haskell's Data.Map. */
const DELTA = 3;
const RATIO = 2;

function balance<K, V>(entry: Entry<K, V>, left: Tree<K, V>, right: Tree<K, V>): Node<K, V> {
  const leftSize = countNodes(left);
  const rightSize = countNodes(right);
  if (leftSize + rightSize > 1) {
    if (rightSize > DELTA * leftSize) return rotateLeft(entry, left, right!);
    if (leftSize > DELTA * rightSize) return rotateRight(entry, left!, right);
  }
  return makeNode(entry, left, right);
}

function rotateLeft<K, V>(entry: Entry<K, V>, left: Tree<K, V>, right: Node<K, V>): Node<K, V> {
  if (countNodes(right.left) < RATIO * countNodes(right.right))
    return makeNode(right, makeNode(entry, left, right.left), right.right);
  const middle = right.left!;
  return makeNode(middle, makeNode(entry, left, middle.left), makeNode(right, middle.right, right.right));
}

function rotateRight<K, V>(entry: Entry<K, V>, left: Node<K, V>, right: Tree<K, V>): Node<K, V> {
  if (countNodes(left.right) < RATIO * countNodes(left.left))
    return makeNode(left, left.left, makeNode(entry, left.right, right));
  const middle = left.right!;
  return makeNode(middle, makeNode(left, left.left, middle.left), makeNode(entry, middle.right, right));
}

function insert<K, V>(compare: Compare<K, V>, node: Tree<K, V>, entry: Entry<K, V>): Node<K, V> {
  if (node === undefined) return makeNode(entry, undefined, undefined);
  const order = compare(entry.key, entry.value, node.key, node.value);
  if (order === 0) return makeNode(entry, node.left, node.right);
  return order < 0
    ? balance(node, insert(compare, node.left, entry), node.right)
    : balance(node, node.left, insert(compare, node.right, entry));
}

function remove<K, V>(compare: Compare<K, V>, node: Tree<K, V>, entry: Entry<K, V>): Tree<K, V> {
  if (node === undefined) return undefined;
  const order = compare(entry.key, entry.value, node.key, node.value);
  if (order === 0) return joinTrees(node.left, node.right);
  if (order < 0) {
    const left = remove(compare, node.left, entry);
    return left === node.left ? node : balance(node, left, node.right);
  }
  const right = remove(compare, node.right, entry);
  return right === node.right ? node : balance(node, node.left, right);
}

/** Joins two trees; all of the first comes before the second. */
function joinTrees<K, V>(left: Tree<K, V>, right: Tree<K, V>): Tree<K, V> {
  if (left === undefined || right === undefined) return left ?? right;
  let first = right;
  while (first.left !== undefined) first = first.left;
  return balance(first, left, removeFirst(right));
}

function removeFirst<K, V>(node: Node<K, V>): Tree<K, V> {
  return node.left === undefined ? node.right : balance(node, removeFirst(node.left), node.right);
}

/** Appends the values at positions [skip, end) of a subtree. */
function collect<V>(node: Tree<unknown, V>, { skip, end }: { skip: number; end: number }, values: V[]): void {
  if (node === undefined || skip >= node.size || end <= 0) return;
  const before = countNodes(node.left);
  if (skip < before) collect(node.left, { skip, end }, values);
  if (skip <= before && before < end) values.push(node.value);
  if (end > before + 1)
    collect(node.right, { skip: Math.max(0, skip - before - 1), end: end - before - 1 }, values);
}

function* walk<K, V>(node: Tree<K, V>): IterableIterator<[K, V]> {
  if (node === undefined) return;
  yield* walk(node.left);
  yield [node.key, node.value];
  yield* walk(node.right);
}

/** A subtree still to be compared, or one of its entries. */
interface PendingComparison<K, V> {
  readonly subtree?: Node<K, V>;
  readonly entry?: Entry<K, V>;
}

function toPending<K, V>(root: Tree<K, V>): PendingComparison<K, V>[] {
  return root === undefined ? [] : [{ subtree: root }];
}

/** Replaces the subtree on top of the stack by its left part, its entry and its right part, the left on top. */
function expandTop<K, V>(stack: PendingComparison<K, V>[], subtree: Node<K, V>): void {
  stack.pop();
  if (subtree.right) stack.push({ subtree: subtree.right });
  stack.push({ entry: subtree });
  if (subtree.left) stack.push({ subtree: subtree.left });
}
