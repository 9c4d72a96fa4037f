import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SortKey, sortRows, toggleSort } from "./virtual-table.tsx";

const sortKeys = (keys: readonly SortKey[], down = false) => sortRows(keys, (key) => key, down);

describe("sortRows", () => {
  it("sorts numbers inside texts numerically, and missing values first", () => {
    expect(sortKeys(["b10", "b9", "a"])).toEqual(["a", "b9", "b10"]);
    expect(sortKeys([3, "", 20, 1])).toEqual(["", 1, 3, 20]);
    expect(sortKeys([3, "", 20, 1], true)).toEqual([20, 3, 1, ""]);
  });

  it.each([2, 20_000])("sorts keys that never expire after instants (%i rows)", (count) => {
    const keys = Array.from({ length: count }, (_, at) => (at % 2 ? "2026-03-15T12:00:00.000Z" : "never"));
    expect(sortKeys(keys).slice(count / 2)).toEqual(Array(count / 2).fill("never"));
  });

  it.each([
    [false, ["a1", "a3", "b0", "b2"]],
    [true, ["b0", "b2", "a1", "a3"]],
  ])("keeps the order of rows with equal keys (descending: %s)", (down, expected) => {
    expect(sortRows(["b0", "a1", "b2", "a3"], (row) => row[0]!, down)).toEqual(expected);
  });

  it("sorts tens of thousands of texts by code unit", () => {
    const keys = Array.from({ length: 30_000 }, (_, i) => `id_${(i * 7919) % 30_011}`);
    expect(sortKeys(keys)).toEqual([...keys].sort());
  });

  it("sorts any numbers as Array.sort does", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 300 }), (keys) => {
        expect(sortKeys(keys)).toEqual([...keys].sort((a, b) => a - b));
      }),
    );
  });
});

describe("toggleSort", () => {
  it("starts texts ascending and numbers descending, and removes the sort with the third click", () => {
    const up = toggleSort(undefined, "name", "x");
    expect(up).toEqual({ id: "name", isDescending: false });
    const down = toggleSort(up, "name", "x");
    expect(down).toEqual({ id: "name", isDescending: true });
    expect(toggleSort(down, "name", "x")).toBeUndefined();
    expect(toggleSort(up, "count", 3)).toEqual({ id: "count", isDescending: true });
  });
});
