import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { collection } from "./collection.ts";
import { Table } from "./table.ts";

interface Row {
  id: string;
  groups: string[];
  order: number;
  owner: string | null;
}

const rows = collection<Row>({
  name: "rows",
  schema: Type.Object({}),
  indexes: {
    by_group: { groups: ({ groups }) => groups, order: ({ order }) => order },
    by_owner: { groups: "owner", order: ({ id }) => id },
  },
});

const GROUPS = ["a", "b", "c"];
const id = fc.nat({ max: 6 }).map((number) => `r${number}`);
const row: fc.Arbitrary<Row> = fc.record({
  id,
  groups: fc.subarray(GROUPS),
  order: fc.integer({ min: 0, max: 2 }),
  owner: fc.constantFrom("x", "y", null),
});
const command = fc.oneof(
  fc.record({ do: fc.constant("put" as const), row }),
  fc.record({ do: fc.constant("remove" as const), id }),
);

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const compareIds = (a: Row, b: Row) => compareTexts(a.id, b.id);
const compareOrders = (a: Row, b: Row) => a.order - b.order || compareIds(a, b);

/** Compares every list of the table with the expected list of these records. */
function check(table: Table<Row>, records: readonly Row[]): void {
  expect([...table.all()]).toEqual([...records].sort(compareIds));
  expect(table.size).toBe(records.length);
  for (const one of records) expect(table.get(one.id)).toBe(one);
  for (const group of [...GROUPS, "none"]) {
    const expected = records.filter(({ groups }) => groups.includes(group)).sort(compareOrders);
    const list = table.index("by_group", group);
    expect([...list]).toEqual(expected);
    expect(list.size).toBe(expected.length);
    expect(list.first()).toBe(expected[0]);
    expect(list.page(1, 2)).toEqual(expected.slice(1, 3));
    expect([...list.between(1, 2)]).toEqual(expected.filter(({ order }) => order === 1 || order === 2));
  }
  for (const owner of ["x", "y", "null"]) {
    const expected = records.filter((one) => one.owner === owner).sort(compareIds);
    expect([...table.index("by_owner", owner)]).toEqual(expected);
  }
}

describe("a table [decision 2]", () => {
  it("lists the same records as a plain list after any changes [decision 2]", () => {
    const first = fc.uniqueArray(row, { selector: (one) => one.id, maxLength: 15 });
    fc.assert(
      fc.property(first, fc.array(command, { maxLength: 30, size: "max" }), (given, commands) => {
        let table = new Table(rows, () => given);
        const model = new Map(given.map((one) => [one.id, one]));
        check(table, given);
        for (const step of commands) {
          if (step.do === "put") {
            table = table.put(step.row);
            model.set(step.row.id, step.row);
          } else {
            table = table.remove(step.id);
            model.delete(step.id);
          }
          check(table, [...model.values()]);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("gives the same lists by putAll and by single puts, in all groups and orders [decision 2]", () => {
    const some = fc.uniqueArray(row, { selector: (one) => one.id, maxLength: 7 });
    fc.assert(
      fc.property(some, some, (given, put) => {
        const model = new Map([...given, ...put].map((one) => [one.id, one]));
        const table = new Table(rows, () => given);
        check(table.putAll(put), [...model.values()]);
        check(table, given);
      }),
      { numRuns: 500 },
    );
  });

  it("stays the same object if nothing changes [decision 2]", () => {
    const one = { id: "r1", groups: ["a"], order: 1, owner: null };
    const table = new Table(rows, () => [one]);
    expect(table.put(one)).toBe(table);
    expect(table.remove("r2")).toBe(table);
    expect([...table.listChangesTo(table)]).toEqual([]);
    const unread = new Table(rows, () => {
      throw new Error("was read");
    });
    expect([...unread.listChangesTo(unread)]).toEqual([]);
  });

  it("refuses a repeated id, and an index that it does not have [decision 2]", () => {
    const one = { id: "r1", groups: ["a"], order: 1, owner: null };
    expect(() => new Table(rows, () => [one, { ...one }]).size).toThrow("rows holds the id r1 twice");
    expect(() => Table.empty(rows).index("by_colour", "a")).toThrow("rows has no index by_colour");
  });
});
