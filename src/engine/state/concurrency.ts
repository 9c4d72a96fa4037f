import { sleep } from "../platform.ts";

/** Runs work one after the other, whether the earlier work succeeds or fails. */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const run = this.last.then(work);
    this.last = run.catch(() => {});
    return run;
  }

  /** Resolves when all work requested so far has ended. */
  async whenIdle(): Promise<void> {
    await this.last;
  }
}

export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const run = (this.last.get(key) ?? Promise.resolve()).then(work);
    const end = run
      .catch(() => {})
      .then(() => {
        if (this.last.get(key) === end) this.last.delete(key);
      });
    this.last.set(key, end);
    return run;
  }
}

/** Outbound work that an advance of the clock waits for. */
export class RunningWork {
  private readonly running = new Set<Promise<unknown>>();

  track(work: Promise<unknown>): void {
    this.running.add(work);
    void work.catch(() => {}).finally(() => this.running.delete(work));
  }

  /** Resolves when none is left, including work that began meanwhile. */
  async whenSettled(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled([...this.running]);
  }
}

/**
 * Runs a limited number of heavy tasks at once, at most one of each client. The clients take turns: one that sends a
 * hundred documents delays another by at most one of them (interfaces.md 7).
 */
export class FairQueue<Client extends object> {
  private freeSlots: number;
  /** The clients with a running task. */
  private readonly running = new Set<Client>();
  /** The waiting tasks in their order. The first one whose client has no running task begins next. */
  private waiting: { client: Client; start: () => void }[] = [];

  /** @param total the maximum number of running tasks */
  constructor(total: number) {
    this.freeSlots = total;
  }

  /** Queues `work` and runs it. @throws the signal's reason if the client left while waiting */
  async run<T>(client: Client, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.freeSlots > 0 && !this.running.has(client)) this.begin(client);
    else await this.wait(client, signal);
    try {
      return await work();
    } finally {
      this.end(client);
    }
  }

  private begin(client: Client): void {
    this.freeSlots -= 1;
    this.running.add(client);
  }

  /** Begins the next waiting work at once, so that work which arrives later cannot overtake it. */
  private end(client: Client): void {
    this.freeSlots += 1;
    this.running.delete(client);
    const next = this.waiting.find((work) => !this.running.has(work.client));
    if (next === undefined) return;
    const isOfNext = (work: { client: Client }) => work.client === next.client;
    const others = this.waiting.filter((work) => work !== next);
    // The other work of this client goes behind that of all other clients.
    this.waiting = [...others.filter((work) => !isOfNext(work)), ...others.filter(isOfNext)];
    this.begin(next.client);
    next.start();
  }

  private wait(client: Client, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.waiting = this.waiting.filter((work) => work.start !== start);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.waiting.push({ client, start });
    });
  }
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/**
 * Aborts after this time. The listener keeps the signal alive: Node 20 collects an `AbortSignal.timeout` that has none,
 * even if a signal of `AbortSignal.any` depends on it.
 */
export function abortAfter(ms: number): AbortSignal {
  const signal = AbortSignal.timeout(ms);
  signal.addEventListener("abort", () => {});
  return signal;
}

/** Resolves early, without an error, when the signal aborts. */
export async function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await Promise.race([sleep(ms), whenAborted(signal)]);
}

export class ChangeListeners<T = void> {
  private readonly listeners = new Set<(change: T) => void>();

  get size(): number {
    return this.listeners.size;
  }

  /** Returns a function that removes the listener. */
  add(listener: (change: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Resolves at the next change, or when the signal aborts. */
  waitForNext(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        remove();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const remove = this.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  notify(change: T): void {
    for (const listener of this.listeners) listener(change);
  }

  clear(): void {
    this.listeners.clear();
  }
}
