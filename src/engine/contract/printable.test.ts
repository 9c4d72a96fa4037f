import { describe, expect, it } from "vitest";
import { printable, printableJson, printableLines } from "./printable.ts";

const HOSTILE = "a\u001b[2J\u009b31m\u0007\r\u202eb\u2066\u061c\u200e\u200f\u2028\u007f";
const SHOWN = "a\\u001b[2J\\u009b31m\\u0007\\u000d\\u202eb\\u2066\\u061c\\u200e\\u200f\\u2028\\u007f";

describe("interfaces 2 what reaches a terminal", () => {
  it("interfaces 2 nothing in a name steers the terminal, and all of it can be read", () => {
    expect(printable(HOSTILE)).toBe(SHOWN);
    expect(printable("one\ntwo\tthree")).toBe("one\\u000atwo\\u0009three");
    expect(printable("Zürich 東京 🎈")).toBe("Zürich 東京 🎈");
  });

  it("interfaces 2 a text keeps its lines and tabs, and nothing else", () => {
    expect(printableLines(`FAIL\t${HOSTILE}\n`)).toBe(`FAIL\t${SHOWN}\n`);
    expect(printableLines("\u001b]0;title\u0007\u001b[1A")).toBe("\\u001b]0;title\\u0007\\u001b[1A");
    expect(printableLines("\u001b[8mhidden\u001b[0m")).toBe("\\u001b[8mhidden\\u001b[0m");
  });

  it("interfaces 2 JSON reads back as it was", () => {
    for (const indent of [undefined, 2]) {
      const text = printableJson({ [HOSTILE]: [HOSTILE, "\n"] }, indent);
      expect(printableLines(text)).toBe(text);
      expect(text).not.toMatch(/[\u007f-\u009f\u202a-\u202e]/);
      expect(JSON.parse(text)).toEqual({ [HOSTILE]: [HOSTILE, "\n"] });
    }
  });
});
