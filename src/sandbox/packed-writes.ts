import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import { RecordColumns, recordAt, type WrittenColumns } from "../state/record-columns.ts";
import type { WrittenRecord } from "../state/transaction.ts";

/** Stands where what is packed stood. */
export const PACKED = Symbol("packed");

/** Buffers come in steps, so that the next lot fits where the last one was. */
const STEP_BYTES = 1024;

/**
 * What makes flat writes heavy: ids of new records, and what others were before. As objects they would live just long
 * enough for every collection to copy them, and then fill the old generation; so they are taken field by field, and
 * written as bytes outside V8's heap when there are enough of them.
 */
export class PackedWrites {
  private added: string[] = [];
  private before = new Map<string, RecordColumns>();
  private bytes = Buffer.alloc(0);
  private length = 0;

  /** Nothing is packed then. */
  begin(): void {
    this.added = [];
    this.before = new Map();
    this.length = 0;
  }

  /** @returns whether it holds the id of a new record, or what another was before: who notes the write puts `PACKED` there */
  takes({ collection, id, before }: WrittenRecord): boolean {
    if (before !== undefined) return this.columnsFor(collection, before)?.add(before) === true;
    this.added.push(id);
    return true;
  }

  /** There are enough of them. */
  close(): void {
    const before: Record<string, WrittenColumns> = {};
    for (const [name, columns] of this.before) before[name] = columns.written();
    const text = [JSON.stringify(before), ...this.added].join("\n");
    this.begin();
    this.length = Buffer.byteLength(text);
    if (this.length > this.bytes.length)
      this.bytes = Buffer.allocUnsafeSlow(STEP_BYTES * Math.ceil(this.length / STEP_BYTES));
    this.bytes.write(text, this.length === text.length ? "latin1" : "utf8");
  }

  /** @param places where the newest of them begin, oldest first: older ones may have gone */
  unpack(all: unknown[], places: readonly number[]): void {
    const { added, before } = this.content();
    const left = new Map([...before].map(([name, { count }]) => [name, count]));
    for (const at of places.toReversed()) {
      const { name, idField } = all[at] as AnyCollection;
      if (all[at + 1] === PACKED) all[at + 1] = added.pop();
      else if (all[at + 2] === PACKED) {
        const place = left.get(name)! - 1;
        left.set(name, place);
        all[at + 2] = recordAt(before.get(name)!, place, [idField, all[at + 1] as string]);
      }
    }
  }

  private columnsFor({ name, idField }: AnyCollection, record: StoredRecord): RecordColumns | undefined {
    const { before } = this;
    let columns = before.get(name);
    if (columns === undefined) {
      columns = RecordColumns.like(record, idField);
      if (columns !== undefined) before.set(name, columns);
    }
    return columns;
  }

  private content(): { added: string[]; before: ReadonlyMap<string, WrittenColumns> } {
    if (this.length === 0) {
      const before = new Map([...this.before].map(([name, columns]) => [name, columns.written()]));
      return { added: [...this.added], before };
    }
    const [before, ...added] = this.bytes.toString("utf8", 0, this.length).split("\n");
    return { added, before: new Map(Object.entries(JSON.parse(before!) as Record<string, WrittenColumns>)) };
  }
}
