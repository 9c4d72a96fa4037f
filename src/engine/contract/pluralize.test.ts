import { expect, test } from "vitest";
import { lostEntries, pluralize } from "./pluralize.ts";

test("one thing is counted as one", () => {
  expect([0, 1, 2].map((count) => pluralize(count, "step"))).toEqual(["0 steps", "1 step", "2 steps"]);
  expect([1, 2].map((count) => pluralize(count, "delivery", "deliveries"))).toEqual([
    ...["1 delivery", "2 deliveries"],
  ]);
});

test("one entry that was lost is one, and what was not lost is none", () => {
  expect([0, 1, 2].map((count) => lostEntries(count))).toEqual([
    ...["no entries were", "1 entry was", "2 entries were"],
  ]);
  expect([1, 3].map((count) => lostEntries(count, "older"))).toEqual([
    ...["1 older entry was", "3 older entries were"],
  ]);
});
