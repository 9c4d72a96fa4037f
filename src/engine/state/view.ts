import type { SortedTree } from "./sorted-tree.ts";

export type Order = number | string;
/** The ids of one group of an index, by (order, id). */
export type IdTree = SortedTree<Order, string>;
type RecordTree<R> = SortedTree<string, R>;

/** Lists up to this length are read at once when iterated; a generator would cost more than it saves. */
const READ_AT_ONCE = 64;

/** An ordered list that reads only the records it is asked for. */
export class View<R> {
  readonly size: number;
  /** Records, or ids of records in `records`. */
  private readonly source: IdTree | RecordTree<R> | readonly R[];
  private readonly records: RecordTree<R> | undefined;
  private readonly start: number;

  private constructor(
    source: View<R>["source"],
    records: RecordTree<R> | undefined,
    start: number,
    size: number,
  ) {
    this.source = source;
    this.records = records;
    this.start = start;
    this.size = Math.max(0, size);
  }

  static ofRecords<R>(records: RecordTree<R>): View<R> {
    return new View<R>(records, undefined, 0, records.size);
  }

  static ofIds<R>(ids: IdTree, records: RecordTree<R>): View<R> {
    return new View<R>(ids, records, 0, ids.size);
  }

  static ofList<R>(records: readonly R[]): View<R> {
    return new View<R>(records, undefined, 0, records.length);
  }

  /** Records whose order is in [from, to], both included. */
  between(from: Order, to: Order): View<R> {
    if (this.records === undefined) throw new Error("this list has no order to narrow by");
    const ids = this.source as IdTree;
    const start = Math.max(this.start, ids.rank(from, ""));
    const end = Math.min(this.start + this.size, ids.rank(to, "\uffff"));
    return new View<R>(ids, this.records, start, end - start);
  }

  /** Records within a span of instants, both ends included, of a list that is ordered by the negated instant: newest first. */
  inSpan({ from, to }: { from: number; to: number }): View<R> {
    return this.between(-to, -from);
  }

  first(): R | undefined {
    return this.page(0, 1)[0];
  }

  last(): R | undefined {
    return this.page(this.size - 1, 1)[0];
  }

  page(offset: number, limit: number): R[] {
    const from = this.start + Math.max(0, offset);
    const to = Math.min(this.start + this.size, from + limit);
    const items = this.source.slice(from, to) as R[];
    const { records } = this;
    if (records !== undefined)
      for (let i = 0; i < items.length; i++) items[i] = records.get(items[i] as string)!;
    return items;
  }

  [Symbol.iterator](): IterableIterator<R> {
    return this.size <= READ_AT_ONCE ? this.page(0, this.size).values() : this.readInParts();
  }

  private *readInParts(): IterableIterator<R> {
    for (let offset = 0; offset < this.size; offset += READ_AT_ONCE) yield* this.page(offset, READ_AT_ONCE);
  }
}
