import { SortedTree } from "../state/sorted-tree.ts";

/** What a key has used of one minute. */
export interface RateWindow {
  readonly minute: number;
  readonly requests: number;
  readonly tokens: number;
}

/** By the id of the key; a value, so that states of the past share it. */
export type RateWindowTable = SortedTree<string, RateWindow>;
const EMPTY: RateWindowTable = SortedTree.empty((a, _a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** Section 8 and G07: a fixed minute of the sandbox's clock, counted per API key. */
const WINDOW_MS = 60_000;
const TOKENS_PER_REQUEST = 1000;
/** Windows that ended longer ago are dropped: no request takes an hour. */
const DROPPED_AFTER_MINUTES = 60;

export interface RateState {
  limit: number;
  remaining: number;
  /** End of the window, milliseconds since 1970 on the sandbox's clock. */
  reset: number;
  token_limit: number;
  token_remaining: number;
  exceeded: boolean;
}

/** The window of an instant of the sandbox's clock, in minutes since 1970. */
export function minuteOf(now: number): number {
  return Math.floor(now / WINDOW_MS);
}

export class RateWindows {
  private windows = EMPTY;
  /** The latest minute in which something was counted. */
  private minute = Number.NEGATIVE_INFINITY;

  /** Counts one request; it is `exceeded` when the window had none left. */
  count(key_id: string, limit: number, now: number): RateState {
    const minute = minuteOf(now);
    let window: RateWindow | undefined = this.windows.get(key_id);
    if (window?.minute !== minute) window = { minute, requests: 0, tokens: 0 };
    const exceeded = window.requests >= limit;
    if (!exceeded) {
      window = { minute, requests: window.requests + 1, tokens: window.tokens };
      if (minute > this.minute) this.dropBefore(minute);
      this.store(key_id, window);
    }
    const token_limit = limit * TOKENS_PER_REQUEST;
    return {
      limit,
      remaining: Math.max(0, limit - window.requests),
      reset: (window.minute + 1) * WINDOW_MS,
      token_limit,
      token_remaining: Math.max(0, token_limit - window.tokens),
      exceeded,
    };
  }

  /** What `count` would show of a request that is refused because the window is used up; counts nothing. */
  exhausted(key_id: string, limit: number, now: number): RateState {
    const minute = minuteOf(now);
    const window = this.windows.get(key_id);
    const tokens = window?.minute === minute ? window.tokens : 0;
    const token_limit = limit * TOKENS_PER_REQUEST;
    return {
      limit,
      remaining: 0,
      reset: (minute + 1) * WINDOW_MS,
      token_limit,
      token_remaining: Math.max(0, token_limit - tokens),
      exceeded: true,
    };
  }

  /** What the window holds at this moment; counts nothing. */
  peek(key_id: string, limit: number, now: number): RateState {
    const window = this.windows.get(key_id);
    const used = window?.minute === minuteOf(now) ? window.requests : 0;
    const remaining = Math.max(0, limit - used);
    return { ...this.exhausted(key_id, limit, now), remaining, exceeded: remaining === 0 };
  }

  /**
   * Spends tokens of 4.19 from the window in which its request was counted, and says what is left; the
   * budget is shown and never refuses (G07). A window that is over by now stays closed.
   */
  spend(key_id: string, tokens: number, { now, token_limit }: { now: number; token_limit: number }): number {
    const window = this.windows.get(key_id);
    if (window === undefined || window.minute !== minuteOf(now)) return Math.max(0, token_limit - tokens);
    const spent = window.tokens + tokens;
    this.store(key_id, { ...window, tokens: spent });
    return Math.max(0, token_limit - spent);
  }

  /** Takes back one request that was counted in this window, unless it is over. */
  uncount(key_id: string, minute: number): void {
    const window = this.windows.get(key_id);
    if (window?.minute !== minute) return;
    if (window.requests === 1 && window.tokens === 0) this.forget(key_id);
    else this.store(key_id, { ...window, requests: window.requests - 1 });
  }

  /** A key was deleted; another one made under its id begins with no window. */
  forget(key_id: string): void {
    this.windows = this.windows.delete(key_id);
  }

  get counted(): RateWindowTable {
    return this.windows;
  }

  static from(counted: RateWindowTable): RateWindows {
    const windows = new RateWindows();
    windows.windows = counted;
    return windows;
  }

  copy(): RateWindows {
    const copy = new RateWindows();
    copy.windows = this.windows;
    copy.minute = this.minute;
    return copy;
  }

  toJSON(): [string, RateWindow][] {
    return [...this.windows.entries()];
  }

  static parse(entries: readonly [string, RateWindow][]): RateWindows {
    const windows = new RateWindows();
    for (const [key, window] of entries) windows.store(key, window);
    return windows;
  }

  private store(key_id: string, window: RateWindow): void {
    this.windows = this.windows.set(key_id, window);
  }

  /** Once a minute, so that windows of keys that are no longer used do not add up. */
  private dropBefore(minute: number): void {
    this.minute = minute;
    for (const [key, window] of this.windows.entries())
      if (window.minute < minute - DROPPED_AFTER_MINUTES) this.windows = this.windows.delete(key);
  }
}
