import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { holdYoungGeneration } from "./young-generation.ts";

const MB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An engine whose young generation has so many megabytes, and what it was told. */
function engineWith(young: { megabytes: number }) {
  const flags: string[] = [];
  const spaces = () => [
    { space_name: "old_space", space_size: 500 * MB },
    { space_name: "new_space", space_size: young.megabytes * MB },
  ];
  return {
    flags,
    engine: { getHeapSpaceStatistics: spaces, setFlagsFromString: (flag: string) => flags.push(flag) },
  };
}

it("quality 1: the young generation grows up to 16 MB, and again after V8 has made it smaller", () => {
  const young = { megabytes: 1 };
  const { engine, flags } = engineWith(young);
  holdYoungGeneration(engine, "");
  const toldAt = (megabytes: number) => {
    young.megabytes = megabytes;
    vi.advanceTimersByTime(1000);
    return flags.splice(0);
  };
  expect(toldAt(1)).toEqual([]);
  expect(toldAt(15.75)).toEqual([]);
  expect(toldAt(16)).toEqual(["--semi-space-growth-factor=1"]);
  expect(toldAt(32)).toEqual([]);
  expect(toldAt(2)).toEqual(["--semi-space-growth-factor=2"]);
  expect(toldAt(64)).toEqual(["--semi-space-growth-factor=1"]);
});

it.each([
  "--enable-source-maps --max-semi-space-size=64",
  "--max_semi_space_size=1",
  "--min-semi-space-size=16",
])("quality 1: whoever starts Node with %s has that", (given) => {
  const { engine, flags } = engineWith({ megabytes: 64 });
  holdYoungGeneration(engine, given);
  vi.advanceTimersByTime(1000);
  expect(flags).toEqual([]);
});
