/** How many requests one sandbox, and all together, may have open towards receivers. */
export const MAX_SENDING_PER_SANDBOX = 128;
const MAX_SENDING = 512;

/**
 * Bounds how much is under way at once. Whoever finds nothing free is called back, first come first
 * served, when something is.
 */
export class Semaphore {
  private free: number;
  private readonly waiting = new Set<() => void>();

  constructor(size: number = MAX_SENDING) {
    this.free = size;
  }

  /** Takes one place, or remembers `retry` for when one is free. */
  take(retry: () => void): boolean {
    if (this.free === 0) {
      this.waiting.add(retry);
      return false;
    }
    this.free -= 1;
    return true;
  }

  release(): void {
    this.free += 1;
    for (let [next] = this.waiting; next !== undefined && this.free > 0; [next] = this.waiting) {
      this.waiting.delete(next);
      next();
    }
  }
}
