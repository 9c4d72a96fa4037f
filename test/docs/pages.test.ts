import { describe, expect, it, vi } from "vitest";
import { DIRECTIONS } from "../support/docs/directions.ts";
import { KINDS } from "../support/docs/page-script.ts";
import { blocks, pages } from "../support/docs/pages.ts";
import { GUIDES, OTHERS, testExamples } from "../support/docs/test-examples.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

describe("examples of the documentation", () => {
  it("are each run or checked [interfaces 13]", () => {
    const odd = pages().flatMap((page) =>
      blocks(page)
        .filter(({ kind }) => !KINDS.includes(kind.split(" ")[0]!))
        .map(({ kind }) => `${page}: ${kind}`),
    );
    expect(odd).toEqual([]);
    const run = [...GUIDES, ...OTHERS];
    expect(Object.keys(DIRECTIONS).filter((page) => !run.includes(page))).toEqual([]);
  });

  testExamples(OTHERS);
});
