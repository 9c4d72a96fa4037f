import { expect, it } from "vitest";
import { Tables } from "../state/tables.ts";
import { CountedWindows } from "./counted-windows.ts";
import type { KeptFrame } from "./entry-states.ts";
import { History } from "./history.ts";
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
