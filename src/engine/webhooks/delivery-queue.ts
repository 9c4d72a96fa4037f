import type { AttemptKind, QueuedAttempt } from "./queued-attempts.ts";

export interface Job {
  queued: QueuedAttempt;
  /** Ends the request when the attempt is cancelled. */
  controller: AbortController;
  /** True if the attempt was made and recorded, false if it was cancelled. */
  done: Promise<boolean>;
  end: (attempt: { made: boolean }) => void;
}

/** The maximum number of running attempts per webhook and kind. First attempts run one by one, so that none overtakes another. */
const MAX_RUNNING: Readonly<Record<AttemptKind, number>> = { first: 1, retry: 4, redelivery: 4 };

/** The waiting and running attempts of one webhook. */
export class DeliveryQueue {
  private readonly waiting: Readonly<Record<AttemptKind, Set<Job>>> = {
    first: new Set(),
    retry: new Set(),
    redelivery: new Set(),
  };
  private readonly running: Record<AttemptKind, number> = { first: 0, retry: 0, redelivery: 0 };
  /** Deliveries with a running attempt: their other attempts wait, so that a redelivery never races the schedule (G24). */
  private readonly busyDeliveries = new Set<string>();

  add(job: Job): void {
    this.waiting[job.queued.kind].add(job);
  }

  remove(job: Job): boolean {
    return this.waiting[job.queued.kind].delete(job);
  }

  get isEmpty(): boolean {
    return this.busyDeliveries.size === 0 && Object.values(this.waiting).every(({ size }) => size === 0);
  }

  /**
   * The next job, which stays in the queue. In an advance (`isSequential`) retries of one webhook that are due at
   * one instant go in their order, so that the effect of a 410 does not depend on timing.
   */
  findNext({ isSequential }: { isSequential: boolean }): Job | undefined {
    for (const kind of ["redelivery", "first", "retry"] as const) {
      if (this.running[kind] >= (isSequential ? 1 : MAX_RUNNING[kind])) continue;
      for (const job of this.waiting[kind]) {
        if (!this.busyDeliveries.has(job.queued.delivery_id)) return job;
      }
    }
    return undefined;
  }

  begin(job: Job): void {
    this.waiting[job.queued.kind].delete(job);
    this.running[job.queued.kind] += 1;
    this.busyDeliveries.add(job.queued.delivery_id);
  }

  finish(job: Job): void {
    this.running[job.queued.kind] -= 1;
    this.busyDeliveries.delete(job.queued.delivery_id);
  }
}

/** The maximum number of open requests to receivers, of one sandbox and of all. */
export const MAX_SENDING_PER_SANDBOX = 128;
const MAX_SENDING = 512;

export class Semaphore {
  private freePermits: number;
  private readonly waiting = new Set<() => void>();

  constructor(size: number = MAX_SENDING) {
    this.freePermits = size;
  }

  /** Acquires a permit; if none is free, calls `retry` once when one is. */
  tryAcquire(retry: () => void): boolean {
    if (this.freePermits === 0) {
      this.waiting.add(retry);
      return false;
    }
    this.freePermits -= 1;
    return true;
  }

  release(): void {
    this.freePermits += 1;
    for (const retry of this.waiting) {
      if (this.freePermits === 0) return;
      this.waiting.delete(retry);
      retry();
    }
  }
}
