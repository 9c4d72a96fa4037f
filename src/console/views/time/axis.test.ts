import { describe, expect, it } from "vitest";
import type { Pending } from "../../../../types/control-api.ts";
import { formatRelative } from "../../components/time.tsx";
import { buildAxis } from "./axis.ts";

const NOW = Date.parse("2026-03-15T12:00:00Z");
const WIDTH = 600;
const makeTimer = (ahead: number): Pending => ({
  due_at: new Date(NOW + ahead).toISOString(),
  kind: "webhook.retry",
  collection: null,
  name: null,
  subject: `del_${ahead}`,
});

describe("buildAxis", () => {
  it("places a minute and a month on one axis, in order [interfaces 4]", () => {
    const { clusters, ticks } = buildAxis(
      [makeTimer(60_000), makeTimer(21_600_000), makeTimer(2_592_000_000)],
      NOW,
      WIDTH,
    );
    const places = clusters.map(({ position }) => position);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(clusters).toHaveLength(3);
    expect(places[0]).toBeGreaterThan(0.1);
    expect(places.at(-1)).toBe(1);
    expect(ticks.at(-1)).toEqual({ position: 1, word: "30 d" });
  });

  it("groups timers that are due at about the same time, overdue ones first [interfaces 4]", () => {
    const { clusters } = buildAxis([makeTimer(-5000), makeTimer(60_000), makeTimer(60_010)], NOW, WIDTH);
    expect(clusters.map(({ position, items }) => [position === 0, items.length])).toEqual([
      [true, 1],
      [false, 2],
    ]);
  });

  it("has no overlapping marks, also on a phone [interfaces 4]", () => {
    const pending = [20, 33, 60, 90, 600, 3600].map((seconds) => makeTimer(seconds * 1000));
    for (const [width, count] of [
      [1200, 6],
      [270, 4],
    ] as const) {
      const { clusters } = buildAxis(pending, NOW, width);
      const gaps = clusters.slice(1).map(({ position }, i) => (position - clusters[i]!.position) * width);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(24);
      expect(clusters).toHaveLength(count);
    }
  });

  it.each([306, 380])("has no overlapping labels on %d pixels, and one at its end", (width) => {
    for (const end of [3_000_000, 21_000_000, 2_500_000_000]) {
      const places = [
        0,
        ...buildAxis([makeTimer(end)], NOW, width).ticks.map(({ position }) => position * width),
      ];
      const gaps = places.slice(1).map((place, i) => place - places[i]!);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(48);
      expect(places.at(-1)).toBe(width);
    }
  });

  it("is one minute long without pending timers [interfaces 4]", () => {
    expect(buildAxis([], NOW, WIDTH)).toMatchObject({
      clusters: [],
      ticks: [{}, {}, { position: 1, word: "1 min" }],
    });
  });
});

it.each([
  [999, "now"],
  [1000, "1 s ago"],
  [59_499, "59 s ago"],
  [59_500, "1 min ago"],
  [3_599_000, "1 h ago"],
  [86_399_000, "1 d ago"],
])("a time %d ms ago is rounded to a unit that is not full [interfaces 4]", (ms, words) => {
  expect(formatRelative(0, ms)).toBe(words);
});
