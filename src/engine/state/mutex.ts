/** Runs work one after the other, whether the earlier work succeeds or fails. */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const run = this.last.then(work);
    this.last = run.catch(() => {});
    return run;
  }

  /** Resolves when all work requested so far has ended. */
  async idle(): Promise<void> {
    await this.last;
  }
}

/** A mutex per key. */
export class KeyedMutex {
  private readonly last = new Map<string, Promise<void>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.last.get(key) ?? Promise.resolve()).then(work);
    const end: Promise<void> = mine
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (this.last.get(key) === end) this.last.delete(key);
      });
    this.last.set(key, end);
    return mine;
  }
}
