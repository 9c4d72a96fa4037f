import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Compare, SortedTree } from "./sorted-tree.ts";

const compareKeys: Compare<number, unknown> = (a, _a, b) => a - b;

type Edit = { key: number; value: number | undefined };
const edits = fc.array(
  fc.record({
    key: fc.integer({ min: 0, max: 40 }),
    value: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  }),
  { maxLength: 60 },
);

function editTree(tree: SortedTree<number, object>, changes: readonly Edit[], values: readonly object[]) {
  return changes.reduce(
    (next, { key, value }) => (value === undefined ? next.delete(key) : next.set(key, values[value]!)),
    tree,
  );
}

describe("SortedTree.listDifferences", () => {
  it("finds exactly the entries whose values differ, in order [interfaces 4]", () => {
    const values = [{}, {}, {}, {}];
    fc.assert(
      fc.property(edits, edits, edits, (shared, left, right) => {
        const base = editTree(SortedTree.empty<number, object>(compareKeys), shared, values);
        const before = editTree(base, left, values);
        const after = editTree(base, right, values);
        const expected = Array.from({ length: 41 }, (_, key) => key)
          .filter((key) => before.get(key) !== after.get(key))
          .map((key) => ({ key, before: before.get(key), after: after.get(key) }));
        expect([...SortedTree.listDifferences(before, after)]).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it("skips the parts that both trees share", () => {
    const entries = Array.from({ length: 100_000 }, (_, key) => [key, { key }] as const);
    let reads = 0;
    const compareAndCount: Compare<number, object> = (a, _a, b) => {
      reads += 1;
      return a - b;
    };
    const before = SortedTree.fromSorted<number, object>(compareAndCount, entries);
    const after = before.set(777, { key: -1 }).delete(50_000).set(100_001, { key: 0 });
    reads = 0;
    expect([...SortedTree.listDifferences(before, after)].map(({ key }) => key)).toEqual([
      777, 50_000, 100_001,
    ]);
    expect(reads).toBeLessThan(2000);
  });
});
