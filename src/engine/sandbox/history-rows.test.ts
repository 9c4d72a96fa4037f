import Type from "typebox";
import { expect, it } from "vitest";
import { collection } from "../state/collection.ts";
import { RootLine } from "../state/kept-root.ts";
import type { Root } from "../state/root.ts";
import { Table } from "../state/table.ts";
import { Tables } from "../state/tables.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import { CountedWindows } from "./counted-windows.ts";
import type { KeptFrame } from "./entry-states.ts";
import { HistoryRows } from "./history-rows.ts";
import { RowLot } from "./row-lot.ts";

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
    const moment = { before, after, now: number, requests: number };
    rows.add({ request, named: {}, written, frame, windows }, moment, 0);
    before = after;
  }
  return rows;
}

/** All that its lots hold. @param but but for what is reached by these alone */
function heldBy(rows: HistoryRows, ...but: readonly unknown[]): Set<unknown> {
  const held = new Set<unknown>();
  const look = (one: unknown) => {
    if (held.has(one) || one === notes || one === tasks || one === frame || but.includes(one)) return;
    held.add(one);
    if (Buffer.isBuffer(one) || ArrayBuffer.isView(one) || typeof one !== "object" || one === null) return;
    for (const value of one instanceof Map ? [...one].flat() : Object.values(one)) look(value);
  };
  look((rows as unknown as { lots: object }).lots);
  return held;
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

it("interfaces 10 rows hold nothing of a lot that has gone, nor the root of a row that has", () => {
  const rows = rowsOf([4, 4]);
  rows.shift();
  rows.shift();
  expect(rows.newest).toBeUndefined();
  expect(heldBy(rows).size).toBe(1);
  const lotsAndRoots = (bound: number) => {
    const held = [...heldBy(rowsOf(Array(300).fill(1), bound))];
    return [RowLot, Table].map((kind) => held.filter((one) => one instanceof kind).length);
  };
  // A lot goes with the last of its rows, its root with the first.
  expect([300, 299, 173, 172, 171, 44, 43].map(lotsAndRoots)).toEqual([
    [3, 3],
    [3, 2],
    [3, 2],
    [2, 2],
    [2, 1],
    [1, 1],
    [1, 0],
  ]);
});

it("interfaces 10 of rows one root in 128 is held, from which the others are made again", () => {
  const roots = rowsOf(Array(300).fill(1))
    .take()
    .map(({ states }) => states.from as unknown as { root: Root | undefined });
  expect(roots.flatMap(({ root }, place) => (root === undefined ? [] : [place]))).toEqual([0, 128, 256]);
});

interface Task {
  id: string;
  text: string;
  tags?: readonly string[];
}

const tasks = collection<Task>({ name: "tasks", prefix: "task_", idField: "id", schema: Type.Object({}) });

/** Of requests that each change one of three tasks and add another; what was before is not plain where it is tagged. */
class Changes {
  readonly rows: HistoryRows;
  /** The roots before and after each. */
  readonly roots: Root[] = [];
  private readonly isTagged: boolean;

  constructor({ isTagged }: { isTagged: boolean }) {
    this.isTagged = isTagged;
    const line = new RootLine();
    this.rows = new HistoryRows(line);
    const table = [0, 1, 2]
      .map((n) => this.task(`task_${n}`, "at first"))
      .reduce((all, one) => all.put(one), Table.empty(tasks));
    const first: Root = { tables: Tables.of([table]), draws: 0 };
    this.roots.push(first);
    this.rows.begin(line.keep(first));
  }

  add(count: number, bound: number): this {
    for (let i = 0; i < count; i++) {
      while (this.rows.size >= bound) this.rows.shift();
      this.addOne();
    }
    return this;
  }

  private addOne(): void {
    const number = this.roots.length;
    const before = this.roots.at(-1)!;
    const table = before.tables.get("tasks")!;
    const changed = this.task(`task_${number % 3}`, `changed by ${number}`);
    const added = this.task(`task_of_${number}`, "new");
    const after = { tables: before.tables.replaced(table.put(changed).put(added)), draws: number };
    this.roots.push(after);
    const written = [
      { collection: tasks, id: changed.id, before: table.get(changed.id), after: changed },
      { collection: tasks, id: added.id, before: undefined, after: added },
    ];
    const request = {
      idSeed: 1,
      number,
      summary: "Change",
      principal: "ada",
      counted: undefined,
      uploads: undefined,
    };
    const { none: windows } = CountedWindows;
    const moment = { before, after, now: number, requests: number };
    this.rows.add({ request, named: {}, written, frame, windows }, moment, 0);
  }

  private task(id: string, text: string): Task {
    return this.isTagged ? { id, text, tags: [text] } : { id, text };
  }

  /** Each root that can be told is what it was. */
  check(count: number): void {
    const taken = this.rows.take();
    expect(taken).toHaveLength(count);
    for (const [i, { states }] of taken.entries())
      for (const [root, was] of [
        [states.from, this.roots.at(i - count - 1)!],
        [states.to, this.roots.at(i - count)!],
      ] as const) {
        const records = [...root.value.tables.get("tasks")!.all()];
        expect(records).toEqual([...was.tables.get("tasks")!.all()]);
      }
  }
}

it.each([
  [false, 127, 1000],
  [false, 128, 1000],
  [false, 257, 1000],
  [false, 900, 1000],
  [false, 900, 10],
  [false, 900, 100],
  [false, 900, 150],
  [false, 900, 256],
  [false, 951, 500],
  [true, 900, 1000],
  [true, 900, 200],
])(
  "interfaces 10 rows tell what records were before, tagged: %s, of %d with a bound of %d",
  (isTagged, count, bound) => {
    new Changes({ isTagged }).add(count, bound).check(Math.min(count, bound));
  },
);

it("interfaces 10 rows tell what records were before, wherever their tables have grown", () => {
  for (const first of [150, 256, 300, 400])
    for (const bound of [100, 129, 256])
      new Changes({ isTagged: false })
        .add(first, bound)
        .add(450, 1000)
        .check(Math.min(first, bound) + 450);
});

it("interfaces 10 but for the newest 31 rows and one record a lot, neither records nor new ids are held as objects", () => {
  for (const [count, ids, records] of [
    [31, 31, 31],
    [32, 0, 1],
    [128, 0, 1],
    [300, 300 - 288, 3 + 300 - 288],
  ] as const) {
    const { rows, roots } = new Changes({ isTagged: false }).add(count, 1000);
    const held = [...heldBy(rows, ...roots)];
    const heldIds = held.filter((one) => typeof one === "string" && one.startsWith("task_of"));
    const heldRecords = held.filter((one) => typeof one === "object" && one !== null && "text" in one);
    expect([count, heldIds.length, heldRecords.length]).toEqual([count, ids, records]);
  }
});

it("interfaces 10 what changed is told by comparing, between a root that is held and one that is made again", () => {
  const { rows } = new Changes({ isTagged: false }).add(250, 1000);
  for (const { states } of rows.take()) {
    const [from, to] = [states.from.value, states.to.value].map(({ tables }) => tables.get("tasks")!);
    expect([...from!.changesTo(to!)]).toHaveLength(2);
  }
});
