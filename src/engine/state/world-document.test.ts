import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { makeClock } from "./clock.ts";
import { collection } from "./collection.ts";
import { Table } from "./table.ts";
import { type Root, Tables } from "./tables.ts";
import { timers } from "./timers.ts";
import { Transaction } from "./transaction.ts";
import { decodeWorld, encodeWorld, type WorldDocument } from "./world-document.ts";
import type { WorldValue } from "./world-parts.ts";

interface Note {
  id: string;
  text: string;
}
const spec = { prefix: "note_", schema: Type.Object({}) };
const notes = collection<Note>({
  ...spec,
  name: "notes",
  indexes: { by_word: { groups: ({ text }) => text.split(" "), order: ({ id }) => id } },
});
const drafts = collection<Note>({ ...spec, name: "drafts" });
const COLLECTIONS = [notes, drafts];
const ORIGIN = Date.parse("2026-03-15T12:00:00.000Z");

const first = { id: "note_1", text: "one" };
const second = { id: "note_2", text: "two" };
const BASE: Root = {
  tables: Tables.of([
    new Table(notes, () => [first, second]),
    Table.empty(drafts) as Table<Note>,
    Table.empty(timers),
  ]),
  draws: 3,
};

function makeWorldAfter(change: (tx: Transaction) => void): WorldValue {
  const tx = new Transaction(BASE, { origin: ORIGIN, now: 5, seed: 1, secretKey: "s" });
  change(tx);
  return {
    root: tx.toRoot(),
    clock: makeClock("frozen", ORIGIN + 5, ORIGIN + 5),
    origin: ORIGIN,
    requests: 7,
    seed: 1,
    secretKey: "s",
  };
}

const changed = makeWorldAfter((tx) => {
  tx.remove(notes, "note_1");
  tx.put(notes, { id: "note_3", text: "three" });
  tx.schedule({ kind: "expiry", subject: "note_3", due: 60_000 });
});

const listRecords = ({ root }: WorldValue) =>
  Object.fromEntries([...root.tables].map(([name, table]) => [name, [...table.all()]]));

const encodeWhole = (): WorldDocument => structuredClone(encodeWorld(changed));

describe("a world as a document [interfaces 4]", () => {
  it("contains the whole world, and decodes to the same value [interfaces 4]", () => {
    const document = encodeWorld(changed);
    expect(document).toEqual({
      ...{ seed: 1, secret_key: "s", origin: ORIGIN, requests: 7, draws: 3 },
      clock: { mode: "frozen", now: ORIGIN + 5, rate: 0 },
      tables: {
        notes: { records: [second, { id: "note_3", text: "three" }] },
        drafts: { records: [] },
        _timers: { records: [expect.objectContaining({ subject: "note_3", due: 60_000 })] },
      },
    });
    const read = decodeWorld(JSON.parse(JSON.stringify(document)), COLLECTIONS);
    expect(listRecords(read)).toEqual(listRecords(changed));
    expect(encodeWorld(read)).toEqual(document);
    expect([...read.root.tables.get("notes")!.index("by_word", "three")]).toHaveLength(1);
  });

  it("contains only the difference to a base, and decodes with that base [interfaces 2]", () => {
    const document = encodeWorld(changed, BASE);
    expect(document.tables).toEqual({
      notes: { put: [{ id: "note_3", text: "three" }], removed: ["note_1"] },
      _timers: { put: [expect.objectContaining({ subject: "note_3" })], removed: [] },
    });
    const read = decodeWorld(JSON.parse(JSON.stringify(document)), COLLECTIONS, BASE);
    expect(listRecords(read)).toEqual(listRecords(changed));
    expect(read.root.tables.get("drafts")).toBe(BASE.tables.get("drafts"));
  });

  it.each<[string, (document: WorldDocument) => void, string, string]>([
    [
      "an unknown collection",
      ({ tables }) => Object.assign(tables, { cats: { records: [] } }),
      "tables.cats",
      "is not a collection of this server",
    ],
    [
      "a difference without its base",
      ({ tables }) => Object.assign(tables, { notes: { put: [], removed: [] } }),
      "tables.notes",
      "contains only changes to records that are missing",
    ],
    ...[null, [], "note"].map(
      (record) =>
        [
          `a record that is ${JSON.stringify(record)}`,
          ({ tables }: WorldDocument) => Object.assign(tables, { notes: { records: [record] } }),
          "tables.notes.records[0]",
          "must be a record",
        ] as [string, (document: WorldDocument) => void, string, string],
    ),
    [
      "a record without an id",
      ({ tables }) => Object.assign(tables, { notes: { records: [{ id: "", text: "x" }] } }),
      "tables.notes.records[0].id",
      "must be the id of the record",
    ],
    [
      "a record without the field of an index",
      ({ tables }) => Object.assign(tables, { notes: { records: [{ id: "note_9" }] } }),
      "tables.notes",
      "cannot be built",
    ],
    [
      "two records of one id",
      ({ tables }) => Object.assign(tables, { notes: { records: [first, first] } }),
      "tables.notes",
      "holds the id note_1 twice",
    ],
    [
      "a timer of an unknown kind",
      ({ tables }) =>
        Object.assign(tables, { _timers: { records: [{ id: "t", kind: "nap", subject: "x", due: 1 }] } }),
      "tables._timers",
      "t is not a timer that this server knows",
    ],
    [
      "a timer that is due after the year 9999",
      ({ tables }) =>
        Object.assign(tables, {
          _timers: { records: [{ id: "t", kind: "expiry", subject: "x", due: 1e15 }] },
        }),
      "tables._timers",
      "t is due outside the years 1 to 9999",
    ],
  ])("is refused with %s, and the place is named [interfaces 4]", (_what, spoil, field, message) => {
    const document = encodeWhole();
    spoil(document);
    expect(() => decodeWorld(document, COLLECTIONS)).toThrow(
      expect.objectContaining({ field, message: expect.stringContaining(message) }),
    );
  });

  it("is refused as a difference with an impossible record [interfaces 2]", () => {
    const document = encodeWorld(changed, BASE);
    Object.assign(document.tables, { notes: { put: [{ id: "note_9" }], removed: [] } });
    expect(() => decodeWorld(document, COLLECTIONS, BASE)).toThrow(
      expect.objectContaining({ field: "tables.notes", message: expect.stringContaining("holds note_9") }),
    );
  });
});
