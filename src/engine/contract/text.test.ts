import { describe, expect, it } from "vitest";
import {
  clip,
  describeEvictedEntries,
  findNearest,
  foldCase,
  pluralize,
  toPrintable,
  toPrintableJson,
  toPrintableLines,
  toSentence,
} from "./text.ts";

const CODES = ["RATE_LIMIT_EXCEEDED", "RESOURCE_NOT_FOUND", "INVALID_INPUT", "pass", "reset"];

it("a shortened text never ends in half a character", () => {
  expect([clip("ab🎉", 4), clip("ab🎉", 3), clip("ab🎉c", 4)]).toEqual(["ab🎉", "ab…", "ab…"]);
});

describe("the nearest word", () => {
  it.each([
    ["RATE_LIMIT_EXCEDED", "RATE_LIMIT_EXCEEDED"],
    ["rate_limit_exceeded", "RATE_LIMIT_EXCEEDED"],
    ["RESOURCE_NOTFOUND", "RESOURCE_NOT_FOUND"],
    ["rest", "reset"],
    ["pas", "pass"],
  ])("suggests for %s the word %s [interfaces 6]", (word, expected) => {
    expect(findNearest(word, CODES)).toBe(expected);
  });

  it("suggests nothing for a word that is near no candidate [interfaces 6]", () => {
    expect(findNearest("banana", CODES)).toBeUndefined();
    expect(findNearest("x", ["a", "b"])).toBeUndefined();
    expect(findNearest("", CODES)).toBeUndefined();
    expect(findNearest("reset".repeat(1_000_000), CODES)).toBeUndefined();
    expect(findNearest("reset", [])).toBeUndefined();
  });

  it("is the one with fewer differences, and the first of equals [interfaces 6]", () => {
    expect(findNearest("tine", ["time", "line", "tine "])).toBe("time");
    expect(findNearest("files.regster", ["files.upload", "files.register"])).toBe("files.register");
  });
});

it.each([
  ["ΣΊΣ", "σίσυφος"],
  ["σίσυφος", "ΟΔΟΣ ΣΊΣΥΦΟΣ"],
  ["cafe\u0301", "CAF\u00c9 central"],
  ["CAF\u00c9", "cafe\u0301 central"],
])("a search for %s finds it in %s, in whatever case and form it is written [G28]", (part, text) => {
  expect(foldCase(text)).toContain(foldCase(part));
});

it("a count of one thing is in the singular", () => {
  expect([0, 1, 2].map((count) => pluralize(count, "step"))).toEqual(["0 steps", "1 step", "2 steps"]);
  expect([1, 2].map((count) => pluralize(count, "delivery", "deliveries"))).toEqual([
    "1 delivery",
    "2 deliveries",
  ]);
});

it("a count of lost entries is in words, also for one and none", () => {
  const describeEach = (counts: number[], adjective?: string) =>
    counts.map((count) => describeEvictedEntries(count, adjective));
  expect(describeEach([0, 1, 2])).toEqual(["no entries were", "1 entry was", "2 entries were"]);
  expect(describeEach([1, 3], "older")).toEqual(["1 older entry was", "3 older entries were"]);
});

const HOSTILE = "a\u001b[2J\u009b31m\u0007\r\u202eb\u2066\u061c\u200e\u200f\u2028\u007f";
const SHOWN = "a\\u001b[2J\\u009b31m\\u0007\\u000d\\u202eb\\u2066\\u061c\\u200e\\u200f\\u2028\\u007f";

describe("text for a terminal [interfaces 2]", () => {
  it("a name cannot control the terminal, and stays readable [interfaces 2]", () => {
    expect(toPrintable(HOSTILE)).toBe(SHOWN);
    expect(toPrintable("one\ntwo\tthree")).toBe("one\\u000atwo\\u0009three");
    expect(toPrintable("Zürich 東京 🎈")).toBe("Zürich 東京 🎈");
  });

  it("a text keeps its lines and tabs, but no other control characters [interfaces 2]", () => {
    expect(toPrintableLines(`FAIL\t${HOSTILE}\n`)).toBe(`FAIL\t${SHOWN}\n`);
    expect(toPrintableLines("\u001b]0;title\u0007\u001b[1A")).toBe("\\u001b]0;title\\u0007\\u001b[1A");
    expect(toPrintableLines("\u001b[8mhidden\u001b[0m")).toBe("\\u001b[8mhidden\\u001b[0m");
  });

  it("parsing printable JSON gives the same value [interfaces 2]", () => {
    for (const indent of [undefined, 2]) {
      const text = toPrintableJson({ [HOSTILE]: [HOSTILE, "\n"] }, indent);
      expect(toPrintableLines(text)).toBe(text);
      expect(text).not.toMatch(/[\u007f-\u009f\u202a-\u202e]/);
      expect(JSON.parse(text)).toEqual({ [HOSTILE]: [HOSTILE, "\n"] });
    }
  });
});

it.each([
  ["limit must be an integer", undefined, "limit must be an integer."],
  ["Wait 5 s.", undefined, "Wait 5 s."],
  ["settings.previw is not known", "preview", 'settings.previw is not known. Did you mean "preview"?'],
])("%s becomes a sentence, with the hint %s", (text, hint, sentence) => {
  expect(toSentence(text, hint)).toBe(sentence);
});
