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
  it("tells 9 from 10 within a text, and puts what is missing before numbers", () => {
    expect(sorted(["b10", "b9", "a"]).order).toEqual(["a", "b9", "b10"]);
    expect(sorted([3, "", 20, 1]).order).toEqual(["", 1, 3, 20]);
    expect(sorted([3, "", 20, 1], true).order).toEqual([20, 3, 1, ""]);
  });

  it("leaves equal ones as they stood, up and down", () => {
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

  it("sorts tens of thousands, in pieces of which none is long", () => {
    const keys = Array.from({ length: 30_000 }, (_, i) => `id_${(i * 7919) % 30_011}`);
    const { order, steps } = sorted(keys);
    expect(order).toEqual([...keys].sort());
    // Three times over all of them after the eight runs.
    expect(steps).toBeGreaterThan(8 + (3 * 30_000) / 5000);
  });

  it("is the order of Array.sort for whatever numbers", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 300 }), (keys) => {
        expect(sorted(keys).order).toEqual([...keys].sort((a, b) => a - b));
      }),
    );
  });
});

describe("nextSort", () => {
  it("begins a text with the first, a number with the largest, and ends with the third press", () => {
    const up = nextSort(undefined, "name", "x");
    expect(up).toEqual({ id: "name", down: false });
    const down = nextSort(up, "name", "x");
    expect(down).toEqual({ id: "name", down: true });
    expect(nextSort(down, "name", "x")).toBeUndefined();
    expect(nextSort(up, "count", 3)).toEqual({ id: "count", down: true });
  });
});
