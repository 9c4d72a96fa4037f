import type { AnyOperation } from "../contract/operation.ts";

/** A success by its status, a refusal by its code. */
export type Outcome = number | string;

const NONE: ReadonlyMap<Outcome, number> = new Map();

/** The outcomes of each operation in one sandbox, for coverage; a reset does not clear them. */
export class OutcomeCounts {
  /** Made with the first request, so that idle sandboxes cost nothing. */
  private byOperation: Map<AnyOperation, Map<Outcome, number>> | undefined;

  count(operation: AnyOperation, outcome: Outcome, hits = 1): void {
    this.byOperation ??= new Map();
    increment(this.byOperation, operation, outcome, hits);
  }

  get(operation: AnyOperation): ReadonlyMap<Outcome, number> {
    return this.byOperation?.get(operation) ?? NONE;
  }

  /** Adds the counts of another. */
  addAll(other: OutcomeCounts): void {
    for (const [operation, outcomes] of other.byOperation ?? []) {
      for (const [outcome, hits] of outcomes) this.count(operation, outcome, hits);
    }
  }

  clear(): void {
    this.byOperation = undefined;
  }
}

/** Requests by operation and status since the server began, for metrics. */
export class RequestCounter {
  private readonly byOperation = new Map<string, Map<number, number>>();

  count(operation: string | null, status: number): void {
    increment(this.byOperation, operation ?? "none", status, 1);
  }

  *rows(): IterableIterator<{ operation: string; status: number; count: number }> {
    for (const [operation, byStatus] of this.byOperation) {
      for (const [status, count] of byStatus) yield { operation, status, count };
    }
  }
}

function increment<K, L>(counts: Map<K, Map<L, number>>, first: K, second: L, by: number): void {
  let inner = counts.get(first);
  if (inner === undefined) {
    inner = new Map();
    counts.set(first, inner);
  }
  inner.set(second, (inner.get(second) ?? 0) + by);
}
