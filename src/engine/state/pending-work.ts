/** Outbound work that an advance of the clock waits for. */
export class PendingWork {
  private readonly running = new Set<Promise<unknown>>();

  track(work: Promise<unknown>): void {
    this.running.add(work);
    void work.catch(() => {}).finally(() => this.running.delete(work));
  }

  /** Resolves when none is left, including work that began meanwhile. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled([...this.running]);
  }
}
