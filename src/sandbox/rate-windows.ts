/** Section 8 and G07: a fixed minute of the sandbox's clock, counted per API key. */
const WINDOW_MS = 60_000;
const TOKENS_PER_REQUEST = 1000;

export interface RateState {
  limit: number;
  remaining: number;
  /** End of the window, milliseconds since 1970 on the sandbox's clock. */
  reset: number;
  token_limit: number;
  token_remaining: number;
  exceeded: boolean;
}

export interface Window {
  minute: number;
  requests: number;
  tokens: number;
}

export class RateWindows {
  /** Grows with whatever is counted, so that two looks tell whether anything was. */
  revision = 0;
  private windows = new Map<string, Window>();

  /** Counts one request; it is `exceeded` when the window had none left. */
  count(key_id: string, limit: number, now: number): RateState {
    const window = this.current(key_id, now);
    const exceeded = window.requests >= limit;
    if (!exceeded) {
      window.requests += 1;
      this.revision += 1;
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
    const minute = Math.floor(now / WINDOW_MS);
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
    const used = window?.minute === Math.floor(now / WINDOW_MS) ? window.requests : 0;
    const remaining = Math.max(0, limit - used);
    return { ...this.exhausted(key_id, limit, now), remaining, exceeded: remaining === 0 };
  }

  /**
   * Spends tokens of 4.19 from the window in which its request was counted, and says what is left; the
   * budget is shown and never refuses (G07). A window that is over by now stays closed.
   */
  spend(key_id: string, tokens: number, { now, token_limit }: { now: number; token_limit: number }): number {
    const window = this.windows.get(key_id);
    if (window === undefined || window.minute !== Math.floor(now / WINDOW_MS))
      return Math.max(0, token_limit - tokens);
    window.tokens += tokens;
    this.revision += 1;
    return Math.max(0, token_limit - window.tokens);
  }

  copy(): RateWindows {
    const copy = new RateWindows();
    for (const [key, window] of this.windows) copy.windows.set(key, { ...window });
    return copy;
  }

  toJSON(): [string, Window][] {
    return [...this.windows];
  }

  static from(entries: readonly [string, Window][]): RateWindows {
    const windows = new RateWindows();
    windows.windows = new Map(entries.map(([key, window]) => [key, { ...window }]));
    return windows;
  }

  private current(key_id: string, now: number): Window {
    const minute = Math.floor(now / WINDOW_MS);
    let window = this.windows.get(key_id);
    if (window === undefined) {
      window = { minute, requests: 0, tokens: 0 };
      this.windows.set(key_id, window);
    } else if (window.minute !== minute) {
      window.minute = minute;
      window.requests = 0;
      window.tokens = 0;
    }
    return window;
  }
}
