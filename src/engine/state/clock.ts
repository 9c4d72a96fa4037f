import { MAX_TIMEOUT_MS, platform } from "../platform.ts";

/**
 * The sandbox's clock as a value: a function from the wall clock (milliseconds since 1970) to the sandbox's current time.
 */
export interface Clock {
  readonly mode: ClockMode;
  /** The sandbox's instant at the wall instant `wall`. */
  readonly at: number;
  readonly wall: number;
  /** Sandbox milliseconds per wall millisecond: 1 when real, 0 when frozen. */
  readonly rate: number;
  /**
   * While an advance runs the timers that became due: the instant that the clock shows, whatever its rate (G24: an attempt
   * made by an advance has its due time).
   */
  readonly pinned?: number;
}

export type ClockMode = "real" | "frozen" | "scaled";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The first instant of the year 1. */
export const FIRST_INSTANT = -62_135_596_800_000;

/** The last instant that an ISO 8601 timestamp with a four-digit year can name. */
export const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const MAX_DISTANCE_MS = 365_250 * DAY_MS;

/**
 * Whether a world can have an instant, which is relative to its origin: one of the years 1 to 9999, or one within a
 * thousand years of the origin. A fixture's records lie around its origin, which may be in the year 1 or 9999 itself.
 */
export function isPossibleInstant(instant: number, origin: number): boolean {
  const at = origin + instant;
  const isNear = Math.abs(instant) <= MAX_DISTANCE_MS;
  return Number.isSafeInteger(at) && (isNear || (at >= FIRST_INSTANT && at <= LAST_INSTANT));
}

/**
 * The wall clock, except that it never goes back when the machine's time is set, so that no record is older
 * than the one before it. After such a step the clock continues from its last instant.
 */
export function makeMonotonicClock(read: () => number): () => number {
  let offset = 0;
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = read() + offset;
    if (now < last) offset += last - now;
    last = Math.max(now, last);
    return last;
  };
}

export function makeClock(mode: ClockMode, at: number, wall: number, rate = 1): Clock {
  return { mode, at, wall, rate: { real: 1, frozen: 0, scaled: rate }[mode] };
}

export function readClock(clock: Clock, wall: number): number {
  if (clock.pinned !== undefined) return clock.pinned;
  if (clock.rate === 0) return clock.at;
  return Math.min(LAST_INSTANT, Math.floor(clock.at + (wall - clock.wall) * clock.rate));
}

/** A clock of the same mode that shows `at` at the wall instant `wall`. */
export function moveClock(clock: Clock, at: number, wall: number): Clock {
  return { mode: clock.mode, at, wall, rate: clock.rate };
}

/** Wall milliseconds until the clock shows `due`; Infinity if it stands still before `due`, or during an advance. */
export function calculateWallDelay(clock: Clock, due: number, wall: number): number {
  if (clock.pinned !== undefined) return Number.POSITIVE_INFINITY;
  if (clock.rate === 0) return due <= clock.at ? 0 : Number.POSITIVE_INFINITY;
  return Math.max(0, (due - readClock(clock, wall)) / clock.rate);
}

/** The end of an advance, in milliseconds since 1970; `next` is the nearest timer. */
export type AdvanceTarget = number | "next" | ((now: number) => number);

/**
 * The end of an advance that begins now; without a timer, `next` is now.
 * @throws RangeError if it is before now, or after the year 9999
 */
export function getEndOfAdvance(target: AdvanceTarget, now: number, nextDue: number): number {
  let end = typeof target === "function" ? target(now) : target;
  if (end === "next") end = nextDue === Number.POSITIVE_INFINITY ? now : Math.max(now, nextDue);
  if (end < now) throw new RangeError("the clock only moves forward");
  if (end > LAST_INSTANT) throw new RangeError("the clock ends with the year 9999");
  return end;
}

/** One timer on the wall clock. It does not keep the process alive, and fires early if the wait is longer than setTimeout allows. */
export class WakeUp {
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Replaces the earlier timer. `delay` is in milliseconds; an infinite one sets none. */
  set(delay: number, wake: () => void): void {
    this.clear();
    if (delay === Number.POSITIVE_INFINITY) return;
    this.timer = platform().timers.setTimeout(wake, Math.min(Math.ceil(delay), MAX_TIMEOUT_MS));
    // Only Node's timers have `unref`.
    (this.timer as { unref?: () => void }).unref?.();
  }

  clear(): void {
    platform().timers.clearTimeout(this.timer);
    this.timer = undefined;
  }
}

/** Kinds of the timers that become due as the clock moves. */
export const TIMER_KINDS = [
  "webhook.retry",
  "file.step",
  "connector.job",
  "transcription.step",
  "meeting.line",
  "invoice",
  "expiry",
  "lease",
] as const;
export type TimerKind = (typeof TIMER_KINDS)[number];
