import Type from "typebox";
import { expect, it } from "vitest";
import { collection } from "../state/collection.ts";
import { PACKED, PackedWrites } from "./packed-writes.ts";

const collectionOf = (name: string) =>
  collection<{ id: string; text: unknown }>({ name, prefix: "", idField: "id", schema: Type.Object({}) });
const [notes, tasks] = [collectionOf("notes"), collectionOf("tasks")];

/** Writes as they came, and as flat ones of which the packed parts are gone. */
function packed(lot: PackedWrites, count: number, text: (n: number) => unknown) {
  const given: unknown[] = [];
  const all: unknown[] = [];
  for (let n = 0; n < count; n++) {
    const id = `id_${n}`;
    const write = {
      collection: n % 3 ? notes : tasks,
      id,
      before: n % 2 ? { id, text: text(n) } : undefined,
      after: {},
    };
    const isPacked = lot.takes(write);
    given.push(write.collection, id, write.before, true);
    const isNew = write.before === undefined;
    all.push(
      write.collection,
      isPacked && isNew ? PACKED : id,
      isPacked && !isNew ? PACKED : write.before,
      true,
    );
  }
  return { given, all, places: Array.from({ length: count }, (_, n) => 4 * n) };
}

it("interfaces 10 what was written is the same after it was packed, in lots of any length one after the other", () => {
  const lot = new PackedWrites();
  for (const [count, text] of [
    [6, (n: number) => `text ${n}`],
    [300, (n: number) => `Ünïcödé ${n} 日本 😀\ud800\n`],
    [90, (n: number) => (n % 4 === 1 ? ["no text"] : n)],
    [1, () => "alone"],
    [2, (n: number) => n],
  ] as const)
    for (const isClosed of [false, true]) {
      lot.begin();
      const { given, all, places } = packed(lot, count, text);
      expect(all.includes(PACKED)).toBe(true);
      if (isClosed) {
        lot.close();
        expect(lot).toMatchObject({ added: [], before: new Map() });
      }
      const newest = [...all];
      lot.unpack(newest, places.slice(count >> 1));
      const from = 4 * (count >> 1);
      expect(newest).toEqual([...all.slice(0, from), ...given.slice(from)]);
      lot.unpack(all, places);
      expect(all).toEqual(given);
    }
});
