/** Work that waits for what was asked before it, however that ends. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const run = this.last.then(work);
    this.last = run.catch(() => {});
    return run;
  }

  /** Resolves once what has been taken so far has ended. */
  async ended(): Promise<void> {
    await this.last;
  }
}
