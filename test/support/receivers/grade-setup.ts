import { gradeReceiver } from "../../../src/tools/grader/grade-receiver.ts";
import type { GradeReceiverOptions, Outcome } from "../../../src/tools/grader/report.ts";
import type { ReceiverReport } from "../../../types/control-api.ts";

export const SECRET = "whsec_9b1d4f2c7a60e358";

/**
 * Short waits, since most receivers here work before they answer. Behind how many others a delivery comes again
 * matters to one flaw alone, and to the samples, which partners copy: those are given MANY.
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

/** Runs all jobs, so many at a time, and keeps what each came to under its key. */
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
    // Whoever asks for it gets the reason.
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
