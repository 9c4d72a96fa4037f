import { expect, it } from "vitest";
import { asked, makeSandbox, notes } from "../../../test/support/note-sandboxes.ts";
import { HistoryEntry } from "./history-entry.ts";
import { HistoryList } from "./history-list.ts";
import { ROW_COST } from "./history-rows.ts";

/** A list of entries without states, as an earlier server wrote them down. */
function listOf(positions: readonly number[], { limit = 100, last = positions.at(-1)! } = {}): HistoryList {
  const list = new HistoryList(limit, () => {
    throw new Error("there are no rows");
  });
  const entries = positions.map((sequence) =>
    HistoryEntry.from({
      ...{ id: `h_${sequence}`, sequence, at: 0, parent: sequence - 1, kind: "control", title: "" },
      ...{ subject: null, cause: null, advanced_by: null, request: null, delivered: null },
      ...{ changes: {}, undone: false, leaves: sequence % 2 === 0 ? ["jobs\0job_1"] : [] },
    }),
  );
  list.replace(entries, { last, dropped: 2 });
  return list;
}

/** A history of so many changes, each of a record. */
function historyOf(changes: number) {
  const { world, history } = makeSandbox(100);
  const write = (text: string) =>
    world.transact((tx) => tx.put(notes, { id: "note_1", text }), { act: asked(world) });
  for (let i = 0; i < changes; i++) write(String(i));
  const kept = () => history.entries().map(({ states }) => states !== undefined);
  return { history, write, kept };
}

it("interfaces 10 the last of a kind is sought from a position on, down to the oldest", () => {
  const list = listOf([3, 4, 5, 6, 7]);
  const leaving = (position: number) => list.findLast(position, ({ leaves }) => leaves.length > 0)?.sequence;
  expect([3, 4, 5, 6, 7, 9].map(leaving)).toEqual([undefined, 4, 4, 6, 6, 6]);
  expect(list.findLast(7, ({ sequence }) => sequence === 3)?.sequence).toBe(3);
  expect(list.findLast(7, ({ sequence }) => sequence < 3)).toBeUndefined();
});

it("interfaces 10 others take the place of all, and what is too much of them goes at once", () => {
  const list = listOf([3, 4, 5, 6, 7], { limit: 3 });
  expect(list).toMatchObject({ size: 3, last: 7, dropped: 4 });
  expect(list.all().map(({ sequence }) => sequence)).toEqual([5, 6, 7]);
  expect(list.since(6).map(({ sequence }) => sequence)).toEqual([7]);
  expect([4, 5, 7, 8].map((position) => list.at(position)?.sequence)).toEqual([undefined, 5, 7, undefined]);
  list.replace([], { last: 7, dropped: 0 });
  expect(list).toMatchObject({ size: 0, last: 7, dropped: 0 });
});

it("interfaces 10 the oldest let go of their states until the rest hold as much as may be", () => {
  const { history, write, kept } = historyOf(5);
  history.letGoOf(5 * ROW_COST);
  expect(kept()).toEqual([true, true, true, true, true]);
  history.letGoOf(4 * ROW_COST - 1);
  expect(kept()).toEqual([false, false, true, true, true]);
  write("6");
  history.letGoOf(4 * ROW_COST);
  expect(kept()).toEqual([false, false, true, true, true, true]);
  history.letGoOf(0);
  expect(kept()).toEqual([false, false, false, false, false, false]);
  history.letGoOf(0);
  write("7");
  history.letGoOf(ROW_COST);
  expect(kept()).toEqual([false, false, false, false, false, false, true]);
});

it("interfaces 10 what has let go of its states leaves no bytes behind when it goes itself", () => {
  const { history, write, kept } = historyOf(5);
  history.letGoOf(3 * ROW_COST);
  history.resize(4);
  expect(kept()).toEqual([false, true, true, true]);
  history.resize(2);
  write("6");
  history.letGoOf(2 * ROW_COST);
  expect(kept()).toEqual([true, true]);
  history.letGoOf(ROW_COST);
  expect(kept()).toEqual([false, true]);
});
