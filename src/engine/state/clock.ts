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

export const DAY_MS = 86_400_000;

/** The last instant that an ISO 8601 timestamp of four digits can name. */
export const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The wall clock without its steps backwards, which machines take when somebody sets their time: no record is
 * older than the one before it. After such a step it goes on from where it was.
 */
export function forwardClock(read: () => number): () => number {
  let ahead = 0;
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = read() + ahead;
    if (now < last) ahead += last - now;
    last = Math.max(now, last);
    return last;
  };
}

export function makeClock(mode: ClockMode, at: number, wall: number, rate = 1): Clock {
  return { mode, at, wall, rate: mode === "frozen" ? 0 : mode === "real" ? 1 : rate };
}

export function readClock(clock: Clock, wall: number): number {
  if (clock.pinned !== undefined) return clock.pinned;
  if (clock.rate === 0) return clock.at;
  return Math.min(LAST_INSTANT, Math.floor(clock.at + (wall - clock.wall) * clock.rate));
}

/** The same mode, showing `at` from this wall instant on. */
export function moveClock(clock: Clock, at: number, wall: number): Clock {
  return { mode: clock.mode, at, wall, rate: clock.rate };
}

export function pinClock(clock: Clock, at: number): Clock {
  return { ...clock, pinned: at };
}

/** Wall milliseconds until the clock shows `due`; Infinity when it stands still before it. */
export function wallDelay(clock: Clock, due: number, wall: number): number {
  if (clock.pinned !== undefined) return Number.POSITIVE_INFINITY;
  if (clock.rate === 0) return due <= clock.at ? 0 : Number.POSITIVE_INFINITY;
  return Math.max(0, (due - readClock(clock, wall)) / clock.rate);
}
