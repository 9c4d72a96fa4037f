import type { WrittenRecord } from "../state/transaction.ts";
import { PACKED, PackedWrites } from "./packed-writes.ts";

/** What so many rows wrote is packed together. */
const ROWS_IN_LOT = 128;

/**
 * What rows wrote, packed lot by lot. Rows are numbered as they come. The first ones stay as they are, since most
 * sandboxes have no others.
 */
export class PackedLots {
  /** A ring: of the oldest lot and of the newest, not all rows may be there. */
  private lots: (PackedWrites | undefined)[] = [];

  /** @param capacity rows that there may be at once; from `first` up to `end` there are some already */
  resize(capacity: number, first: number, end: number): void {
    const kept = lotsIn(first, end).map(({ from }) => ({ from, lot: this.lotOf(from) }));
    this.lots = new Array(Math.ceil(capacity / ROWS_IN_LOT) + 1).fill(undefined);
    for (const { from, lot } of kept) this.lots[this.placeOf(from)] = lot;
  }

  clear(): void {
    this.lots.fill(undefined);
  }

  /** Puts what the next row wrote into `all` as flat writes, from there on, without what is packed; returns where they end. */
  put(row: number, written: readonly WrittenRecord[], all: unknown[], from: number): number {
    const lot = row < ROWS_IN_LOT ? undefined : this.openLot(row);
    let at = from;
    for (const write of written) {
      const isPacked = lot?.takes(write) === true;
      const isNew = write.before === undefined;
      all[at++] = write.collection;
      all[at++] = isPacked && isNew ? PACKED : write.id;
      all[at++] = isPacked && !isNew ? PACKED : write.before;
      all[at++] = write.after !== undefined;
    }
    if (row % ROWS_IN_LOT === ROWS_IN_LOT - 1) lot?.close();
    return at;
  }

  /** Puts what is packed back into `all`. @param placesOf where in it the writes of these rows begin, oldest first */
  unpack(
    first: number,
    end: number,
    { all, placesOf }: { all: unknown[]; placesOf: (from: number, to: number) => readonly number[] },
  ): void {
    for (const { from, to } of lotsIn(first, end)) this.lotOf(from)?.unpack(all, placesOf(from, to));
  }

  private openLot(row: number): PackedWrites {
    const lot = this.lotOf(row) ?? new PackedWrites();
    this.lots[this.placeOf(row)] = lot;
    if (row % ROWS_IN_LOT === 0) lot.begin();
    return lot;
  }

  private lotOf(row: number): PackedWrites | undefined {
    return this.lots[this.placeOf(row)];
  }

  private placeOf(row: number): number {
    return Math.floor(row / ROWS_IN_LOT) % this.lots.length;
  }
}

/** The rows of each lot, of those from `first` up to `end`. */
function lotsIn(first: number, end: number): { from: number; to: number }[] {
  const lots = [];
  for (let from = first; from < end; ) {
    const to = Math.min(end, from + ROWS_IN_LOT - (from % ROWS_IN_LOT));
    lots.push({ from, to });
    from = to;
  }
  return lots;
}
