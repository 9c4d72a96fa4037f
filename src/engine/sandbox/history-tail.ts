import type { RootLine } from "../state/kept-root.ts";
import { HistoryEntry } from "./history-entry.ts";
import { HistoryRows, ROW_COST, type Row } from "./history-rows.ts";

/** Of fewer rows, entries take no more room. */
const FEW_ROWS = 4;

/**
 * What has come since somebody looked at a history: rows, and the entries that came between them. To make entries of a
 * thousand rows holds up all requests for some 50 ms, so nobody does it who only has something to add.
 */
export class HistoryTail {
  /** The rows that come now. */
  rows: HistoryRows;
  private readonly line: RootLine;
  /** Rows that have ended, and what came after them, oldest first. */
  private ended: (HistoryRows | HistoryEntry)[] = [];
  /** Rows and entries in there. */
  private sizeOfEnded = 0;

  constructor(line: RootLine) {
    this.line = line;
    this.rows = new HistoryRows(line);
  }

  get size(): number {
    return this.sizeOfEnded + this.rows.size;
  }

  /** @param entry comes after the rows, which have ended */
  push(entry: HistoryEntry): void {
    this.ended.push(entry);
    this.sizeOfEnded += 1;
  }

  /** An entry that came between rows. */
  entryAt(sequence: number): HistoryEntry | undefined {
    const isIt = (each: object): each is HistoryEntry =>
      each instanceof HistoryEntry && each.sequence === sequence;
    return this.ended.findLast(isIt);
  }

  /** What comes next goes on from the newest row by itself. @returns rows that are to become entries at once */
  endRows(): readonly Row[] {
    const { rows } = this;
    if (rows.size === 0) return [];
    if (rows.size < FEW_ROWS) return rows.take();
    rows.end();
    this.ended.push(rows);
    this.sizeOfEnded += rows.size;
    this.rows = new HistoryRows(this.line);
    return [];
  }

  /** All of it, oldest first; it is empty then. */
  take(): (Row | HistoryEntry)[] {
    const all = [...this.ended, this.rows];
    this.ended = [];
    this.sizeOfEnded = 0;
    return all.flatMap((each): (Row | HistoryEntry)[] => {
      if (each instanceof HistoryEntry) return [each];
      return each.size === 0 ? [] : each.take();
    });
  }

  /** The oldest goes. @returns bytes that it cost */
  shift(): number {
    const [oldest] = this.ended;
    if (oldest === undefined) this.rows.shift();
    else {
      this.sizeOfEnded -= 1;
      if (oldest instanceof HistoryEntry) {
        this.ended.shift();
        return oldest.states!.cost;
      }
      oldest.shift();
      if (oldest.size === 0) this.ended.shift();
    }
    return ROW_COST;
  }

  clear(): void {
    this.rows.clear();
    this.ended = [];
    this.sizeOfEnded = 0;
  }
}
