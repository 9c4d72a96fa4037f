import type { SortedTree } from "./sorted-tree.ts";

export type Order = number | string;
/** The ids of one group of an index, by (order, id). */
export type IdTree = SortedTree<Order, string>;

/** Lists up to this long are read at once when iterated; a generator would cost more than it saves. */
const READ_AT_ONCE = 64;

/** A list in its order, of which only what is asked for is ever touched. */
export class View<R> {
  readonly size: number;
  /** Records themselves, or where `rows` is given, their ids. */
  private readonly source: SortedTree<Order, string> | SortedTree<string, R> | readonly R[];
  private readonly rows: SortedTree<string, R> | undefined;
  private readonly start: number;

  private constructor(
    source: View<R>["source"],
    rows: SortedTree<string, R> | undefined,
    { start, size }: { start: number; size: number },
  ) {
    this.source = source;
    this.rows = rows;
    this.start = start;
    this.size = Math.max(0, size);
  }

  static ofRows<R>(rows: SortedTree<string, R>): View<R> {
    return new View<R>(rows, undefined, { start: 0, size: rows.size });
  }

  static ofIds<R>(ids: IdTree, rows: SortedTree<string, R>): View<R> {
    return new View<R>(ids, rows, { start: 0, size: ids.size });
  }

  /** A list that was put together by other means, in its order. */
  static ofList<R>(records: readonly R[]): View<R> {
    return new View<R>(records, undefined, { start: 0, size: records.length });
  }

  /** Records whose order lies in [from, to], both included. */
  between(from: Order, to: Order): View<R> {
    if (this.rows === undefined) throw new Error("this list has no order to narrow by");
    const ids = this.source as IdTree;
    const start = Math.max(this.start, ids.rank(from, ""));
    const end = Math.min(this.start + this.size, ids.rank(to, "\uffff"));
    return new View<R>(ids, this.rows, { start, size: end - start });
  }

  first(): R | undefined {
    return this.size === 0 ? undefined : this.page(0, 1)[0];
  }

  page(offset: number, limit: number): R[] {
    const from = this.start + Math.max(0, offset);
    const to = Math.min(this.start + this.size, from + limit);
    if (Array.isArray(this.source)) return this.source.slice(from, to);
    const read = (this.source as unknown as SortedTree<string, never>).slice(from, to);
    if (this.rows !== undefined)
      for (let i = 0; i < read.length; i++) read[i] = this.rows.get(read[i]!) as never;
    return read;
  }

  [Symbol.iterator](): IterableIterator<R> {
    return this.size <= READ_AT_ONCE ? this.page(0, this.size).values() : this.inParts();
  }

  private *inParts(): IterableIterator<R> {
    for (let offset = 0; offset < this.size; offset += READ_AT_ONCE) yield* this.page(offset, READ_AT_ONCE);
  }
}
