import { describe, expect, it } from "vitest";
import { DocumentError, type DocumentProblem, formatPath, formatProblem } from "./document-error.ts";

const problem: DocumentProblem = {
  file: "scenarios/a.yaml",
  line: 2,
  column: 6,
  field: "rules[0]",
  message: "is wrong",
};

describe("a document error", () => {
  it("names file, line and column, and the nearest right word [interfaces 2]", () => {
    expect(formatProblem(problem)).toBe("scenarios/a.yaml:2:6: is wrong");
    expect(formatProblem({ ...problem, hint: "right" })).toBe(
      'scenarios/a.yaml:2:6: is wrong (did you mean "right"?)',
    );
    expect(formatProblem({ ...problem, line: 0, column: 0 })).toBe("scenarios/a.yaml: is wrong");
  });

  it("shows the line before the mistake, and a caret below it [interfaces 2]", () => {
    const error = new DocumentError([problem], "first: 1\nrule: x\nlast: 2");
    expect(error.formatWithFrames()).toBe(
      ["scenarios/a.yaml:2:6: is wrong", "1 | first: 1", "2 | rule: x", "  |      ^"].join("\n"),
    );
    expect(error).toMatchObject({ file: "scenarios/a.yaml", line: 2, column: 6, message: "is wrong" });
  });

  it("keeps the caret visible in a long line, and removes control characters [interfaces 2]", () => {
    const text = `${"x".repeat(5_000)}\u001b[31my`;
    const formatFrame = (line: number, column: number) =>
      new DocumentError([{ ...problem, line, column }], text).formatWithFrames().split("\n").slice(1);
    expect(formatFrame(1, 5_001).map((line) => line.length)).toEqual([59, 54]);
    expect(formatFrame(1, 5_001).join("")).not.toContain("\u001b");
    expect(formatFrame(7, 1)).toEqual([]);
    expect(formatFrame(0, 0)).toEqual([]);
  });

  it("contains at most twenty problems [interfaces 2]", () => {
    const error = new DocumentError(Array.from({ length: 50 }, () => problem));
    expect(error.problems).toHaveLength(20);
    expect(error.format().split("\n")).toHaveLength(20);
  });

  it("writes a path in words [interfaces 6]", () => {
    expect(formatPath(["rules", 0, "match", "a b", 2])).toBe('rules[0].match["a b"][2]');
    expect(formatPath([])).toBe("");
  });
});
