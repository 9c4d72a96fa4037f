import type { HistoryEntry } from "./history-entry.ts";

/** Entries by their positions, which have no gaps; the oldest go first. */
export class EntryList {
  /** The position of the oldest. */
  first = 1;
  /** The position of the one that comes next. */
  next = 1;
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

  /** The next position is that of one that has come and gone; there are none now. */
  skip(): void {
    this.first += 1;
    this.next += 1;
  }

  /** Others take their place; what comes next does so at `next`. */
  replace(entries: readonly HistoryEntry[], next = this.next): void {
    this.list = [...entries];
    this.next = next;
    this.first = next - entries.length;
  }
}
