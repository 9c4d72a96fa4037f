import fc from "fast-check";
import Type from "typebox";
import { expect, it } from "vitest";
import { collection } from "./collection.ts";
import { Table } from "./table.ts";

interface Row {
  id: string;
  group: string;
  order: number;
  text: string;
}

const rows = collection<Row>({
  name: "rows",
  prefix: "",
  idField: "id",
  schema: Type.Object({}),
  indexes: { by_group: { groups: ({ group }) => [group], order: ({ order }) => order } },
});

const row = fc.record({
  id: fc.integer({ min: 0, max: 40 }).map(String),
  group: fc.constantFrom("a", "b"),
  order: fc.integer({ min: 0, max: 3 }),
  text: fc.string({ maxLength: 3 }),
});
const distinct = fc.uniqueArray(row, { selector: ({ id }) => id, maxLength: 40 });

it("decision 2: putAll equals one put after the other and leaves the table before it alone", () => {
  fc.assert(
    fc.property(distinct, distinct, (first, second) => {
      const table = Table.of(rows, () => first);
      const before = [...table.all()];
      let expected = table;
      for (const record of second) expected = expected.put(record);
      const actual = table.putAll(second);
      expect([...actual.all()]).toEqual([...expected.all()]);
      for (const group of ["a", "b"]) {
        expect([...actual.index("by_group", group)]).toEqual([...expected.index("by_group", group)]);
      }
      expect([...table.all()]).toEqual(before);
    }),
    { numRuns: 500 },
  );
});
