import { describe, expect, it, vi } from "vitest";
import { replaceEngineTimers } from "../../../test/support/fake-timers.ts";
import { platform } from "../platform.ts";
import {
  type AdvanceTarget,
  calculateWallDelay,
  getEndOfAdvance,
  LAST_INSTANT,
  makeClock,
  makeMonotonicClock,
  moveClock,
  readClock,
  WakeUp,
} from "./clock.ts";

const NEVER = Number.POSITIVE_INFINITY;

it("a real clock never runs backwards, and continues from where it was [interfaces 4]", () => {
  let machine = 1_000;
  const clock = makeMonotonicClock(() => machine);
  const read = (at: number) => {
    machine = at;
    return clock();
  };
  expect([read(1_000), read(1_500), read(400), read(401), read(500)]).toEqual([
    1_000, 1_500, 1_500, 1_501, 1_600,
  ]);
  expect(read(300)).toBe(1_600);
  expect(read(310)).toBe(1_610);
});

describe("the clock as a value [interfaces 4]", () => {
  it.each([
    ["frozen", 5, 0, 1_000, NEVER],
    ["real", 5, 1, 1_100, 400],
    ["scaled", 3, 3, 1_300, 66.66666666666667],
    ["scaled", 0.25, 0.25, 1_025, 1_900],
  ] as const)(
    "in mode %s of rate %d shows the right time and waits the right duration",
    (mode, asked, rate, now, delay) => {
      const clock = makeClock(mode, 1_000, 50, asked);
      expect(clock).toEqual({ mode, at: 1_000, wall: 50, rate });
      // After a tenth of a second.
      expect(readClock(clock, 150)).toBe(now);
      expect(calculateWallDelay(clock, 1_500, 150)).toBe(delay);
      expect(calculateWallDelay(clock, 1_000, 150)).toBe(0);
      expect(moveClock(clock, 9_000, 60)).toEqual({ mode, at: 9_000, wall: 60, rate });
      const pinned = { ...clock, pinned: 1_234 };
      expect([readClock(pinned, 150), calculateWallDelay(pinned, 0, 150)]).toEqual([1_234, NEVER]);
      expect(moveClock(pinned, 9_000, 60)).not.toHaveProperty("pinned");
    },
  );

  it("shows whole milliseconds up to the year 9999", () => {
    expect(readClock(makeClock("scaled", 1_000, 0, 0.3), 9)).toBe(1_002);
    expect(readClock(makeClock("real", LAST_INSTANT - 1, 0), 99)).toBe(LAST_INSTANT);
    expect(new Date(LAST_INSTANT).toISOString()).toBe("9999-12-31T23:59:59.999Z");
    expect(makeClock("scaled", 0, 0).rate).toBe(1);
  });

  it.each<[AdvanceTarget, number, number]>([
    [2_000, NEVER, 2_000],
    [1_000, NEVER, 1_000],
    [(now) => now + 5, NEVER, 1_005],
    ["next", NEVER, 1_000],
    ["next", 1_500, 1_500],
    ["next", 500, 1_000],
    [LAST_INSTANT, NEVER, LAST_INSTANT],
  ])("ends an advance to %s where %d is due at %d", (target, due, end) => {
    expect(getEndOfAdvance(target, 1_000, due)).toBe(end);
  });

  it("ends no advance in the past or after the year 9999", () => {
    expect(() => getEndOfAdvance(999, 1_000, NEVER)).toThrow(new RangeError("the clock only moves forward"));
    const beyond = new RangeError("the clock ends with the year 9999");
    expect(() => getEndOfAdvance(LAST_INSTANT + 1, 1_000, NEVER)).toThrow(beyond);
  });
});

describe("the wake-up [interfaces 4]", () => {
  const longest = 2 ** 31 - 1;

  it("fires once, after the delay that was set last, and not after it was cleared", () => {
    const useRealTimers = replaceEngineTimers();
    try {
      const rung: string[] = [];
      const wakeUp = new WakeUp();
      wakeUp.set(10, () => rung.push("first"));
      wakeUp.set(20.5, () => rung.push("second"));
      vi.advanceTimersByTime(20);
      expect(rung).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(rung).toEqual(["second"]);
      wakeUp.set(10, () => rung.push("third"));
      wakeUp.clear();
      wakeUp.set(10, () => rung.push("fourth"));
      wakeUp.set(NEVER, () => rung.push("never"));
      vi.advanceTimersByTime(longest);
      expect(rung).toEqual(["second"]);
      // The duration exceeds the maximum of a timer, which fires early and is set again.
      wakeUp.set(3 * longest, () => rung.push("early"));
      vi.advanceTimersByTime(longest - 1);
      expect(rung).toEqual(["second"]);
      vi.advanceTimersByTime(1);
      expect(rung).toEqual(["second", "early"]);
    } finally {
      useRealTimers();
    }
  });

  it("does not keep the process alive", () => {
    const unref = vi.fn();
    const set = vi.spyOn(platform().timers, "setTimeout").mockReturnValue({ unref } as never);
    new WakeUp().set(10, () => {});
    set.mockRestore();
    expect(unref).toHaveBeenCalledOnce();
  });
});
