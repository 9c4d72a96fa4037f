import { Type } from "typebox";
import { expect, it } from "vitest";
import { collection } from "./collection.ts";
import { listWrites, mergeWrites } from "./transaction.ts";

const of = (name: string) => collection<{ id: string; n: number }>({ name, schema: Type.Object({}) });
const [notes, others] = [of("notes"), of("others")];
const makeWrite = (to: typeof notes, id: string, before: number | undefined, after: number | undefined) => {
  const record = (n: number | undefined) => (n === undefined ? undefined : { id, n });
  return { collection: to, id, before: record(before), after: record(after) };
};

it("the written records of a collection are listed once each, as before the first and after the last change [decision 2]", () => {
  const all = [
    makeWrite(notes, "a", undefined, 1),
    makeWrite(others, "a", 5, 6),
    makeWrite(notes, "b", 1, undefined),
    makeWrite(notes, "a", 1, 2),
  ];
  const [a, b] = [makeWrite(notes, "a", undefined, 2), makeWrite(notes, "b", 1, undefined)];
  expect(mergeWrites(all)).toEqual([a, makeWrite(others, "a", 5, 6), b]);
  expect(listWrites(notes, all)).toEqual([a, b]);
  expect(listWrites(others, all)).toEqual([makeWrite(others, "a", 5, 6)]);
  expect(listWrites(others, [all[0]!])).toEqual([]);
  expect([mergeWrites([]), mergeWrites(all.slice(0, 1))]).toEqual([[], all.slice(0, 1)]);
});
