import { expect, it } from "vitest";
import { createFilter } from "./filter.ts";
import type { Node } from "./nodes.ts";

it("all terms about bodies must match, also excluded ones", () => {
  const nodes = [1, 2, 3].map(
    (seq): Node => ({ seq, level: 0, outcome: "ok", request: undefined, entry: undefined }) as Node,
  );
  const bodyMatches = new Map([
    ["alpha", new Set([1, 2])],
    ["beta", new Set([1, 3])],
  ]);
  const find = (text: string) =>
    nodes
      .filter(createFilter({ text, outcomes: new Set(), from: undefined, to: undefined }, bodyMatches))
      .map(({ seq }) => seq);
  expect(find("body:alpha")).toEqual([1, 2]);
  expect(find("body:alpha body:beta")).toEqual([1]);
  expect(find("body:alpha -body:beta")).toEqual([2]);
  expect(find("-body:alpha -body:beta")).toEqual([]);
});
