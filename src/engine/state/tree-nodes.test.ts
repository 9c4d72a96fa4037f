import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SortedTree } from "./sorted-tree.ts";
import { balance, type Compare, isRun, link, opened, Run, sizeOf, type Tree } from "./tree-nodes.ts";

const byNumber: Compare<number, string> = (a, _a, b) => a - b;
type N = Tree<number, string>;
const rootOf = (tree: SortedTree<number, string>) => (tree as unknown as { root: N }).root;
const filled = (from: number, to: number) =>
  SortedTree.fromSorted(
    { compare: byNumber },
    Array.from({ length: Math.max(0, to - from) }, (_, n): [number, string] => [from + n, `${from + n}`]),
  );

const run = (from: number, to: number): N => {
  const keys = Array.from({ length: to - from }, (_, n) => from + n);
  return keys.length === 0 ? undefined : new Run({ keys, values: keys.map(String) }, keys.length);
};

/** Where sizes do not add up, keys are out of order, or one side is more than three times as heavy as the other. */
function imbalances(node: N): string[] {
  if (node === undefined) return [];
  if (isRun(node))
    return node.lists.values.length === node.size ? imbalances(opened(node)) : ["a run has too few values"];
  const { key, size, left, right } = node;
  const [before, behind] = [sizeOf(left), sizeOf(right)];
  const found = [...imbalances(left), ...imbalances(right)];
  if (size !== before + behind + 1) found.push(`${key} has not ${size}`);
  if (before + behind > 1 && (before > 3 * behind || behind > 3 * before))
    found.push(`${key} has ${before} and ${behind}`);
  if ((left && opened(left).key >= key) || (right && opened(right).key <= key))
    found.push(`${key} is out of order`);
  return found;
}

const change = fc.record({ key: fc.integer({ min: -40, max: 90 }), isSet: fc.boolean() });

describe("decision 2: the nodes of a tree", () => {
  it("decision 2: stay balanced whatever is added and taken away", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 70 }),
        fc.array(change, { maxLength: 150, size: "max" }),
        (size, changes) => {
          let tree = filled(0, size);
          for (const { key, isSet } of changes) {
            tree = isSet ? tree.set(key, `${key}`) : tree.delete(key);
            expect(imbalances(rootOf(tree))).toEqual([]);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("decision 2: stay balanced where two trees of any sizes are put together", () => {
    const sizes = [0, 1, 2, 3, 5, 8, 20, 64, 300];
    const made = [(from: number, to: number) => rootOf(filled(from, to)), run];
    for (const [leftSize, rightSize] of sizes.flatMap((a) => sizes.map((b) => [a, b] as const)))
      for (const [left, right] of made.flatMap((a) => made.map((b) => [a, b] as const))) {
        const whole = link(
          left(0, leftSize),
          { key: leftSize, value: "middle" },
          right(leftSize + 1, leftSize + 1 + rightSize),
        );
        expect(whole.size).toBe(leftSize + rightSize + 1);
        expect(imbalances(whole)).toEqual([]);
      }
  });

  it("decision 2: what has no nodes gets them where the tree is balanced within it", () => {
    const value = "";
    const small = { key: 50, value, left: run(40, 50), right: run(51, 54), size: 14 };
    const behind = balance({ key: 39, value }, run(37, 39), small);
    const before = balance(
      { key: 61, value },
      { ...small, left: run(47, 50), right: run(51, 61) },
      run(62, 64),
    );
    for (const whole of [behind, before, balance({ key: 4, value }, run(0, 4), undefined)])
      expect(imbalances(whole)).toEqual([]);
    expect([behind.size, before.size]).toEqual([17, 17]);
  });

  it("decision 2: many values at once are put in place, and the rest is shared", () => {
    const tree = filled(0, 100);
    for (const keys of [
      [],
      [0],
      [99],
      [0, 1, 2],
      [49, 50, 51],
      [10, 90],
      Array.from({ length: 100 }, (_, n) => n),
    ]) {
      const replaced = tree.replaceSorted(keys.map((key) => [key, `new ${key}`] as const));
      expect(imbalances(rootOf(replaced))).toEqual([]);
      const expected = Array.from({ length: 100 }, (_, n) => (keys.includes(n) ? `new ${n}` : `${n}`));
      expect(replaced.slice()).toEqual(expected);
      expect([...SortedTree.differences(tree, replaced)].map(({ key }) => key)).toEqual(keys);
    }
    const [was, is] = [opened(rootOf(tree)!), opened(rootOf(tree.replaceSorted([[0, "new"]]))!)];
    expect([is.right === was.right, is.left === was.left]).toEqual([true, false]);
  });

  it("decision 2: positions outside of a list hold nothing", () => {
    const tree = filled(0, 10);
    expect([tree.at(-1), tree.at(10), tree.at(0), tree.at(9)]).toEqual([undefined, undefined, "0", "9"]);
    for (const [from, to] of [
      [-3, 2],
      [8, 99],
      [5, 5],
      [6, 5],
      [0, 0],
      [10, 12],
      [3, 7],
    ] as const) {
      const expected = Array.from({ length: 10 }, (_, n) => `${n}`).slice(Math.max(0, from), Math.max(0, to));
      expect([tree.slice(from, to), [...tree.values(from, to)]]).toEqual([expected, expected]);
      expect([...tree.entries(from, to)].map(([, value]) => value)).toEqual(expected);
    }
    expect([tree.rank(-1, ""), tree.rank(5, ""), tree.rank(99, "")]).toEqual([0, 5, 10]);
  });

  it("decision 2: what two trees share is not read to compare them", () => {
    let compared = 0;
    const counting: Compare<number, string> = (a, _a, b) => {
      compared += 1;
      return a - b;
    };
    const entries = Array.from({ length: 10_000 }, (_, n): [number, string] => [n, `${n}`]);
    const tree = SortedTree.fromSorted({ compare: counting }, entries);
    const other = tree.set(5_000, "other").delete(7).set(20_000, "new");
    compared = 0;
    expect([...SortedTree.differences(tree, other)]).toEqual([
      { key: 7, before: "7", after: undefined },
      { key: 5_000, before: "5000", after: "other" },
      { key: 20_000, before: undefined, after: "new" },
    ]);
    expect(compared).toBeLessThan(200);
    expect([
      ...SortedTree.differences(
        SortedTree.empty({ compare: counting }),
        SortedTree.empty({ compare: counting }),
      ),
    ]).toEqual([]);
    expect([...SortedTree.differences(filled(0, 2), filled(1, 3))]).toEqual([
      { key: 0, before: "0", after: undefined },
      { key: 2, before: undefined, after: "2" },
    ]);
  });
});
