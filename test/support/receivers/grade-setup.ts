import { gradeReceiver } from "../../../src/tools/grader/grade-receiver.ts";
import type { GradeReceiverOptions, Outcome } from "../../../src/tools/grader/report.ts";
import type { ReceiverReport } from "../../../types/control-api.ts";

export const SECRET = "whsec_9b1d4f2c7a60e358";

/**
 * Short waits, since most receivers here process a delivery before they respond. The number of deliveries between two
 * attempts of one matters only to one flaw and to the documented samples, which use MANY_DELIVERIES.
 */
export const QUICK: Omit<GradeReceiverOptions, "secret"> = {
  settleMs: 15,
  patienceMs: 200,
  memoryMs: 0,
  memoryDeliveries: 10,
};
export const MANY_DELIVERIES = 60;

export const grade = (url: string, options: Partial<GradeReceiverOptions> = {}) =>
  gradeReceiver(url, { secret: SECRET, ...QUICK, ...options });

export function listChecksWith({ checks }: ReceiverReport, outcome: Outcome): string[] {
  return checks.filter((check) => check.outcome === outcome).map(({ id }) => id);
}

/** Runs jobs, at most N at a time, and stores their results by key. */
export class Pool<T> {
  private readonly results = new Map<string, Promise<T>>();
  private readonly waiting: (() => void)[] = [];
  private free: number;

  constructor(atOnce: number) {
    this.free = atOnce;
  }

  add(key: string, job: () => Promise<T>): void {
    const result = this.acquire()
      .then(job)
      .finally(() => this.release());
    // `getResult` reports the error.
    result.catch(() => {});
    this.results.set(key, result);
  }

  async getResult(key: string): Promise<T> {
    return this.results.get(key)!;
  }

  private async acquire(): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private release(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }
}
