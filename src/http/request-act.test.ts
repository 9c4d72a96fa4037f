import { expect, it } from "vitest";
import type { HistoryEntry } from "../sandbox/history-entry.ts";
import type { JournalEntry } from "../sandbox/journal.ts";
import { RequestAct } from "./request-act.ts";

function answered(fields: Partial<JournalEntry>) {
  const act = new RequestAct({
    idSeed: 0,
    number: 1,
    at: 0,
    rate: undefined,
    identity: undefined,
    operation: { summary: "Move a department" } as never,
    params: {},
    uploads: undefined,
  });
  const told: unknown[] = [];
  const entry = {
    isOver: false,
    answered: (refusal: string | undefined, journaled: number) => told.push([refusal, journaled]),
  } as unknown as HistoryEntry;
  act.entry = entry;
  act.answered({ status: 200, code: null, sequence: 7, ...fields } as JournalEntry);
  return { act, entry, told };
}

it("interfaces 10 an answered request lets go of its entry, which may become another's", () => {
  const { act, entry, told } = answered({});
  expect(told).toEqual([[undefined, 7]]);
  expect(entry.isOver).toBe(true);
  expect(act.entry).toBeUndefined();
});

it("interfaces 10 a request whose answer is made while it is sent may still change something", () => {
  const { act, entry, told } = answered({ streamed: "under way" });
  expect(told).toEqual([[undefined, 7]]);
  expect(entry.isOver).toBe(false);
  expect(act.entry).toBe(entry);
});

it.each([
  [{ status: 0 }, "by a broken connection"],
  [{ status: 500, code: "INTERNAL" }, "500 INTERNAL"],
  [{ status: 503 }, "503"],
])("interfaces 10 what was answered %o although it was done is said: %s", (fields, refusal) => {
  expect(answered(fields).told).toEqual([[refusal, 7]]);
});
