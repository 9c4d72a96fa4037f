interface Waiting {
  begin: () => void;
}

/**
 * Bounds how much heavy work is done at once, and lets those who ask take turns: whoever has brought a hundred
 * documents keeps another waiting for one of them at most (interfaces 7). What waits should hold no bytes yet.
 */
export class FairQueue<Asker extends object> {
  private free: number;
  /** In the order of their next turns. */
  private readonly lines = new Map<Asker, Waiting[]>();

  /** @param size how much is done at once */
  constructor(size: number) {
    this.free = size;
  }

  /** Runs `work` when it is its turn. @throws the signal's reason when the client left while waiting */
  async run<T>(asker: Asker, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.free > 0) this.free -= 1;
    else await this.turnOf(asker, signal);
    try {
      return await work();
    } finally {
      this.pass();
    }
  }

  private turnOf(asker: Asker, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.withdraw(asker, one);
        reject(signal.reason);
      };
      const one: Waiting = {
        begin: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      const line = this.lines.get(asker);
      if (line === undefined) this.lines.set(asker, [one]);
      else line.push(one);
    });
  }

  /** The place goes to the next in line; nobody who comes now can take it first. */
  private pass(): void {
    const [next] = this.lines;
    if (next === undefined) {
      this.free += 1;
      return;
    }
    const [asker, line] = next;
    const one = line.shift()!;
    this.lines.delete(asker);
    if (line.length > 0) this.lines.set(asker, line);
    one.begin();
  }

  private withdraw(asker: Asker, one: Waiting): void {
    const line = this.lines.get(asker)!.filter((other) => other !== one);
    if (line.length > 0) this.lines.set(asker, line);
    else this.lines.delete(asker);
  }
}
