interface Waiting {
  begin: () => void;
}

interface Bounds {
  /** How much is done at once. */
  size: number;
  /** How much of it by one asker: below `size`, one who brings much leaves room for others. */
  each: number;
}

/**
 * Bounds how much heavy work is done at once, and lets those who ask take turns: whoever has brought a hundred
 * documents keeps another waiting for one of them at most (interfaces 7). What waits should hold no bytes yet.
 */
export class FairQueue<Asker extends object> {
  private free: number;
  private readonly each: number;
  /** How many places an asker has; those without any are not in it. */
  private readonly busy = new Map<Asker, number>();
  /** In the order of their next turns. */
  private readonly lines = new Map<Asker, Waiting[]>();

  constructor({ size, each }: Bounds) {
    this.free = size;
    this.each = each;
  }

  /** Runs `work` when it is its turn. @throws the signal's reason when the client left while waiting */
  async run<T>(asker: Asker, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.hasPlaceFor(asker)) this.take(asker);
    else await this.turnOf(asker, signal);
    try {
      return await work();
    } finally {
      this.give(asker);
    }
  }

  private hasPlaceFor(asker: Asker): boolean {
    return this.free > 0 && (this.busy.get(asker) ?? 0) < this.each;
  }

  private take(asker: Asker): void {
    this.free -= 1;
    this.busy.set(asker, (this.busy.get(asker) ?? 0) + 1);
  }

  /** The place goes to the next in line who may have one; nobody who comes now can take it first. */
  private give(asker: Asker): void {
    this.free += 1;
    const left = this.busy.get(asker)! - 1;
    if (left > 0) this.busy.set(asker, left);
    else this.busy.delete(asker);
    for (const [next, line] of this.lines) {
      if (!this.hasPlaceFor(next)) continue;
      const one = line.shift()!;
      this.lines.delete(next);
      if (line.length > 0) this.lines.set(next, line);
      this.take(next);
      one.begin();
      return;
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

  private withdraw(asker: Asker, one: Waiting): void {
    const line = this.lines.get(asker)!.filter((other) => other !== one);
    if (line.length > 0) this.lines.set(asker, line);
    else this.lines.delete(asker);
  }
}
