import { RootLine } from "../state/kept-root.ts";
import { EntryList } from "./entry-list.ts";
import { HistoryEntry } from "./history-entry.ts";
import { type HistoryRows, ROW_COST, type Row } from "./history-rows.ts";
import { HistoryTail } from "./history-tail.ts";
import type { RequestChange, RequestMoment } from "./row-lot.ts";

/** Of all kept states of a sandbox, as the recorder estimates them. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/**
 * The entries of a history by their positions: so many at most, whose older ones let go of the states that they hold
 * before they go themselves. What has come since somebody looked are rows, of which entries are made for whoever looks.
 */
export class HistoryList {
  /** The roots that are kept. */
  readonly roots = new RootLine();
  limit: number;
  private readonly entryOf: (row: Row, position: number) => HistoryEntry;
  private readonly settled = new EntryList();
  /** What comes after those. */
  private readonly tail = new HistoryTail(this.roots);
  private lost = 0;
  private bytes = 0;
  /** The oldest entry whose states may be kept. */
  private oldestKept = 1;

  constructor(limit: number, entryOf: (row: Row, position: number) => HistoryEntry) {
    this.limit = limit;
    this.entryOf = entryOf;
  }

  /** Adds an entry, of the position after `last`; rows have ended before. */
  push(entry: HistoryEntry): void {
    this.place(entry);
    this.bytes += entry.states!.cost;
    this.keepWithin();
  }

  /** Adds a request that goes on from the newest row, or begins with what the rows do. */
  addRow(change: RequestChange, moment: RequestMoment, journal: number): void {
    this.rows.add(change, moment, journal);
    this.bytes += ROW_COST;
    if (this.rows.endsLot) this.keepWithin();
  }

  /** Requests whose rows come now; the next one may go on from the newest. */
  get rows(): HistoryRows {
    return this.tail.rows;
  }

  /** The next row begins anew: something else comes before it. */
  endRows(): void {
    for (const row of this.tail.endRows()) this.place(this.entryOf(row, this.last + 1));
  }

  private place(entry: HistoryEntry): void {
    if (this.tail.size === 0) this.settled.push(entry);
    else this.tail.push(entry);
  }

  /** Makes entries of all rows. */
  settle(): void {
    this.dropExcess();
    for (const each of this.tail.take())
      this.settled.push(each instanceof HistoryEntry ? each : this.entryOf(each, this.settled.next));
  }

  /** How many there are. */
  get size(): number {
    return this.settled.size + this.tail.size - this.excess;
  }

  /** The position of the newest, 0 before the first. */
  get last(): number {
    return this.settled.next - 1 + this.tail.size;
  }

  /** How many the bound has cost. */
  get dropped(): number {
    return this.lost + this.excess;
  }

  /** How many are beyond the bound: rows come one by one, and the oldest go many at a time. */
  private get excess(): number {
    return Math.max(0, this.settled.size + this.tail.size - this.limit);
  }

  /** Where there is a row, all rows become entries. */
  at(position: number): HistoryEntry | undefined {
    if (position >= this.settled.next) {
      const found = this.tail.entryAt(position);
      if (found !== undefined) return found;
      this.settle();
    }
    return this.settled.at(position);
  }

  /** Oldest first. */
  all(): readonly HistoryEntry[] {
    this.settle();
    return this.settled.all();
  }

  /** Those after a position, oldest first. */
  since(position: number): readonly HistoryEntry[] {
    this.settle();
    return this.settled.newest(this.last - position);
  }

  /** The newest up to a position of which `holds` is true; nothing that is still a row is asked. */
  findLast(position: number, holds: (entry: HistoryEntry) => boolean): HistoryEntry | undefined {
    for (let at = position; at >= this.settled.first; at--) {
      const entry = this.settled.at(at);
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
    if (this.bytes > bytes) this.settle();
    while (this.bytes > bytes && this.oldestKept < this.settled.next) {
      const entry = this.settled.at(this.oldestKept++)!;
      this.bytes -= entry.states?.cost ?? 0;
      entry.letGo();
    }
  }

  /** Others take their place, without states; what comes next does so behind `last`. @param dropped before them */
  replace(entries: readonly HistoryEntry[], { last, dropped }: { last: number; dropped: number }): void {
    this.tail.clear();
    this.settled.replace(entries, last + 1);
    this.oldestKept = last + 1;
    this.lost = dropped;
    this.bytes = 0;
    this.keepWithin();
  }

  private keepWithin(): void {
    this.dropExcess();
    this.letGoOf(MAX_KEPT_BYTES);
  }

  private dropExcess(): void {
    for (let left = this.excess; left > 0; left--) this.drop();
  }

  private drop(): void {
    if (this.settled.size > 0) this.bytes -= this.settled.shift().states?.cost ?? 0;
    else {
      this.bytes -= this.tail.shift();
      this.settled.skip();
    }
    this.lost += 1;
    this.oldestKept = Math.max(this.oldestKept, this.settled.first);
  }
}
