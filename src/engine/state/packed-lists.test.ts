import { expect, it } from "vitest";
import { ID_PACKING, PackedLists, RecordPacking } from "./packed-lists.ts";

interface Row {
  id: string;
  text: unknown;
}
const rowPacking = new RecordPacking<Row>("id");

function rowsFrom(first: number, text: (n: number) => unknown = (n) => `text ${n}`) {
  const values = Array.from(
    { length: 20 },
    (_, n): Row => ({ id: `row_${first + n}`, text: text(first + n) }),
  );
  return { keys: values.map(({ id }) => id), values };
}

const plain = ({ keys, values }: { keys: readonly unknown[]; values: readonly unknown[] }) => ({
  keys,
  values,
});

it("decision 2: what is packed is read as it was, whoever was read before, over the end of many blocks", () => {
  const given = Array.from({ length: 300 }, (_, n) =>
    rowsFrom(20 * n, (at) => `Ünïcödé ${at} 日本 😀\ud800`),
  );
  const packed = given.map((lists) => PackedLists.of(rowPacking, lists));
  for (const [at, lists] of packed.entries()) {
    expect(lists).toBeInstanceOf(PackedLists);
    expect(plain(lists)).toEqual(given[at]);
    expect(plain(packed[(7 * at) % 300]!)).toEqual(given[(7 * at) % 300]);
  }
});

it("decision 2: ids are read as they were", () => {
  const lists = { keys: [-3, -2, -2, -1], values: ["log_a", "log_b", "log_c", "log_d"] };
  expect(plain(PackedLists.of(ID_PACKING, lists))).toEqual(lists);
});

it("decision 2: what is read twice in a row is made once", () => {
  const one = PackedLists.of(rowPacking, rowsFrom(0));
  const other = PackedLists.of(rowPacking, rowsFrom(100));
  const first = one.values;
  expect([one.values === first, one.values[3] === first[3]]).toEqual([true, true]);
  expect(other.values[0]).toEqual({ id: "row_100", text: "text 100" });
  expect([one.values === first, one.values]).toEqual([false, first]);
});

it("decision 2: what is not plain or too long for a block stays as it is", () => {
  for (const text of [(n: number) => [n], () => undefined, (n: number) => `${n}`.repeat(8192)]) {
    const lists = rowsFrom(0, text);
    expect(PackedLists.of(rowPacking, lists)).toBe(lists);
  }
});
