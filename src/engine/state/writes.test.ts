import { Type } from "typebox";
import { expect, it } from "vitest";
import { collection } from "./collection.ts";
import { listWrites, mergeWrites } from "./transaction.ts";

const of = (name: string) => collection<{ id: string; n: number }>({ name, schema: Type.Object({}) });
const [notes, others] = [of("notes"), of("others")];
const wrote = (to: typeof notes, id: string, before: number | undefined, after: number | undefined) => {
  const record = (n: number | undefined) => (n === undefined ? undefined : { id, n });
  return { collection: to, id, before: record(before), after: record(after) };
};

it("the written records of a collection are listed once each, as before the first and after the last change [decision 2]", () => {
  const all = [
    wrote(notes, "a", undefined, 1),
    wrote(others, "a", 5, 6),
    wrote(notes, "b", 1, undefined),
    wrote(notes, "a", 1, 2),
  ];
  const [a, b] = [wrote(notes, "a", undefined, 2), wrote(notes, "b", 1, undefined)];
  expect(mergeWrites(all)).toEqual([a, wrote(others, "a", 5, 6), b]);
  expect(listWrites(notes, all)).toEqual([a, b]);
  expect(listWrites(others, all)).toEqual([wrote(others, "a", 5, 6)]);
  expect(listWrites(others, [all[0]!])).toEqual([]);
  expect([mergeWrites([]), mergeWrites(all.slice(0, 1))]).toEqual([[], all.slice(0, 1)]);
});
