import Type from "typebox";
import { expect, it } from "vitest";
import { collection } from "../state/collection.ts";
import { RootLine } from "../state/kept-root.ts";
import type { Root } from "../state/root.ts";
import { Tables } from "../state/tables.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import { CountedWindows } from "./counted-windows.ts";
import type { KeptFrame } from "./entry-states.ts";
import { HistoryRows } from "./history-rows.ts";

const notes = collection<{ id: string }>({
  ...{ name: "notes", prefix: "note_", idField: "id", schema: Type.Object({}) },
});
const FIRST: Root = { tables: Tables.empty([notes]), draws: 0 };
const frame = {} as KeptFrame;

/** Rows, of which each puts so many new records. @param bound where there are so many, the oldest goes first */
function rowsOf(counts: readonly number[], bound = counts.length): HistoryRows {
  const line = new RootLine();
  const rows = new HistoryRows(line);
  rows.begin(line.keep(FIRST));
  let before = FIRST;
  for (const [number, count] of counts.entries()) {
    if (rows.size === bound) rows.shift();
    let table = before.tables.get("notes")!;
    const written: WrittenRecord[] = Array.from({ length: count }, (_, i) => {
      const after = { id: `note_${number}_${i}` };
      table = table.put(after);
      return { collection: notes, id: after.id, before: undefined, after };
    });
    const after = { tables: before.tables.replaced(table), draws: number + 1 };
    const request = {
      idSeed: 1,
      number,
      summary: "Write",
      principal: "ada",
      counted: undefined,
      uploads: undefined,
    };
    const { none: windows } = CountedWindows;
    rows.add(
      { request, subject: null, before, after, written, frame, now: number, requests: number, windows },
      0,
    );
    before = after;
  }
  return rows;
}

function referencesOf(rows: HistoryRows): unknown[] {
  return (rows as unknown as { references: unknown[] }).references;
}

it("interfaces 10 rows that nobody has looked at are told as they were, whatever went before them", () => {
  const rows = rowsOf([1, 4, 0, 2, 3]);
  rows.shift();
  rows.shift();
  rows.answered(1, 9);
  const taken = rows.take();
  expect(taken.map(({ now, journaled }) => [now, journaled])).toEqual([
    [2, 0],
    [3, 9],
    [4, 0],
  ]);
  const sizes = taken.map(({ states: { before, after } }) =>
    [before, after].map(({ root }) => [root.value.draws, root.value.tables.get("notes")!.size]),
  );
  expect(sizes).toEqual([
    [
      [2, 5],
      [3, 5],
    ],
    [
      [3, 5],
      [4, 7],
    ],
    [
      [4, 7],
      [5, 10],
    ],
  ]);
  expect(rows.size).toBe(0);
});

it("interfaces 10 rows hold nothing of those that have gone", () => {
  const rows = rowsOf([4, 4]);
  rows.shift();
  rows.shift();
  expect(rows.newest).toBeUndefined();
  expect(referencesOf(rows).every((held) => held === undefined)).toBe(true);
  const held = referencesOf(rowsOf([4, 4, 1, 2], 2)).filter((one) => /^note/.test(String(one)));
  expect(held).toEqual(["note_2_0", "note_3_0", "note_3_1"]);
});

it("interfaces 10 of rows one root in 128 is held, from which the others are made again", () => {
  const roots = rowsOf(Array(300).fill(1))
    .take()
    .map(({ states }) => states.from as unknown as { root: Root | undefined });
  expect(roots.flatMap(({ root }, place) => (root === undefined ? [] : [place]))).toEqual([0, 128, 256]);
});

it("interfaces 10 tables grow with their rows, and large ones are not kept for others", () => {
  const small = rowsOf(Array(64).fill(1));
  expect(referencesOf(small)).toHaveLength(64 * 24);
  small.clear();
  expect(referencesOf(small)).toHaveLength(64 * 24);
  const large = rowsOf(Array(65).fill(1));
  expect(referencesOf(large)).toHaveLength(128 * 24);
  large.clear();
  expect(referencesOf(large)).toHaveLength(0);
});
