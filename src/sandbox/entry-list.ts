import type { HistoryEntry } from "./history-entry.ts";

const SEEN_TOGETHER = 4;

/** Entries by their positions, which have no gaps; the oldest go first. */
export class EntryList {
  /** The position of the oldest. */
  first = 1;
  /** The position of the one that comes next. */
  next = 1;
  /** What was seen ahead; kept only so that it is really looked at. */
  seen = 0;
  private list: HistoryEntry[] = [];

  get size(): number {
    return this.next - this.first;
  }

  /** Takes its entry, whose position is `next`. */
  push(entry: HistoryEntry): void {
    this.list.push(entry);
    this.next += 1;
  }

  /** Oldest first. */
  all(): readonly HistoryEntry[] {
    return this.newest(this.size);
  }

  /** So many of them, oldest first. */
  newest(count: number): readonly HistoryEntry[] {
    return count <= 0 ? [] : this.list.slice(this.list.length - Math.min(count, this.size));
  }

  at(sequence: number): HistoryEntry | undefined {
    if (sequence < this.first || sequence >= this.next) return undefined;
    return this.list[this.list.length - (this.next - sequence)];
  }

  /** The oldest, which is gone then. */
  shift(): HistoryEntry {
    const at = this.list.length - this.size;
    const entry = this.list[at]!;
    this.list[at] = undefined as unknown as HistoryEntry;
    this.first += 1;
    // Compacting by halves keeps this O(1) on average.
    if (at > 64 && at * 2 > this.list.length) this.list = this.list.slice(at + 1);
    return entry;
  }

  /**
   * Looks at what the oldest hold, each part some entries before it is written anew. It was last touched a thousand
   * requests ago and is far away in memory by now; to wait for one part after the other was a third of what a history
   * costs, and a processor fetches those of different entries at once, so it is done for some entries together.
   */
  lookAhead(): void {
    const { first } = this;
    if (first % SEEN_TOGETHER > 0) return;
    for (let at = first; at < first + SEEN_TOGETHER; at++) {
      const entry = this.at(at + 3 * SEEN_TOGETHER)?.glance() ?? 0;
      const states = this.at(at + 2 * SEEN_TOGETHER)?.states?.glance() ?? 0;
      const root = this.at(at + SEEN_TOGETHER)?.states?.from.glance() ?? 0;
      const written = this.at(at)?.states?.from.glanceAtWritten() ?? 0;
      this.seen = entry | states | root | written;
    }
  }

  /** Others take their place; what comes next does so at `next`. */
  replace(entries: readonly HistoryEntry[], next = this.next): void {
    this.list = [...entries];
    this.next = next;
    this.first = next - entries.length;
  }
}
