import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextSort, type SortKey, sortedPlaces } from "./sorting.ts";

function sorted(keys: readonly SortKey[], down = false): { order: SortKey[]; steps: number } {
  const steps = sortedPlaces(keys, down);
  for (let count = 0; ; count += 1) {
    const step = steps.next();
    if (step.done) return { order: Array.from(step.value, (at) => keys[at]!), steps: count };
  }
}

describe("sortedPlaces", () => {
  it("sorts numbers inside texts numerically, and missing values first", () => {
    expect(sorted(["b10", "b9", "a"]).order).toEqual(["a", "b9", "b10"]);
    expect(sorted([3, "", 20, 1]).order).toEqual(["", 1, 3, 20]);
    expect(sorted([3, "", 20, 1], true).order).toEqual([20, 3, 1, ""]);
  });

  it("keeps the order of equal keys in both directions", () => {
    const keys = ["b", "a", "b", "a"];
    for (const [down, expected] of [
      [false, [1, 3, 0, 2]],
      [true, [0, 2, 1, 3]],
    ] as const) {
      const steps = sortedPlaces(keys, down);
      let step = steps.next();
      while (!step.done) step = steps.next();
      expect([...step.value]).toEqual(expected);
    }
  });

  it("sorts tens of thousands of keys in short steps", () => {
    const keys = Array.from({ length: 30_000 }, (_, i) => `id_${(i * 7919) % 30_011}`);
    const { order, steps } = sorted(keys);
    expect(order).toEqual([...keys].sort());
    // Eight runs, then three merge passes.
    expect(steps).toBeGreaterThan(8 + (3 * 30_000) / 5000);
  });

  it("sorts any numbers as Array.sort does", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 300 }), (keys) => {
        expect(sorted(keys).order).toEqual([...keys].sort((a, b) => a - b));
      }),
    );
  });
});

describe("nextSort", () => {
  it("starts texts ascending and numbers descending, and removes the sort with the third click", () => {
    const up = nextSort(undefined, "name", "x");
    expect(up).toEqual({ id: "name", down: false });
    const down = nextSort(up, "name", "x");
    expect(down).toEqual({ id: "name", down: true });
    expect(nextSort(down, "name", "x")).toBeUndefined();
    expect(nextSort(up, "count", 3)).toEqual({ id: "count", down: true });
  });
});
