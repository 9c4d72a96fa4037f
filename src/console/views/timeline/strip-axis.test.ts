import { describe, expect, it } from "vitest";
import { createStripAxis, TOP, toY } from "./strip-axis.ts";

const NOON = Date.parse("2026-03-15T12:00:00Z");
const buildAxis = (...afterNoon: number[]) => createStripAxis(afterNoon.map((ms) => NOON + ms));
const listDistances = (numbers: readonly number[]) => numbers.slice(1).map((at, i) => at - numbers[i]!);

describe("createStripAxis", () => {
  it("uses one scale for the whole axis [interfaces 10]", () => {
    const { positions, cuts } = buildAxis(0, 100, 400, 500, 900);
    const scale = (positions[4]! - positions[0]!) / 900;
    expect(listDistances(positions).map((wide) => Math.round(wide / scale))).toEqual([100, 300, 100, 400]);
    expect(cuts).toEqual([]);
  });

  it("places ticks at round times, as many as fit [interfaces 10]", () => {
    const { makeTicks } = buildAxis(250, 1100, 2050, 2900, 4100, 5200, 6100, 6900);
    const words = makeTicks(700).map(({ word }) => word);
    expect(words).toEqual(["12:00:01", "12:00:02", "12:00:03", "12:00:04", "12:00:05", "12:00:06"]);
    expect(
      new Set(listDistances(makeTicks(700).map(({ position }) => position)).map((wide) => wide.toFixed(6)))
        .size,
    ).toBe(1);
    expect(makeTicks(300).map(({ word }) => word)).toEqual(["12:00:02", "12:00:04", "12:00:06"]);
    expect(buildAxis(0, 60, 130, 210).makeTicks(400)[1]!.word).toBe("12:00:00.05");
  });

  it("labels the first of several instants of one second only [interfaces 10]", () => {
    const instants = [0, 10, 200, 400, 1100, 1200, 2300].flatMap((ms) => [ms, ms, ms]);
    const words = buildAxis(...instants)
      .makeTicks(1400)
      .flatMap(({ word }) => word || []);
    expect(words).toEqual(["12:00:00", "12:00:01", "12:00:02"]);
  });

  it("cuts long pauses and labels the time after them [interfaces 10]", () => {
    const hour = 3_600_000;
    const burst = Array.from({ length: 20 }, (_, i) => i * 50);
    const { positions, cuts, makeTicks } = buildAxis(...burst, hour, ...burst.map((ms) => 2 * hour + ms));
    expect(cuts).toHaveLength(2);
    expect(positions[19]! - positions[0]!).toBeCloseTo(positions[40]! - positions[21]!);
    expect(positions[19]! - positions[0]!).toBeGreaterThan((positions[40]! - positions[0]!) / 3);
    expect(makeTicks(1000).map(({ word }) => word)).toContain("13:00:00");
    // Equal pauses are not cut.
    expect(buildAxis(0, hour, 2 * hour).cuts).toEqual([]);
  });

  it("places entries of one instant side by side with a frozen clock [interfaces 10]", () => {
    const { positions, cuts, makeTicks } = buildAxis(0, 0, 0, 0, 60_000, 60_000, 60_000);
    expect(listDistances(positions).slice(0, 3)).toEqual([1, 1, 1]);
    expect(cuts).toHaveLength(1);
    expect(makeTicks(600).map(({ word }) => word)).toEqual(["12:00:00", "12:01:00"]);
  });

  it("continues to the right after a rewind [interfaces 10]", () => {
    const { positions, cuts } = buildAxis(1000, 1500, 2000, 900, 1400, 2100);
    expect(listDistances(positions).every((wide) => wide > 0)).toBe(true);
    expect(cuts).toHaveLength(1);
  });

  it("is drawn without entries and with one", () => {
    expect(buildAxis().makeTicks(500)).toEqual([]);
    expect(buildAxis(5).positions).toEqual([0]);
    expect(buildAxis(5).makeTicks(500)).toEqual([{ position: 0, word: "12:00:00" }]);
  });
});

it("a slow response is drawn higher on the strip, and one of minutes stays within it [interfaces 10]", () => {
  const heights = [0, 1, 100, 5000, 9999].map(toY);
  expect(heights).toEqual(heights.toSorted((a, b) => b - a));
  expect([10_000, 30_000, 600_000].map(toY)).toEqual([TOP, TOP, TOP]);
});
