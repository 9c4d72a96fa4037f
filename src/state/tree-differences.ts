import type { Compare, Node } from "./tree-nodes.ts";

export interface Difference<K, V> {
  key: K;
  before: V | undefined;
  after: V | undefined;
}

/** A subtree still to be read, or one entry whose turn has come. */
type Pending<K, V> = { readonly node: Node<K, V>; readonly whole: boolean };

/**
 * What differs between two trees of the same order, in that order. Subtrees that both share are skipped
 * unread, so that comparing a tree with one made from it costs as much as the changes between them.
 */
export function* differencesOf<K, V>(
  compare: Compare<K, V>,
  beforeRoot: Node<K, V> | undefined,
  afterRoot: Node<K, V> | undefined,
): IterableIterator<Difference<K, V>> {
  const before = pendingOf(beforeRoot);
  const after = pendingOf(afterRoot);
  for (;;) {
    const a = before.at(-1);
    const b = after.at(-1);
    if (a === undefined && b === undefined) return;
    if (a?.whole && b?.whole && a.node === b.node) {
      before.pop();
      after.pop();
    } else if (a?.whole && (!b?.whole || a.node.size >= b.node.size)) {
      // The larger first: a shared subtree is met when both sides are down to its size.
      open(before);
    } else if (b?.whole) {
      open(after);
    } else {
      const order = a === undefined ? 1 : b === undefined ? -1 : compareNodes(compare, a.node, b.node);
      if (order <= 0) before.pop();
      if (order >= 0) after.pop();
      const was = order <= 0 ? a!.node : undefined;
      const is = order >= 0 ? b!.node : undefined;
      if (was?.value !== is?.value) yield { key: (was ?? is)!.key, before: was?.value, after: is?.value };
    }
  }
}

function pendingOf<K, V>(root: Node<K, V> | undefined): Pending<K, V>[] {
  return root === undefined ? [] : [{ node: root, whole: true }];
}

/** Replaces the subtree on top by its left part, its entry and its right part, the left on top. */
function open<K, V>(stack: Pending<K, V>[]): void {
  const { node } = stack.pop()!;
  if (node.right) stack.push({ node: node.right, whole: true });
  stack.push({ node, whole: false });
  if (node.left) stack.push({ node: node.left, whole: true });
}

function compareNodes<K, V>(compare: Compare<K, V>, a: Node<K, V>, b: Node<K, V>): number {
  return compare(a.key, a.value, b.key, b.value);
}
