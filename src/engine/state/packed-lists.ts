import { RecordColumns, recordAt, type WrittenColumns } from "./record-columns.ts";
import type { Lists } from "./tree-nodes.ts";

/** How runs of a tree are written as text. */
export interface Packing<K, V> {
  /** undefined: what `listsOf` would make of it is not the same. */
  textOf(lists: Lists<K, V>): string | undefined;
  listsOf(text: string): Lists<K, V>;
}

const BLOCK_BYTES = 64 * 1024;
/** A longer text is one object to a collector as it is, and would leave the rest of a block empty. */
const MAX_TEXT_BYTES = BLOCK_BYTES / 8;

/** Bytes outside V8's heap that the runs of all worlds share; it goes when the last of them does. */
interface Block {
  readonly bytes: Buffer;
  used: number;
}

let latestBlock: Block | undefined;

/** What was read last, since whoever reads one entry of a run reads the next ones too. */
let latestRead:
  | { readonly of: PackedLists<unknown, unknown>; readonly lists: Lists<unknown, unknown> }
  | undefined;

/**
 * Lists as bytes, read anew whenever somebody asks: what they held costs a collector nothing. A collection of V8's
 * young generation walks all pages of the old one, while every request waits, and those are mostly logs.
 */
export class PackedLists<K, V> implements Lists<K, V> {
  private readonly packing: Packing<K, V>;
  private readonly bytes: Buffer;
  private readonly from: number;
  private readonly to: number;

  private constructor(packing: Packing<K, V>, { bytes }: Block, from: number, to: number) {
    this.packing = packing;
    this.bytes = bytes;
    this.from = from;
    this.to = to;
  }

  /** The same lists where they cannot be packed. */
  static of<K, V>(packing: Packing<K, V>, lists: Lists<K, V>): Lists<K, V> {
    const text = packing.textOf(lists);
    if (text === undefined) return lists;
    const length = Buffer.byteLength(text);
    if (length > MAX_TEXT_BYTES) return lists;
    const block = blockFor(length);
    const from = block.used;
    block.used += block.bytes.write(text, from, length === text.length ? "latin1" : "utf8");
    return new PackedLists(packing, block, from, block.used);
  }

  get keys(): readonly K[] {
    return this.read().keys;
  }

  get values(): readonly V[] {
    return this.read().values;
  }

  private read(): Lists<K, V> {
    if (latestRead?.of !== (this as unknown)) {
      const lists = this.packing.listsOf(this.bytes.toString("utf8", this.from, this.to));
      latestRead = { of: this as PackedLists<unknown, unknown>, lists };
    }
    return latestRead!.lists as Lists<K, V>;
  }
}

function blockFor(length: number): Block {
  if (latestBlock === undefined || latestBlock.bytes.length - latestBlock.used < length)
    latestBlock = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), used: 0 };
  return latestBlock;
}

/** Of the lists of ids that indexes hold. Ids are lines, for which JSON would take three times as long. */
export const ID_PACKING: Packing<number | string, string> = {
  textOf: ({ keys, values }) => `${JSON.stringify(keys)}\n${values.join("\n")}`,
  listsOf: (text) => {
    const [keys, ...values] = text.split("\n");
    return { keys: JSON.parse(keys!) as (number | string)[], values };
  },
};

/** Of records under their ids. */
export class RecordPacking<R extends object> implements Packing<string, R> {
  private readonly idField: string;

  constructor(idField: string) {
    this.idField = idField;
  }

  textOf({ keys, values }: Lists<string, R>): string | undefined {
    const columns = RecordColumns.like(values[0]!, this.idField);
    if (columns === undefined) return undefined;
    for (const record of values) if (!columns.add(record)) return undefined;
    return `${JSON.stringify(columns.written())}\n${keys.join("\n")}`;
  }

  listsOf(text: string): Lists<string, R> {
    const [json, ...keys] = text.split("\n");
    const columns = JSON.parse(json!) as WrittenColumns;
    return { keys, values: keys.map((id, at) => recordAt(columns, at, { [this.idField]: id }) as R) };
  }
}
