import { RootLine } from "../state/kept-root.ts";
import { EntryList } from "./entry-list.ts";
import type { HistoryEntry } from "./history-entry.ts";

/** Of all kept states of a sandbox, as the recorder estimates them. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/**
 * The entries of a history by their positions: a bounded list, whose older entries release the states that they hold
 * before they are dropped themselves.
 */
export class HistoryList {
  /** The roots that are kept. */
  readonly roots = new RootLine();
  limit: number;
  private readonly list = new EntryList();
  private lost = 0;
  private bytes = 0;
  /** The oldest entry whose states may be kept. */
  private oldestKept = 1;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Adds an entry, of the position after `last`. */
  push(entry: HistoryEntry): void {
    this.list.push(entry);
    this.bytes += entry.states!.cost;
    this.keepWithin();
  }

  get size(): number {
    return this.list.size;
  }

  /** The position of the newest, 0 before the first. */
  get last(): number {
    return this.list.next - 1;
  }

  /** How many the bound has cost. */
  get dropped(): number {
    return this.lost;
  }

  at(position: number): HistoryEntry | undefined {
    return this.list.at(position);
  }

  /** Oldest first. */
  all(): readonly HistoryEntry[] {
    return this.list.all();
  }

  /** Those after a position, oldest first. */
  since(position: number): readonly HistoryEntry[] {
    return this.list.newest(this.last - position);
  }

  /** The newest up to a position of which `holds` is true. */
  findLast(position: number, holds: (entry: HistoryEntry) => boolean): HistoryEntry | undefined {
    for (let at = position; at >= this.list.first; at--) {
      const entry = this.list.at(at);
      if (entry !== undefined && holds(entry)) return entry;
    }
    return undefined;
  }

  resize(limit: number): void {
    this.limit = limit;
    this.keepWithin();
  }

  /** Lets the oldest states go until the rest hold no more than so many bytes; their entries stay. */
  letGoOf(bytes: number): void {
    while (this.bytes > bytes && this.oldestKept < this.list.next) {
      const entry = this.list.at(this.oldestKept++)!;
      this.bytes -= entry.states?.cost ?? 0;
      entry.letGo();
    }
  }

  /** Others take their place, without states; what comes next does so behind `last`. @param dropped before them */
  replace(entries: readonly HistoryEntry[], { last, dropped }: { last: number; dropped: number }): void {
    this.list.replace(entries, last + 1);
    this.oldestKept = last + 1;
    this.lost = dropped;
    this.bytes = 0;
    this.keepWithin();
  }

  private keepWithin(): void {
    while (this.list.size > this.limit) {
      this.bytes -= this.list.shift().states?.cost ?? 0;
      this.lost += 1;
    }
    this.oldestKept = Math.max(this.oldestKept, this.list.first);
    this.letGoOf(MAX_KEPT_BYTES);
  }
}
