import { describe, expect, it, vi } from "vitest";
import { BLOCK_LANGUAGES } from "../support/docs/page-script.ts";
import { PAGE_SETTINGS } from "../support/docs/page-settings.ts";
import { findBlocks, listPages } from "../support/docs/pages.ts";
import { GUIDES, OTHERS, testExamples } from "../support/docs/test-examples.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

describe("examples of the documentation", () => {
  it("are each run or checked [interfaces 13]", () => {
    const odd = listPages().flatMap((page) =>
      findBlocks(page)
        .filter(({ kind }) => !BLOCK_LANGUAGES.includes(kind.split(" ")[0]!))
        .map(({ kind }) => `${page}: ${kind}`),
    );
    expect(odd).toEqual([]);
    const run = [...GUIDES, ...OTHERS];
    expect(Object.keys(PAGE_SETTINGS).filter((page) => !run.includes(page))).toEqual([]);
  });

  testExamples(OTHERS);
});
