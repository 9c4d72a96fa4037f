import { SortedTree } from "../state/sorted-tree.ts";

/** The use of one minute by one key. */
export interface RateWindow {
  readonly minute: number;
  readonly requests: number;
  readonly tokens: number;
}

/** Windows by id of the key; immutable, so past states share it. */
export type RateWindowTable = SortedTree<string, RateWindow>;
const EMPTY: RateWindowTable = SortedTree.empty((a, _a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** The length of a window: a fixed minute of the sandbox's clock, for each API key (section 8, G07). */
const WINDOW_MS = 60_000;
const TOKENS_PER_REQUEST = 1000;
/** Older windows are dropped. No request takes an hour from its count to its change, so `uncount` still finds its window. */
const MAX_AGE_MINUTES = 60;

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
export function toMinute(now: number): number {
  return Math.floor(now / WINDOW_MS);
}

/** Whole seconds, rounded up; at least 1. */
export function countSecondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1000));
}

export class RateWindows {
  /** The windows now; each change replaces it. */
  table: RateWindowTable;
  /** The latest minute in which a request was counted. */
  private latestMinute = Number.NEGATIVE_INFINITY;

  constructor(table: RateWindowTable = EMPTY) {
    this.table = table;
  }

  /** Counts one request; `exceeded` if the window had none left. */
  count(key_id: string, limit: number, now: number): RateState {
    const minute = toMinute(now);
    let window = this.findWindow(key_id, minute);
    const exceeded = window.requests >= limit;
    if (!exceeded) {
      window = { minute, requests: window.requests + 1, tokens: window.tokens };
      if (minute > this.latestMinute) this.dropOld(minute);
      this.store(key_id, window);
    }
    return toRateState(window, { limit, exceeded });
  }

  /** The state that `count` returns once the window is used up; counts nothing. */
  getExhaustedState(key_id: string, limit: number, now: number): RateState {
    return toRateState(
      { ...this.findWindow(key_id, toMinute(now)), requests: limit },
      { limit, exceeded: true },
    );
  }

  /** The current state of the window; counts nothing. */
  getState(key_id: string, limit: number, now: number): RateState {
    const window = this.findWindow(key_id, toMinute(now));
    return toRateState(window, { limit, exceeded: window.requests >= limit });
  }

  /**
   * Spends tokens of section 4.19 from the window in which their request was counted, and returns how many are left. The budget
   * is shown and never refuses (G07); a window that has ended stays as it is. `now`: the instant of that request.
   */
  spend(key_id: string, tokens: number, { now, token_limit }: { now: number; token_limit: number }): number {
    const window = this.table.get(key_id);
    if (window === undefined || window.minute !== toMinute(now)) return Math.max(0, token_limit - tokens);
    const spent = window.tokens + tokens;
    this.store(key_id, { ...window, tokens: spent });
    return Math.max(0, token_limit - spent);
  }

  /**
   * Uncounts one request in the window of this minute, unless a later window has replaced it. For the state before a
   * change: its windows already count the request that made the change.
   */
  uncount(key_id: string, minute: number): void {
    const window = this.table.get(key_id);
    if (window?.minute !== minute) return;
    if (window.requests === 1 && window.tokens === 0) this.drop(key_id);
    else this.store(key_id, { ...window, requests: window.requests - 1 });
  }

  /** Called when a key was deleted, so that a new key with its id begins without a window. */
  drop(key_id: string): void {
    this.table = this.table.delete(key_id);
  }

  toJSON(): [string, RateWindow][] {
    return [...this.table.entries()];
  }

  static parse(entries: readonly [string, RateWindow][]): RateWindows {
    const windows = new RateWindows();
    for (const [key, window] of entries) windows.store(key, window);
    return windows;
  }

  private findWindow(key_id: string, minute: number): RateWindow {
    const window = this.table.get(key_id);
    return window?.minute === minute ? window : { minute, requests: 0, tokens: 0 };
  }

  private store(key_id: string, window: RateWindow): void {
    this.table = this.table.set(key_id, window);
  }

  /** Drops old windows once a minute, so that those of keys that are no longer used do not add up. */
  private dropOld(currentMinute: number): void {
    this.latestMinute = currentMinute;
    for (const [key, window] of this.table.entries())
      if (window.minute < currentMinute - MAX_AGE_MINUTES) this.table = this.table.delete(key);
  }
}

function toRateState(
  { minute, requests, tokens }: RateWindow,
  { limit, exceeded }: { limit: number; exceeded: boolean },
): RateState {
  const token_limit = limit * TOKENS_PER_REQUEST;
  return {
    limit,
    remaining: Math.max(0, limit - requests),
    reset: (minute + 1) * WINDOW_MS,
    token_limit,
    token_remaining: Math.max(0, token_limit - tokens),
    exceeded,
  };
}
