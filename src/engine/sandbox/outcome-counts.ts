import type { AnyOperation } from "../contract/operation.ts";

/** A success by its status, a refusal by its code. */
export type Outcome = number | string;

/**
 * What each operation has answered in one sandbox, for coverage. Holds nothing before the first request,
 * so that ten thousand idle sandboxes cost nothing; a reset does not clear it, since a test run is the sum
 * of the worlds it went through.
 */
export class OutcomeCounts {
  private byOperation: Map<AnyOperation, Map<Outcome, number>> | undefined;

  count(operation: AnyOperation, outcome: Outcome, hits = 1): void {
    this.byOperation ??= new Map();
    let counts = this.byOperation.get(operation);
    if (counts === undefined) {
      counts = new Map();
      this.byOperation.set(operation, counts);
    }
    counts.set(outcome, (counts.get(outcome) ?? 0) + hits);
  }

  of(operation: AnyOperation): ReadonlyMap<Outcome, number> {
    return this.byOperation?.get(operation) ?? NONE;
  }

  /** What another has counted, on top. */
  addAll(other: OutcomeCounts): void {
    for (const [operation, outcomes] of other.byOperation ?? []) {
      for (const [outcome, hits] of outcomes) this.count(operation, outcome, hits);
    }
  }

  clear(): void {
    this.byOperation = undefined;
  }
}

const NONE: ReadonlyMap<Outcome, number> = new Map();
