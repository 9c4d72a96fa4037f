import { expect, it } from "vitest";
import { asked, LIMIT, makeSandbox, momentOf, notes } from "../../../test/support/note-sandboxes.ts";
import { Tables } from "../state/tables.ts";
import { CountedWindows } from "./counted-windows.ts";
import type { KeptFrame } from "./entry-states.ts";
import { History } from "./history.ts";
import type { Act } from "./history-entry.ts";
import { ROWS_IN_LOT } from "./row-lot.ts";

const root = { tables: Tables.empty([]), draws: 0 };

function addRow(history: History, number: number): number {
  if (history.rows.size === 0) history.rows.begin(history.roots.keep(root));
  const request = {
    idSeed: 1,
    number,
    summary: "Write",
    principal: "ada",
    counted: undefined,
    uploads: undefined,
  };
  const change = { request, named: {}, written: [], frame: {} as KeptFrame, windows: CountedWindows.none };
  return history.addRow(change, { before: root, after: root, now: number, requests: number });
}

it("interfaces 10 a history says how many entries it has and has lost, also before the oldest rows have gone", () => {
  const history = new History(5, { lastSequence: 0 });
  for (let added = 1; added <= 3 * ROWS_IN_LOT; added++) {
    expect(addRow(history, added)).toBe(added);
    expect([history.size, history.dropped]).toEqual([Math.min(5, added), Math.max(0, added - 5)]);
    expect(history.rows.size).toBeLessThan(5 + ROWS_IN_LOT);
  }
  expect(history.entries().map(({ sequence }) => sequence)).toEqual([380, 381, 382, 383, 384]);
  expect([history.size, history.dropped, history.rows.size]).toEqual([5, 379, 0]);
  history.resize(2);
  addRow(history, 385);
  expect([history.size, history.dropped]).toEqual([2, 383]);
  expect(history.entries().map(({ sequence }) => sequence)).toEqual([384, 385]);
});

it("interfaces 10 an act whose entry was evicted goes on in another, of which that is the cause", () => {
  const { world, history, recorder } = makeSandbox(LIMIT);
  const act = asked(world);
  world.transact((tx) => tx.put(notes, { id: "note_1", text: "x" }), { act });
  const { id } = history.entryOf(act)!;
  for (let i = 0; i < LIMIT; i++) recorder.noteBytes({ act: asked(world) });
  world.transact((tx) => tx.put(notes, { id: "note_2", text: "x" }), { act });
  expect(history.newest).toMatchObject({ sequence: LIMIT + 2, cause: id, subject: "note_2" });
});

it("interfaces 10 whoever holds an entry holds what it goes on to", () => {
  const { world, history } = makeSandbox(LIMIT);
  const put = (act: Act, text: string) =>
    world.transact((tx) => tx.put(notes, { id: "note_1", text }), { act });
  const act = asked(world);
  put(act, "first");
  const [held] = history.entries();
  put(act, "second");
  for (let i = 0; i < 3 * LIMIT; i++) put(asked(world), "other");
  expect(momentOf(held!.states!.after)).toMatchObject({ rows: [{ id: "note_1", text: "second" }] });
  // Made again from what followed, it would hold all of that.
  expect(held!.states!.to).toMatchObject({ root: expect.anything() });
});

it("interfaces 10 an act that goes on is one entry, though somebody looked in between", () => {
  const { world, history } = makeSandbox(LIMIT);
  const act = asked(world);
  world.transact((tx) => tx.put(notes, { id: "note_1", text: "x" }), { act });
  expect(history.entries()[0]!.changes).toEqual({ notes: { added: 1, removed: 0, changed: 0 } });
  world.transact((tx) => tx.put(notes, { id: "note_2", text: "x" }), { act });
  expect(history.entries().map(({ changes }) => changes)).toEqual([
    { notes: { added: 2, removed: 0, changed: 0 } },
  ]);
});

it("interfaces 10 an answer says what it was although it was done, and where the journal has it", () => {
  const { world, history } = makeSandbox(LIMIT);
  const acts = Array.from({ length: 3 }, (_, i) => {
    const act = asked(world, "key_a");
    world.transact((tx) => tx.put(notes, { id: `note_${i}`, text: "x" }), { act });
    return act;
  });
  history.answered(acts[1]!, { status: 201, code: null, sequence: 8 });
  history.answered(acts[2]!, { status: 503, code: "SERVICE_UNAVAILABLE", sequence: 9 });
  expect(history.entries().map(({ title, journaled }) => ({ title, journaled }))).toEqual([
    { title: "key_a asked to write a note.", journaled: undefined },
    { title: "key_a asked to write a note.", journaled: 8 },
    {
      title: "key_a asked to write a note; it was done, but answered 503 SERVICE_UNAVAILABLE.",
      journaled: 9,
    },
  ]);
  history.answered(acts[0]!, { status: 201, code: null, sequence: 10 });
  expect(history.at(1)).toMatchObject({ journaled: 10 });
});

it("interfaces 10 a request is a row until somebody looks, or until it has done what a row cannot tell", () => {
  const { world, history } = makeSandbox(LIMIT);
  const put = (act: Act, records = 1) => {
    world.transact(
      (tx) => {
        for (let i = 0; i < records; i++)
          tx.put(notes, { id: `note_${i}`, text: String(act.request!.number) });
      },
      { act },
    );
    return history.rows.size;
  };
  const sizes = [put(asked(world)), put(asked(world), 4), put(asked(world), 5), put(asked(world))];
  expect(sizes).toEqual([1, 2, 0, 1]);
  const act = asked(world);
  expect([put(act), put(act)]).toEqual([2, 0]);
  const bringing = asked(world);
  expect(put({ ...bringing, request: { ...bringing.request!, uploads: { seen: undefined } } })).toBe(0);
  expect(put({ ...asked(world), subject: "note_1" })).toBe(0);
  expect(put(asked(world))).toBe(1);
  expect(history.newest).toMatchObject({ sequence: 8 });
  expect(history.rows.size).toBe(0);
});
