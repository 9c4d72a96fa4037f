import { getOrAdd } from "../maps.ts";

/** Counts how often each pair of values occurs. */
class PairCounter<K, L> {
  private readonly counts = new Map<K, Map<L, number>>();

  count(first: K, second: L, hits = 1): void {
    const counts = this.get(first) as Map<L, number>;
    counts.set(second, (counts.get(second) ?? 0) + hits);
  }

  get(first: K): ReadonlyMap<L, number> {
    return getOrAdd(this.counts, first, () => new Map());
  }

  *rows(): IterableIterator<readonly [K, L, number]> {
    for (const [first, counts] of this.counts)
      for (const [second, hits] of counts) yield [first, second, hits];
  }

  addAll(other: PairCounter<K, L>): void {
    for (const row of other.rows()) this.count(...row);
  }

  clear(): void {
    this.counts.clear();
  }
}

/** A success by its status, an error by its code. */
type AnswerOutcome = number | string;

/** How often each operation, by its id, had each outcome, for coverage; a reset of the sandbox does not clear them. */
export class OutcomeCounts extends PairCounter<string, AnswerOutcome> {}

/** Requests by operation and status since the server began, for metrics; null: no operation has the path. */
export class RequestCounter extends PairCounter<string | null, number> {}
