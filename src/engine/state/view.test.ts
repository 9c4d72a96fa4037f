import { describe, expect, it } from "vitest";
import { SortedTree } from "./sorted-tree.ts";
import { type IdTree, type Order, View } from "./view.ts";

const makeRows = (count: number) =>
  SortedTree.fromSorted<string, { n: number }>(
    (a, _a, b) => (a < b ? -1 : a > b ? 1 : 0),
    Array.from({ length: count }, (_, n) => [String(n).padStart(4, "0"), { n }] as const),
  );
/** Two ids of each order, from `first` on. */
const makeIds = (count: number, first = 0): IdTree =>
  SortedTree.fromSorted<Order, string>(
    (a, aId, b, bId) => (a < b ? -1 : a > b ? 1 : aId < bId ? -1 : aId > bId ? 1 : 0),
    Array.from({ length: count }, (_, n) => [first + (n >> 1), String(n).padStart(4, "0")] as const),
  );
const listNumbers = (view: Iterable<{ n: number }>) => [...view].map(({ n }) => n);

describe("a view reads only the requested records [decision 2]", () => {
  it.each([0, 1, 64, 65, 200])("if it shows all of %d, made in any way [decision 2]", (count) => {
    const all = Array.from({ length: count }, (_, n) => n);
    const list = all.map((n) => ({ n }));
    for (const view of [
      View.ofRecords(makeRows(count)),
      View.ofIds(makeIds(count), makeRows(count)),
      View.ofList(list),
    ]) {
      expect([view.size, listNumbers(view)]).toEqual([count, all]);
      expect(view.first()?.n).toBe(count === 0 ? undefined : 0);
      for (const [offset, limit] of [
        [0, 2],
        [1, 2],
        [60, 10],
        [-5, 2],
        [count, 1],
        [count - 1, 5],
        [0, 0],
      ] as const)
        expect(listNumbers(view.page(offset, limit))).toEqual(
          all.slice(Math.max(0, offset), Math.max(0, offset) + limit),
        );
    }
  });

  it.each<[number, number, number[]]>([
    [1, 2, [2, 3, 4, 5]],
    [0, 0, [0, 1]],
    [-5, 0, [0, 1]],
    [4, 99, [8, 9]],
    [99, 100, []],
    [3, 1, []],
  ])("if it is narrowed from %d to %d [decision 2]", (from, to, found) => {
    const narrowed = View.ofIds(makeIds(10), makeRows(10)).between(from, to);
    expect([narrowed.size, listNumbers(narrowed)]).toEqual([found.length, found]);
    expect(narrowed.first()?.n).toBe(found[0]);
    expect(listNumbers(narrowed.page(1, 2))).toEqual(found.slice(1, 3));
    // Narrowing it again stays within the first range.
    expect(listNumbers(narrowed.between(2, 3))).toEqual(found.filter((n) => n >= 4 && n <= 7));
    expect(listNumbers(narrowed.between(-9, 9))).toEqual(found);
  });

  it("if a list that is ordered newest first is narrowed to a span of instants [decision 2]", () => {
    const narrowed = View.ofIds(makeIds(10, -5), makeRows(10)).inSpan({ from: 2, to: 3 });
    expect(listNumbers(narrowed)).toEqual([4, 5, 6, 7]);
  });

  it("and refuses to narrow a list without an order [decision 2]", () => {
    expect(() => View.ofRecords(makeRows(1)).between(0, 1)).toThrow("this list has no order to narrow by");
  });

  it("and no more of a long list than is iterated [decision 2]", () => {
    let read = 0;
    const tree = makeRows(1000);
    const counted = Object.create(tree, {
      slice: {
        value: (from: number, to: number) => {
          read += to - from;
          return tree.slice(from, to);
        },
      },
    }) as typeof tree;
    for (const { n } of View.ofRecords(counted)) if (n === 70) break;
    expect(read).toBe(128);
  });
});
