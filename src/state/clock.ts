/**
 * The sandbox's clock as a value: a function from the wall clock (milliseconds since 1970) to the
 * sandbox's now. `pinned` holds it still while an advance runs what became due (G24: an attempt made by
 * an advance bears its due time).
 */
export type ClockMode = "real" | "frozen" | "scaled";

export interface Clock {
  readonly mode: ClockMode;
  /** The sandbox's instant at the wall instant `wall`. */
  readonly at: number;
  readonly wall: number;
  /** Sandbox milliseconds per wall millisecond: 1 when real, 0 when frozen. */
  readonly rate: number;
  readonly pinned?: number;
}

export function makeClock(mode: ClockMode, at: number, wall: number, rate = 1): Clock {
  return { mode, at, wall, rate: mode === "frozen" ? 0 : mode === "real" ? 1 : rate };
}

export function readClock(clock: Clock, wall: number): number {
  if (clock.pinned !== undefined) return clock.pinned;
  return clock.rate === 0 ? clock.at : Math.floor(clock.at + (wall - clock.wall) * clock.rate);
}

/** The same mode, showing `at` from this wall instant on. */
export function moveClock(clock: Clock, at: number, wall: number): Clock {
  return { mode: clock.mode, at, wall, rate: clock.rate };
}

export function pinClock(clock: Clock, at: number): Clock {
  return { ...clock, pinned: at };
}

/** Wall milliseconds until the clock shows `due`; Infinity when it stands still. */
export function wallDelay(clock: Clock, due: number, wall: number): number {
  if (clock.pinned !== undefined || clock.rate === 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, (due - readClock(clock, wall)) / clock.rate);
}
