import Type from "typebox";
import { expect, it } from "vitest";
import { collection } from "../state/collection.ts";
import { PackedWrites } from "./packed-writes.ts";

const collectionOf = (name: string) =>
  collection<{ id: string; text: unknown }>({ name, prefix: "", idField: "id", schema: Type.Object({}) });
const [notes, tasks] = [collectionOf("notes"), collectionOf("tasks")];

/** Writes to one of two collections, of which every other one is of a new record. */
function writesOf(count: number, text: (n: number) => unknown) {
  return Array.from({ length: count }, (_, n) => {
    const id = `id_${n}`;
    const before = n % 2 ? { id, text: text(n) } : undefined;
    return { collection: n % 3 ? notes : tasks, id, before, after: {} };
  });
}

it.each([1, 7, 1000])(
  "interfaces 10 what was written is the same after it was packed, in pieces of %d",
  (size) => {
    const packed = new PackedWrites();
    for (const [count, text] of [
      [6, (n: number) => `text ${n}`],
      [300, (n: number) => `Ünïcödé ${n} 日本 😀\ud800\n`],
      [90, (n: number) => (n % 4 === 1 ? ["no text"] : n)],
      [1, () => "alone"],
      [2, (n: number) => n],
      [0, (n: number) => n],
    ] as const) {
      const given = writesOf(count, text);
      packed.begin();
      for (const [n, write] of given.entries()) {
        packed.add(write);
        if (n % size === size - 1) packed.endPiece();
      }
      packed.endPiece();
      const reader = packed.read();
      for (const [n, { collection, id, before }] of given.entries()) {
        if (n % size === 0) reader.beginPiece();
        if (before === undefined) expect(reader.nextId()).toBe(id);
        else expect(reader.nextBefore(collection)).toEqual(before);
      }
    }
  },
);
