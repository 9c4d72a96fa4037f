import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Compare, SortedTree } from "./sorted-tree.ts";

const compareNumbers: Compare<number, string> = (a, _a, b) => a - b;

const command = fc.oneof(
  fc.record({ do: fc.constant("set" as const), key: fc.integer({ min: 0, max: 60 }) }),
  // Inserts at the start, which is the most frequent change of a list ordered newest first: one, and many in a row.
  fc.record({ do: fc.constant("add first" as const), key: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant("add many" as const), key: fc.integer({ min: 2, max: 80 }) }),
  fc.record({ do: fc.constant("delete at" as const), key: fc.integer({ min: 0, max: 2000 }) }),
  fc.record({ do: fc.constant("set at" as const), key: fc.integer({ min: 0, max: 2000 }) }),
  fc.record({ do: fc.constant("read" as const), key: fc.integer({ min: -100, max: 200 }) }),
  fc.record({ do: fc.constant("delete" as const), key: fc.integer({ min: 0, max: 60 }) }),
);

function check(tree: SortedTree<number, string>, model: ReadonlyMap<number, string>): void {
  const sorted = [...model].sort(([a], [b]) => a - b);
  const values = sorted.map(([, value]) => value);
  expect(tree.size).toBe(model.size);
  expect([...tree.entries()]).toEqual(sorted);
  const half = Math.floor(values.length / 2);
  expect(tree.slice(half)).toEqual(values.slice(half));
  expect(tree.slice(1, half)).toEqual(values.slice(1, Math.max(1, half)));
  for (const [position, [key, value]] of sorted.entries()) {
    expect(tree.slice(position, position + 1)).toEqual([value]);
    expect(tree.rank(key, value)).toBe(position);
    expect(tree.get(key)).toBe(value);
  }
}

function checkDifferences(
  before: SortedTree<number, string>,
  after: SortedTree<number, string>,
  [was, is]: readonly [ReadonlyMap<number, string>, ReadonlyMap<number, string>],
): void {
  const keys = [...new Set([...was.keys(), ...is.keys()])].sort((a, b) => a - b);
  const expected = keys
    .map((key) => ({ key, before: was.get(key), after: is.get(key) }))
    .filter((one) => one.before !== one.after);
  expect([...SortedTree.listDifferences(before, after)]).toEqual(expected);
}

describe("SortedTree", () => {
  it("behaves as a sorted map, and keeps earlier versions unchanged", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 63, 64, 100),
        fc.array(command, { maxLength: 120, size: "max" }),
        (size, commands) => {
          const filled = Array.from({ length: size }, (_, n): [number, string] => [n, `n${n}`]);
          let tree = SortedTree.fromSorted(compareNumbers, filled);
          const model = new Map<number, string>(filled);
          const middle = Math.floor(commands.length / 2);
          let [earlier, earlierModel] = [tree, new Map(model)];
          let first = 0;
          for (const [step, { do: action, key: drawn }] of commands.entries()) {
            if (step === middle) [earlier, earlierModel] = [tree, new Map(model)];
            const added = action === "add many" ? drawn : action === "add first" ? 1 : 0;
            for (let n = 0; n < added; n++) {
              first -= action === "add many" ? 1 + (n % 3) : drawn;
              tree = tree.set(first, `v${step}`);
              model.set(first, `v${step}`);
            }
            const key = action.endsWith(" at") ? [...model.keys()][drawn % model.size] : drawn;
            if (added > 0 || key === undefined) continue;
            if (action === "read") {
              expect(tree.get(key)).toBe(model.get(key));
            } else if (action.startsWith("set")) {
              tree = tree.set(key, `v${step}`);
              model.set(key, `v${step}`);
            } else {
              tree = tree.delete(key);
              model.delete(key);
            }
          }
          check(tree, model);
          check(earlier, earlierModel);
          checkDifferences(earlier, tree, [earlierModel, model]);
        },
      ),
      { numRuns: 200 },
    );
  }, 180_000);

  it("stays balanced when entries are set in order", () => {
    let tree = SortedTree.empty(compareNumbers);
    for (let key = 0; key < 20_000; key++) tree = tree.set(key, String(key));
    for (let key = 0; key < 15_000; key++) tree = tree.delete(key);
    expect(tree.size).toBe(5000);
    expect(tree.slice(0, 1)).toEqual(["15000"]);
    // A degenerate tree would exhaust the stack long before this depth is reached.
    expect(measureDepth((tree as unknown as { root: Node }).root)).toBeLessThan(32);
  });

  it("stays balanced when entries are set in descending order, and shares its nodes", () => {
    let tree = SortedTree.empty(compareNumbers);
    for (let key = 20_000; key > 0; key--) tree = tree.set(key, String(key));
    expect(tree.size).toBe(20_000);
    const more = tree.set(0, "0").set(-1, "-1");
    expect([...SortedTree.listDifferences(tree, more)]).toEqual([
      { key: -1, before: undefined, after: "-1" },
      { key: 0, before: undefined, after: "0" },
    ]);
    expect(tree.slice(0, 1)).toEqual(["1"]);
    expect(more.slice(0, 3)).toEqual(["-1", "0", "1"]);
    const { root } = more as unknown as { root: Node };
    expect(measureDepth(root)).toBeLessThan(32);
    // No keys exist between two neighbours.
    for (let key = 10_000; key < 10_040; key++) expect(more.delete(key + 0.5)).toBe(more);
  });

  it("returns itself when nothing was deleted", () => {
    const tree = SortedTree.fromSorted(compareNumbers, [[1, "a"]]);
    expect(tree.delete(2)).toBe(tree);
  });
});

interface Node {
  left: Node | undefined;
  right: Node | undefined;
}

function measureDepth(node: Node | undefined): number {
  return node === undefined ? 0 : 1 + Math.max(measureDepth(node.left), measureDepth(node.right));
}
