/** The longest wait of setTimeout, in milliseconds; Node treats a longer one as 1. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** One timer on the wall clock. It does not keep the process alive, and fires early if the wait is longer than setTimeout allows. */
export class WakeUp {
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Replaces the earlier timer. `delay` is in milliseconds; an infinite one sets none. */
  set(delay: number, wake: () => void): void {
    this.clear();
    if (delay === Number.POSITIVE_INFINITY) return;
    this.timer = setTimeout(wake, Math.min(Math.ceil(delay), MAX_TIMEOUT_MS));
    // Only Node's timers have it.
    (this.timer as { unref?: () => void }).unref?.();
  }

  clear(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
