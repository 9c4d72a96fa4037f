import type { Root } from "../../state/root.ts";
import type { Table } from "../../state/table.ts";
import { type FileText, type Findings, fileTexts } from "./schema.ts";

/** What a passage costs beside its characters. */
const PASSAGE_OVERHEAD_BYTES = 64;

/** What is kept in memory of a file's text, roughly. */
export function bytesOfText({ passages }: Findings): number {
  let bytes = passages.length * PASSAGE_OVERHEAD_BYTES;
  for (const passage of passages) bytes += passage.length;
  return bytes;
}

/** By whose world it is: the table that was counted last, and its sum. */
const counted = new WeakMap<object, { table: Table<FileText>; bytes: number }>();

/** Of all files of a world (interfaces 7); costs what has changed since it was asked last. */
export function heldTextBytes(owner: object, { tables }: Root): number {
  const table = tables.get(fileTexts.name) as Table<FileText> | undefined;
  if (table === undefined) return 0;
  const known = counted.get(owner);
  let bytes = 0;
  if (known === undefined) for (const text of table.all()) bytes += bytesOfText(text);
  else {
    bytes = known.bytes;
    for (const { before, after } of known.table.changesTo(table)) {
      if (before !== undefined) bytes -= bytesOfText(before);
      if (after !== undefined) bytes += bytesOfText(after);
    }
  }
  counted.set(owner, { table, bytes });
  return bytes;
}
