import { describe, expect, it } from "vitest";
import type { Pending } from "../../api/types.ts";
import { axisOf } from "./axis.ts";

const NOW = Date.parse("2026-03-15T12:00:00Z");
const due = (ahead: number): Pending => ({
  due_at: new Date(NOW + ahead).toISOString(),
  kind: "webhook.retry",
  subject: `del_${ahead}`,
});

describe("axisOf", () => {
  it("interfaces 4 puts a minute and a month on one axis, in their order, none beyond its end", () => {
    const { heaps, ticks } = axisOf([due(60_000), due(21_600_000), due(2_592_000_000)], NOW);
    const places = heaps.map(({ at }) => at);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(heaps).toHaveLength(3);
    expect(places[0]).toBeGreaterThan(0.1);
    expect(places.at(-1)).toBe(1);
    expect(ticks.at(-1)).toEqual({ at: 1, word: "30 d" });
  });

  it("interfaces 4 heaps what is due about the same time, and begins with what is overdue", () => {
    const { heaps } = axisOf([due(-5000), due(60_000), due(60_010)], NOW);
    expect(heaps.map(({ at, items }) => [at === 0, items.length])).toEqual([
      [true, 1],
      [false, 2],
    ]);
  });

  it("interfaces 4 is a minute long where nothing is pending", () => {
    expect(axisOf([], NOW)).toMatchObject({ heaps: [], ticks: [{}, {}, { at: 1, word: "1 min" }] });
  });
});
