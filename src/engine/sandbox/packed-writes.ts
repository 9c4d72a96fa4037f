import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import { RecordColumns, recordAt, type WrittenColumns } from "../state/record-columns.ts";
import type { WrittenRecord } from "../state/transaction.ts";

/** Of one piece: by collection, in what its records differed before from the first of all. */
type PieceColumns = Record<string, WrittenColumns["differing"]>;

/** Room comes in steps, so that the next writes fit where the last ones were. */
const STEP_BYTES = 4096;

/**
 * What makes writes heavy: ids of new records, and what others were before. As objects they would live just long enough
 * for every collection to copy them, and then fill the old generation; so they are bytes outside V8's heap, piece by
 * piece: a line of JSON with records field by field, then each id as a line.
 */
export class PackedWrites {
  /** Of what is no piece yet: room for the columns, and new ids. */
  private lines: string[] = [""];
  private records: StoredRecord[] = [];
  private collections: AnyCollection[] = [];
  /** By name of their collection, what all records of it are like. */
  private columns = new Map<string, RecordColumns | undefined>();
  /** Those whose fields are not plain, by how many came before. */
  private held = new Map<number, StoredRecord>();
  /** Records that are in pieces. */
  private packed = 0;
  private bytes = Buffer.alloc(0);
  private length = 0;

  /**
   * Holds nothing from now on. The lists that it fills are made anew: one that has become old would keep what is put
   * into it, though nobody needs that any more, until the whole heap is collected.
   */
  begin(): void {
    this.beginPiece();
    this.columns = new Map();
    this.held = new Map();
    this.packed = 0;
    this.length = 0;
  }

  add({ collection, id, before }: WrittenRecord): void {
    if (before === undefined) this.lines.push(id);
    else {
      this.records.push(before);
      this.collections.push(collection);
    }
  }

  /** What was added since the last piece becomes one: for one write alone it would take as long again. */
  endPiece(): void {
    const { lines, records, collections } = this;
    for (let at = 0; at < records.length; at++) {
      const record = records[at]!;
      const isTaken = this.columnsFor(collections[at]!, record)?.add(record) === true;
      if (!isTaken) this.held.set(this.packed + at, record);
    }
    this.packed += records.length;
    const piece: PieceColumns = {};
    for (const [name, columns] of this.columns) if (columns !== undefined) piece[name] = columns.restart();
    lines[0] = JSON.stringify(piece);
    // So that the last one ends too, without a copy of all.
    lines.push("");
    this.write(lines.join("\n"));
    this.beginPiece();
  }

  /** All pieces, to be read in the order in which they were added. */
  read(): WritesReader {
    const lines = this.bytes.toString("utf8", 0, this.length).split("\n");
    return new WritesReader(lines, this.columns, this.held);
  }

  private beginPiece(): void {
    this.lines = [""];
    this.records = [];
    this.collections = [];
  }

  /** Undefined where the first record of its collection has fields that are not plain. */
  private columnsFor({ name }: AnyCollection, record: StoredRecord): RecordColumns | undefined {
    const { columns } = this;
    if (!columns.has(name)) columns.set(name, RecordColumns.like(record));
    return columns.get(name);
  }

  private write(text: string): void {
    const end = this.length + Buffer.byteLength(text);
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(STEP_BYTES * Math.ceil(end / STEP_BYTES));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    this.bytes.write(text, this.length, end - this.length === text.length ? "latin1" : "utf8");
    this.length = end;
  }
}

/** Reads packed writes from the oldest on. */
export class WritesReader {
  private readonly lines: readonly string[];
  private readonly columns: ReadonlyMap<string, RecordColumns | undefined>;
  private readonly held: ReadonlyMap<number, StoredRecord>;
  private nextLine = 0;
  private nextRecord = 0;
  private piece: PieceColumns = {};
  /** By collection, how many records of this piece have been read. */
  private readonly counts = new Map<string, number>();

  constructor(
    lines: readonly string[],
    columns: ReadonlyMap<string, RecordColumns | undefined>,
    held: ReadonlyMap<number, StoredRecord>,
  ) {
    this.lines = lines;
    this.columns = columns;
    this.held = held;
  }

  beginPiece(): void {
    this.piece = JSON.parse(this.nextId()) as PieceColumns;
    this.counts.clear();
  }

  /** Of the next new record. */
  nextId(): string {
    return this.lines[this.nextLine++]!;
  }

  /** The next record that was there before, as it was. */
  nextBefore({ name }: AnyCollection): StoredRecord {
    const held = this.held.get(this.nextRecord++);
    if (held !== undefined) return held;
    const place = this.counts.get(name) ?? 0;
    this.counts.set(name, place + 1);
    const { first } = this.columns.get(name)!;
    return recordAt({ first, differing: this.piece[name]! }, place) as StoredRecord;
  }
}
