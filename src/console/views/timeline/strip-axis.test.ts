import { describe, expect, it } from "vitest";
import { stripAxis } from "./strip-axis.ts";

const NOON = Date.parse("2026-03-15T12:00:00Z");
const axisOf = (...afterNoon: number[]) => stripAxis(afterNoon.map((ms) => NOON + ms));
const distances = (numbers: readonly number[]) => numbers.slice(1).map((at, i) => at - numbers[i]!);

describe("stripAxis", () => {
  it("interfaces 10 has one scale: as long a time is as wide everywhere", () => {
    const { places, cuts } = axisOf(0, 100, 400, 500, 900);
    const scale = (places[4]! - places[0]!) / 900;
    expect(distances(places).map((wide) => Math.round(wide / scale))).toEqual([100, 300, 100, 400]);
    expect(cuts).toEqual([]);
  });

  it("interfaces 10 marks round times at even distances, as many as there is room for", () => {
    const { ticks } = axisOf(250, 1100, 2050, 2900, 4100, 5200, 6100, 6900);
    const words = ticks(700).map(({ word }) => word);
    expect(words).toEqual(["12:00:01", "12:00:02", "12:00:03", "12:00:04", "12:00:05", "12:00:06"]);
    expect(new Set(distances(ticks(700).map(({ at }) => at)).map((wide) => wide.toFixed(6))).size).toBe(1);
    expect(ticks(300).map(({ word }) => word)).toEqual(["12:00:02", "12:00:04", "12:00:06"]);
    expect(axisOf(0, 60, 130, 210).ticks(400)[1]!.word).toBe("12:00:00.05");
  });

  it("interfaces 10 cuts the pauses that would take all the room, and says when it goes on", () => {
    const hour = 3_600_000;
    const burst = Array.from({ length: 20 }, (_, i) => i * 50);
    const { places, cuts, ticks } = axisOf(...burst, hour, ...burst.map((ms) => 2 * hour + ms));
    expect(cuts).toHaveLength(2);
    expect(places[19]! - places[0]!).toBeCloseTo(places[40]! - places[21]!);
    expect(places[19]! - places[0]!).toBeGreaterThan((places[40]! - places[0]!) / 3);
    expect(ticks(1000).map(({ word }) => word)).toContain("13:00:00");
    // As far apart as the others are: nothing is cut.
    expect(axisOf(0, hour, 2 * hour).cuts).toEqual([]);
  });

  it("interfaces 10 puts what is of one instant side by side, where the clock stands still", () => {
    const { places, cuts, ticks } = axisOf(0, 0, 0, 0, 60_000, 60_000, 60_000);
    expect(distances(places).slice(0, 3)).toEqual([1, 1, 1]);
    expect(cuts).toHaveLength(1);
    expect(ticks(600).map(({ word }) => word)).toEqual(["12:00:00", "12:01:00"]);
  });

  it("interfaces 10 goes on to the right when time was rewound", () => {
    const { places, cuts } = axisOf(1000, 1500, 2000, 900, 1400, 2100);
    expect(distances(places).every((wide) => wide > 0)).toBe(true);
    expect(cuts).toHaveLength(1);
  });

  it("shows nothing, or one entry, without a mistake", () => {
    expect(axisOf().ticks(500)).toEqual([]);
    expect(axisOf(5).places).toEqual([0]);
    expect(axisOf(5).ticks(500)).toEqual([{ at: 0, word: "12:00:00" }]);
  });
});
