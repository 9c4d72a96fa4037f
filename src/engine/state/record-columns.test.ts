import fc from "fast-check";
import { expect, it } from "vitest";
import { RecordColumns, recordAt, type WrittenColumns } from "./record-columns.ts";

const columnsOf = (records: readonly { id: string }[]) => {
  const columns = RecordColumns.like(records[0]!, "id")!;
  return { columns, taken: records.map((record) => columns.add(record)) };
};
/** Those that were taken, after they were text. */
const throughText = (records: readonly { id: string }[]) => {
  const { columns, taken } = columnsOf(records);
  const written = JSON.parse(JSON.stringify(columns.written())) as WrittenColumns;
  const ids = records.flatMap(({ id }, at) => (taken[at] ? [id] : []));
  expect(written.count).toBe(ids.length);
  return ids.map((id, at) => recordAt(written, at, { id }));
};

const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<unknown>("a", "b", "c", "d", "e", "", null, true, false, 0, 1) },
  fc.string({ unit: "binary" }),
  fc.integer(),
);
const record = fc.record({ id: fc.string(), first: value, second: value, third: fc.constant("same") });

it("decision 2: records are the same after they were columns, with their fields in their order", () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 40, size: "max" }), (records) => {
      const made = throughText(records);
      expect(made).toEqual(records);
      expect(made.map((one) => Object.keys(one))).toEqual(records.map((one) => Object.keys(one)));
    }),
  );
});

it("decision 2: a value that many records share is written once, ids are not", () => {
  const records = Array.from({ length: 30 }, (_, n) => ({
    id: `id_${n}`,
    parent: `the parent ${n % 4}`,
    kind: "note",
  }));
  const text = JSON.stringify(columnsOf(records).columns.written());
  for (const once of ["the parent 1", "the parent 3", "note", "kind", "id_"])
    expect([once, text.split(once).length - 1]).toEqual([once, 1]);
  expect(throughText(records)).toEqual(records);
  const five = records.map(({ id }, n) => ({ id, parent: n % 5 }));
  expect(throughText(five)).toEqual(five);
});

it.each<[string, object]>([
  ["a list", { a: 9, b: [] }],
  ["nothing", { a: 9, b: undefined }],
  ["no number", { a: 9, b: Number.NaN }],
  ["no end", { a: 9, b: Number.POSITIVE_INFINITY }],
  ["another field", { a: 9, c: 1 }],
  ["a field more", { a: 9, b: 2, c: 3 }],
  ["a field less", { a: 9 }],
  ["another order", { b: 2, a: 9 }],
])("decision 2: a record with %s is not taken, and leaves no trace", (_, fields) => {
  const fitting = Array.from({ length: 12 }, (_, n) => ({ id: `id_${n}`, a: n % 3, b: n }));
  const all = fitting.flatMap((one) => [one, { id: "id_other", ...fields }]);
  expect(columnsOf(all).taken).toEqual(all.map((_, at) => at % 2 === 0));
  expect(throughText(all)).toEqual(fitting);
});

it("decision 2: there are no columns of records that are not flat", () => {
  expect(
    [
      { id: "a", b: [] },
      { id: "a", b: undefined },
    ].map((one) => RecordColumns.like(one, "id")),
  ).toEqual([undefined, undefined]);
});
