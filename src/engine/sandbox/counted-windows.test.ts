import { expect, it } from "vitest";
import { CountedWindows } from "./counted-windows.ts";

const used = (requests: number) => ({ minute: 7, requests, tokens: 0 });

it("G07 windows of all keys stand in one value, whichever was counted last", () => {
  const first = CountedWindows.none.set("b", used(1)).set("a", used(2));
  const second = first.set("b", used(3));
  expect(first.entries()).toEqual([
    ["a", used(2)],
    ["b", used(1)],
  ]);
  expect(second.entries()).toEqual([
    ["a", used(2)],
    ["b", used(3)],
  ]);
  expect(second.get("a")).toEqual(used(2));
  expect(second.delete("b").entries()).toEqual([["a", used(2)]]);
  expect(second.delete("a").set("c", used(1)).get("a")).toBeUndefined();
});

it("G07 where nothing was counted for a key, forgetting it is no change", () => {
  const windows = CountedWindows.none.set("a", used(1)).set("b", used(1));
  expect(windows.delete("c")).toBe(windows);
});
