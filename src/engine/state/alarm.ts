/** The longest wait of an OS timer, in milliseconds; Node takes a longer one for none at all. */
const MAX_OS_TIMER_MS = 2 ** 31 - 1;

/** One OS timer, which does not keep the process alive; it rings early where a wait is longer than one can be. */
export class Alarm {
  private timer: NodeJS.Timeout | undefined;

  /** In place of what was set before. `delay` in milliseconds of the wall clock; one without end is never set. */
  set(delay: number, ring: () => void): void {
    this.clear();
    if (delay === Number.POSITIVE_INFINITY) return;
    this.timer = setTimeout(ring, Math.min(Math.ceil(delay), MAX_OS_TIMER_MS));
    this.timer.unref();
  }

  clear(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
