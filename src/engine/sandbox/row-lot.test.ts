import fc from "fast-check";
import Type from "typebox";
import { expect, it } from "vitest";
import { collection } from "../state/collection.ts";
import { Tables } from "../state/tables.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import { CountedWindows } from "./counted-windows.ts";
import type { KeptFrame } from "./entry-states.ts";
import { subjectOf } from "./history-entry.ts";
import { type RequestChange, ROWS_IN_LOT, RowLot } from "./row-lot.ts";

const collectionOf = (name: string) =>
  collection<{ id: string; value: unknown }>({ name, prefix: "", idField: "id", schema: Type.Object({}) });
const collections = [collectionOf("notes"), collectionOf("tasks")];
const FIRST = { tables: Tables.empty(collections), draws: 0 };

const id = fc.constantFrom("note_1", "note_2", "task_1", "task_2");
const value = fc.oneof(fc.constantFrom<unknown>("a", "b", null, true, 1, []), fc.string({ unit: "binary" }));
const number = fc.nat({ max: 2 ** 32 });
const write: fc.Arbitrary<WrittenRecord> = fc
  .record({
    of: fc.constantFrom(...collections),
    id,
    value,
    what: fc.constantFrom("added", "changed", "removed"),
  })
  .map(({ of, id, value, what }) => ({
    collection: of,
    id,
    before: what === "added" ? undefined : { id, value },
    after: what === "removed" ? undefined : { id, value: "after" },
  }));
const frames = [{ seed: 1 }, { seed: 2 }] as KeptFrame[];
const noOthers = CountedWindows.none.others;
const others = [noOthers, noOthers.set("key_c", { minute: 1, requests: 2, tokens: 3 })];
const named: RequestChange["named"][] = [{ note_id: "note_1" }, { task_id: "task_2", other_id: "else" }];
const FACETS = [
  ...["summary", "principal", "key", "isCounted", "minute", "frame", "named"],
  ...["windowKey", "windowMinute", "tokens", "others"],
] as const;
/** Rows that agree with most others in all but one or two things. */
const change: fc.Arbitrary<RequestChange> = fc
  .record({
    others: fc.subarray([...FACETS], { maxLength: 2 }),
    written: fc.oneof(
      { weight: 4, arbitrary: fc.tuple(write) },
      { weight: 1, arbitrary: fc.array(write, { maxLength: 4 }) },
    ),
    ...{ idSeed: number, number, requests: number },
  })
  .map(({ others: differing, written, idSeed, number, requests }) => {
    const other = (facet: (typeof FACETS)[number]) => Number(differing.includes(facet));
    const counted = { key_id: `key_${other("key")}`, minute: other("minute") };
    const window = { minute: other("windowMinute"), requests, tokens: other("tokens") };
    return {
      request: {
        ...{ idSeed, number, summary: `Move ${other("summary")}`, principal: `usr_${other("principal")}` },
        ...{ counted: other("isCounted") ? undefined : counted, uploads: undefined },
      },
      named: named[other("named")],
      ...{ written, frame: frames[other("frame")]! },
      windows: new CountedWindows(`key_${other("windowKey")}`, window, others[other("others")]!),
    };
  });
const added = fc.record({
  change,
  draws: number,
  now: number,
  requests: number,
  journal: number,
  journaled: number,
});

it("interfaces 10 rows of a lot are told as they were put, however alike or different their neighbours are", () => {
  const lot = new RowLot();
  fc.assert(
    fc.property(fc.array(added, { minLength: 1, maxLength: ROWS_IN_LOT, size: "max" }), (rows) => {
      lot.begin(FIRST);
      lot.letGoOfRoot();
      for (const { change, draws, now, requests, journal } of rows)
        lot.add(change, { before: { ...FIRST, draws }, after: FIRST, now, requests }, journal);
      for (const [row, { journaled }] of rows.entries()) lot.answered(row, journaled);
      expect(lot.rows()).toEqual(
        rows.map(({ change: { request, named, written, frame, windows }, ...numbers }) => ({
          ...{ ...numbers, request, frame, windows, root: undefined },
          subject: subjectOf(written, named),
          written: written.map(({ collection, id, before, after }) => ({
            ...{ collection, id, before, stays: after !== undefined },
          })),
        })),
      );
    }),
    { numRuns: 60 },
  );
});

it("interfaces 10 the first row of a lot begins with a root that is held, whose records it shares", () => {
  const held = { id: "note_1", value: "before" };
  const [notes] = collections;
  const root = { tables: FIRST.tables.replaced(FIRST.tables.get("notes")!.put(held)), draws: 3 };
  const lot = new RowLot().begin(root);
  const again = { id: "note_1", value: "again" };
  for (const before of [held, again])
    lot.add(
      {
        ...{ named: {}, frame: frames[0]!, windows: CountedWindows.none },
        request: {
          idSeed: 1,
          number: 1,
          summary: "Move",
          principal: "ada",
          counted: undefined,
          uploads: undefined,
        },
        written: [{ collection: notes!, id: "note_1", before, after: again }],
      },
      { before: root, after: root, now: 0, requests: 0 },
      0,
    );
  const [first, second] = lot.rows();
  expect(first!.root).toBe(root);
  expect(first!.written[0]!.before).toBe(held);
  expect(second).toMatchObject({ root: undefined, written: [{ before: again }] });
});

it("interfaces 10 what rows have in common stands once in their lot", () => {
  const lot = new RowLot().begin(FIRST);
  const [notes] = collections;
  for (let number = 0; number < ROWS_IN_LOT; number++) {
    const request = {
      idSeed: number,
      number,
      summary: "Move",
      principal: "ada",
      counted: undefined,
      uploads: undefined,
    };
    const before = { id: `note_${number}`, value: number };
    const written = [{ collection: notes!, id: before.id, before, after: before }];
    const change = { request, named: {}, written, frame: frames[0]!, windows: CountedWindows.none };
    lot.add(change, { before: FIRST, after: FIRST, now: number, requests: number }, number);
  }
  expect(lot).toMatchObject({ kinds: [{ summary: "Move" }], subjects: [] });
});
