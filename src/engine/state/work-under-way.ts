/** Outbound work that an advance of the clock waits for. */
export class WorkUnderWay {
  private readonly running = new Set<Promise<unknown>>();

  track(work: Promise<unknown>): void {
    this.running.add(work);
    void work.catch(() => {}).finally(() => this.running.delete(work));
  }

  /** Resolves when none is left, that which began meanwhile included. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled([...this.running]);
  }
}
