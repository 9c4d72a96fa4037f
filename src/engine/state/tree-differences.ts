import { type Compare, type Entry, opened, type Subtree, sizeOf, type Tree } from "./tree-nodes.ts";

export interface Difference<K, V> {
  key: K;
  before: V | undefined;
  after: V | undefined;
}

/** A subtree still to be read, or one entry whose turn has come. */
interface Pending<K, V> {
  readonly whole?: Subtree<K, V>;
  readonly entry?: Entry<K, V>;
}

/**
 * What differs between two trees of the same order, in that order. Subtrees that both share are skipped
 * unread, so that comparing a tree with one made from it costs as much as the changes between them.
 */
export function* differencesOf<K, V>(
  compare: Compare<K, V>,
  beforeRoot: Tree<K, V>,
  afterRoot: Tree<K, V>,
): IterableIterator<Difference<K, V>> {
  const before = pendingOf(beforeRoot);
  const after = pendingOf(afterRoot);
  for (;;) {
    const a = before.at(-1);
    const b = after.at(-1);
    if (a === undefined && b === undefined) return;
    if (a?.whole !== undefined && a.whole === b?.whole) {
      before.pop();
      after.pop();
    } else if (a?.whole !== undefined && a.whole.size >= sizeOf(b?.whole)) {
      // The larger first: a shared subtree is met when both sides are down to its size.
      open(before, a.whole);
    } else if (b?.whole !== undefined) {
      open(after, b.whole);
    } else {
      const order = orderOf(compare, a?.entry, b?.entry);
      if (order <= 0) before.pop();
      if (order >= 0) after.pop();
      const was = order <= 0 ? a!.entry : undefined;
      const is = order >= 0 ? b!.entry : undefined;
      if (was?.value !== is?.value) yield { key: (was ?? is)!.key, before: was?.value, after: is?.value };
    }
  }
}

function pendingOf<K, V>(root: Tree<K, V>): Pending<K, V>[] {
  return root === undefined ? [] : [{ whole: root }];
}

/** Replaces the subtree on top, `whole`, by its left part, its entry and its right part, the left on top. */
function open<K, V>(stack: Pending<K, V>[], whole: Subtree<K, V>): void {
  const node = opened(whole);
  stack.pop();
  if (node.right) stack.push({ whole: node.right });
  stack.push({ entry: node });
  if (node.left) stack.push({ whole: node.left });
}

/** Below 0 where the first comes first; a side that has come to its end comes last. */
function orderOf<K, V>(
  compare: Compare<K, V>,
  a: Entry<K, V> | undefined,
  b: Entry<K, V> | undefined,
): number {
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
  return compare(a.key, a.value, b.key, b.value);
}
