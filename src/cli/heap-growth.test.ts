import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, vi } from "vitest";
import { growthPercent, letHeapGrow } from "./heap-growth.ts";

const MB = 1024 * 1024;

it.each([
  [1, 300],
  [30, 300],
  [64, 200],
  [100, 128],
  [128, 100],
  [129, 100],
  [130, 0],
  [1024, 0],
])("quality 1: what %d MB were left of may grow by %d percent", (left, percent) => {
  expect(growthPercent(left * MB)).toBe(percent);
});

it("quality 1: the heap may grow from the start, and after each collection by what that has left", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const flags: string[] = [];
  let left = 0;
  letHeapGrow({
    getHeapStatistics: () => ({ used_heap_size: left * MB }),
    setFlagsFromString: (flag) => flags.push(flag),
  });
  expect(flags).toEqual(["--heap-growing-percent=300"]);
  for (const [held, percent] of [
    [256, 0],
    [64, 200],
  ] as const) {
    left = held;
    const before = flags.length;
    await vi.waitFor(() => {
      collect();
      expect(flags.length).toBeGreaterThan(before);
    });
    expect(flags.at(-1)).toBe(`--heap-growing-percent=${percent}`);
  }
});
