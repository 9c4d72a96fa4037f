import { afterEach, expect, it, vi } from "vitest";
import { asked, makeSandbox, momentOf, notes } from "../../../test/support/note-sandboxes.ts";
import { HistoryRows } from "./history-rows.ts";

afterEach(() => vi.restoreAllMocks());

/** A sandbox in which something is due every 10 seconds, 9 times, and whether entries were made of its rows. */
function busySandbox(limit: number) {
  const { world, history } = makeSandbox(limit);
  world.transact(
    (tx) => {
      for (let i = 1; i <= 9; i++)
        tx.schedule({ kind: "expiry", subject: `note_job_${i}`, due: tx.now + i * 10_000 });
    },
    { act: asked(world) },
  );
  const taken = vi.spyOn(HistoryRows.prototype, "take");
  const write = (times: number) => {
    for (let i = 0; i < times; i++)
      world.transact((tx) => tx.put(notes, { id: "note_1", text: String(i) }), { act: asked(world) });
  };
  const tick = () => {
    world.passTo(world.epochNow() + 10_000);
    world.catchUp();
  };
  return { world, history, taken, write, tick };
}

it("interfaces 10 what the clock does between requests makes no entries of them until somebody looks", () => {
  const { world, history, taken, write, tick } = busySandbox(1000);
  const draw = () => world.transact((tx) => tx.random("alone"), { act: asked(world) });
  for (const next of [tick, draw, tick]) {
    write(50);
    next();
  }
  write(50);
  expect(taken).not.toHaveBeenCalled();
  expect(history).toMatchObject({ size: 203, lastSequence: 203 });
  const kinds = history
    .entries()
    .map(({ kind, sequence, number, parent }) => [kind, sequence, number, parent]);
  const place = (kind: string, at: number) => [kind, at, at, at - 1];
  expect(kinds).toEqual(
    Array.from({ length: 203 }, (_, i) => place(i === 51 || i === 152 ? "timer" : "request", i + 1)),
  );
  expect(taken).toHaveBeenCalledTimes(4);
});

it("interfaces 10 work that comes back, and acts that go on, name their cause without a look at what lies between", () => {
  const { world, history, taken, write, tick } = busySandbox(1000);
  const retried = asked(world);
  world.transact((tx) => tx.schedule({ kind: "webhook.retry", subject: "note_hook", due: tx.now + 15_000 }), {
    act: retried,
  });
  write(50);
  const wrote = asked(world);
  const put = (text: string) => world.transact((tx) => tx.put(notes, { id: "note_2", text }), { act: wrote });
  put("first");
  write(50);
  put("second");
  expect(history.newest).toMatchObject({ kind: "request", subject: "note_2" });
  // The retry leads to an attempt 20 seconds later.
  for (let i = 0; i < 4; i++) tick();
  expect(history.newest).toMatchObject({ kind: "timer" });
  expect(taken).not.toHaveBeenCalled();
  const entries = history.entries();
  const of = (subject: string) => entries.filter((entry) => entry.subject === subject);
  const [first, second] = of("note_2");
  expect(second).toMatchObject({ cause: first!.id });
  expect(of("note_hook")).toMatchObject([{ kind: "timer", cause: retried.entry!.id }]);
});

it.each([
  [3, 1],
  [4, 0],
])("interfaces 10 of %i requests before something else, entries are made %i times", (requests, times) => {
  const { history, taken, write, tick } = busySandbox(1000);
  write(requests);
  tick();
  expect(taken).toHaveBeenCalledTimes(times);
  expect(history.entries()).toHaveLength(requests + 2);
});

it("interfaces 10 what is lost to the bound is lost from rows that have ended too, and leaves no bytes behind", () => {
  const { history, write, tick } = busySandbox(100);
  for (let round = 0; round < 9; round++) {
    write(20);
    tick();
  }
  expect(history).toMatchObject({ size: 100, dropped: 90, lastSequence: 190 });
  const entries = history.entries();
  expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 100 }, (_, i) => 91 + i));
  expect(momentOf(entries[0]!.states!.after)).toMatchObject({
    rows: expect.arrayContaining([{ id: "note_1", text: "5" }]),
  });
  expect((history as unknown as { list: { bytes: number } }).list.bytes).toBe(
    entries.reduce((bytes, { states }) => bytes + states!.cost, 0),
  );
});
