import type { GradedSandbox } from "./client-check.ts";
import type {
  ClientCheckReport,
  ClientReport,
  GradeClientOptions,
  RunProgress,
} from "./client-report-types.ts";
import { ClientHangs, gradeClient } from "./grade-client.ts";

/** How the client ended a run, as the person or agent who used it saw it. */
export type ManualEnd = "worked" | "error" | "hangs";

export interface ManualStatus {
  /** Undefined while no run waits for its client: before the first, between two, and after the last. */
  run: Omit<RunProgress, "observe"> | undefined;
  /** The checks of the current run, as far as its requests show them. */
  checks: readonly ClientCheckReport[];
  report: ClientReport | undefined;
}

/**
 * A client test whose runs are made by hand; the constructor begins the first. In each run the sandbox is prepared, a person
 * uses the client, and `end` ends the run, after which the next one begins.
 */
export class ManualClientTest {
  /** Rejects with a ClientTestUsageError, or an error of the sandbox. */
  readonly report: Promise<ClientReport>;
  private readonly stopping = new AbortController();
  private progress: RunProgress | undefined;
  private result: ClientReport | undefined;
  private finishRun: ((how: ManualEnd) => void) | undefined;
  private readonly waiting: (() => void)[] = [];

  constructor(sandbox: GradedSandbox, options: Pick<GradeClientOptions, "only" | "skip">) {
    const grading = gradeClient(sandbox, (signal) => this.waitForEnd(signal), {
      ...options,
      timeoutMs: Number.POSITIVE_INFINITY,
      signal: this.stopping.signal,
      onRun: (progress) => {
        this.progress = progress;
      },
    });
    this.report = grading.then((report) => {
      this.result = report;
      return report;
    });
    // Callers get the error from `waitForRun`.
    this.report.catch(() => {});
  }

  async status(): Promise<ManualStatus> {
    const { result, finishRun } = this;
    if (result !== undefined) return { run: undefined, checks: result.checks, report: result };
    if (finishRun === undefined) return { run: undefined, checks: [], report: undefined };
    const { observe, ...run } = this.progress!;
    return { run, checks: await observe(), report: undefined };
  }

  /** Resolves when the next run can be made, or the report is there. @throws as `report` does */
  async waitForRun(): Promise<void> {
    if (this.finishRun !== undefined || this.result !== undefined) return;
    await Promise.race([this.report, new Promise<void>((resolve) => this.waiting.push(resolve))]);
  }

  end(how: ManualEnd): void {
    this.finishRun?.(how);
  }

  /** Ends the test: the sandbox is restored, and `report` resolves with the checks so far. */
  stop(): void {
    this.stopping.abort();
  }

  private waitForEnd(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (error?: Error) => {
        this.finishRun = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
      this.finishRun = (how) => finish(ERRORS[how]?.());
      signal.addEventListener("abort", () => finish(new Error("the test was stopped")), { once: true });
      for (const resolve of this.waiting.splice(0)) resolve();
    });
  }
}

const ERRORS: Partial<Record<ManualEnd, () => Error>> = {
  error: () => new Error("an error was shown"),
  hangs: () => new ClientHangs("did not end"),
};
