import { describe, expect, it } from "vitest";
import { createMatcher, parseFilter } from "./filter-language.ts";

interface Row {
  status: number;
  ms: number | string | null;
  user: string;
  op: string;
  tags: string[];
}

const rows: Row[] = [
  { status: 200, ms: 7, user: "usr_ada", op: "threads.list", tags: ["red"] },
  { status: 403, ms: null, user: "usr_dan", op: "threads.delete", tags: ["blue sky", "red"] },
  { status: 503, ms: "", user: "usr_dan", op: "models.list", tags: [] },
];

const listFound = (typed: string) =>
  rows
    .filter(
      createMatcher(
        parseFilter(typed),
        (row, field) => (row as unknown as Record<string, unknown>)[field],
        (row) => JSON.stringify(row).toLowerCase(),
      ),
    )
    .map(({ status }) => status);

describe("the filter language", () => {
  it.each([
    ["", [200, 403, 503]],
    ["status:403", [403]],
    ["status:4*", [403]],
    ["status:>400", [403, 503]],
    ["status:<300", [200]],
    ["ms:<10", [200]],
    ["-ms:<10", [403, 503]],
    ["user:usr_dan op:threads.*", [403]],
    ["op:list", [200, 503]],
    ["op:list*", []],
    ["-op:*.list", [403]],
    ["-user:dan", [200]],
    ['tags:"blue sky"', [403]],
    ["tags:red", [200, 403]],
    ["USR_ADA", [200]],
    ["usr_dan models", [503]],
    ["nowhere:x", []],
    ["op:a(b", []],
  ])("finds with %s", (typed, expected) => {
    expect(listFound(typed)).toEqual(expected);
  });
});
