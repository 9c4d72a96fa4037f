import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { BOMBS } from "../../../test/support/bomb-corpus.ts";
import { DocumentError } from "./document-error.ts";
import { LARGE_LIMITS } from "./document-limits.ts";
import { readDocument } from "./read-document.ts";
import { createInlineDocument, locateProblem, throwProblems } from "./user-document.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

function readFailure(text: string, file = "world.yaml"): DocumentError {
  try {
    readDocument(text, { file });
  } catch (error) {
    if (error instanceof DocumentError) return error;
    throw error;
  }
  throw new Error(`was read: ${text.slice(0, 80)}`);
}

const readValue = (text: string) => readDocument(text, { file: "world.yaml" }).value;

describe("a document's values", () => {
  it("are the same from YAML and JSON [interfaces 5]", () => {
    expect(readValue("a: [1, x, null, true, 0.5]\nb: { c: '2' }")).toEqual({
      a: [1, "x", null, true, 0.5],
      b: { c: "2" },
    });
    expect(readValue('{\n\t"a": [1,\t2],\n\t"b": "\\ud83d\\ude00 \\/"\n}')).toEqual({ a: [1, 2], b: "😀 /" });
    expect(readValue('{"": 1, "a": {"": 2}}')).toEqual({ "": 1, a: { "": 2 } });
    expect(readValue("")).toBeNull();
    expect(readValue("\ufeffa: 1\r\n")).toEqual({ a: 1 });
  });

  it("stay as written for dates, `on` and `off`, and versions, also under a YAML 1.1 directive [interfaces 5]", () => {
    const text = "%YAML 1.1\n---\nat: 2026-03-15T12:00:00.000Z\nday: 2026-03-15\npreview: off\nsure: yes\n";
    expect(readValue(text)).toEqual({
      at: "2026-03-15T12:00:00.000Z",
      day: "2026-03-15",
      preview: "off",
      sure: "yes",
    });
    expect(readValue("1: a\n1.10: b\nnull: c\ntrue: d")).toEqual({
      "1": "a",
      "1.10": "b",
      null: "c",
      true: "d",
    });
  });

  it("are copied for each use of an alias [interfaces 5]", () => {
    const document = readValue("base: &b { tags: [x] }\none: *b\ntwo: *b") as Record<
      string,
      { tags: string[] }
    >;
    document.one?.tags.push("changed");
    expect(document).toEqual({
      base: { tags: ["x"] },
      one: { tags: ["x", "changed"] },
      two: { tags: ["x"] },
    });
  });

  it("are those of the nearest anchor before an alias, also inside an aliased part [interfaces 5]", () => {
    expect(readValue("a: &o [&x 1, *x]\nb: &x 2\nc: *o\nd: *x")).toEqual({
      a: [1, 1],
      b: 2,
      c: [1, 1],
      d: 2,
    });
  });

  it("equal what the yaml package wrote [interfaces 5]", () => {
    const keys = fc
      .string({ minLength: 1, maxLength: 12 })
      .filter((key) => !["__proto__", "constructor", "prototype", "<<"].includes(key));
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(fc.string(), fc.maxSafeInteger(), fc.boolean(), fc.constant(null)),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(keys, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, (written) => {
        expect(readValue(JSON.stringify(written))).toEqual(written);
        expect(readValue(stringify(written))).toEqual(written);
      }),
    );
  });
});

describe("a document's positions", () => {
  const text = [
    "rules:",
    "  - id: one",
    "    match: { operation: files.* }",
    "  - id: two",
    "    times:",
  ].join("\n");
  const document = readDocument(text, { file: "a.yaml" });

  it("are line and column of values and keys [interfaces 6]", () => {
    expect(document.locate(["rules", 0, "match", "operation"])).toEqual({ line: 3, column: 25 });
    expect(document.locateKey(["rules", 0, "match", "operation"])).toEqual({ line: 3, column: 14 });
    expect(document.locate(["rules", 1])).toEqual({ line: 4, column: 5 });
    expect(document.locateKey(["rules", 1, "times"])).toEqual({ line: 5, column: 5 });
  });

  it("are those of the nearest ancestor for a path that leads nowhere [interfaces 6]", () => {
    expect(document.locate(["rules", 0, "match", "gone", "deeper"])).toEqual({ line: 3, column: 12 });
    expect(document.locate(["rules", 9])).toEqual({ line: 2, column: 3 });
    expect(readDocument("", { file: "a.yaml" }).locate(["x"])).toEqual({ line: 1, column: 1 });
  });

  it("are right after aliases, a byte order mark and CRLF [interfaces 6]", () => {
    const aliased = readDocument("\ufeffa: &a { b: 1 }\r\nc: *a\r\n", { file: "a.yaml" });
    expect(aliased.locate(["c"])).toEqual({ line: 2, column: 4 });
    expect(aliased.locate(["c", "b"])).toEqual({ line: 1, column: 12 });
  });

  it("are in the error for a problem that no schema can express [interfaces 6]", () => {
    const problem = locateProblem(document, { path: ["rules", 1, "id"], message: "is wrong", hint: "three" });
    expect(problem).toEqual({
      file: "a.yaml",
      line: 4,
      column: 9,
      field: "rules[1].id",
      message: "is wrong",
      hint: "three",
    });
    expect(() => throwProblems([], document)).not.toThrow();
    expect(() => throwProblems([problem], document)).toThrow(DocumentError);
  });
});

describe("a document", () => {
  it.each([
    ["a: 1\na: 2", "world.yaml:2:1: the key `a` is given twice"],
    ["a: { b: 1, c: 2, b: 3 }", "world.yaml:1:18: the key `b` is given twice"],
    ["a: 1\n---\nb: 2", "world.yaml:2:1: a second document begins here; a file holds exactly one"],
    ["x:\n  __proto__: 1", "world.yaml:2:3: the key `__proto__` is not allowed"],
    ["? [a]\n: 1", "world.yaml:1:3: a key must be a plain text"],
    [": 1", "world.yaml:1:1: a key is missing before the colon"],
    ['"": 1\n"": 2', "world.yaml:2:1: the key `` is given twice"],
    [
      "a: 12345678901234567890",
      "world.yaml:1:4: the number 12345678901234567890 is too large to be exact; quote it if it is a text",
    ],
    ["a: .inf", "world.yaml:1:4: a number must be finite; quote it if it is a text"],
    ["a: *missing", "world.yaml:1:4: no anchor &missing comes before this alias"],
    ["a: !!timestamp 2026-01-01", "world.yaml:1:4: the tag !!timestamp is not understood; leave it out"],
    ["a:\n\t- b", "world.yaml:2:1: a tab indents here; YAML is indented with spaces"],
    ["a: @x", "world.yaml:1:4: a text that begins with @ must be quoted"],
    [
      "a: [1, 2\nb: 3",
      "world.yaml:2:1: a list that begins with [ is not closed by ] before this line; close it, or indent the line",
    ],
    [
      "a: { b: 1\nc: 3",
      "world.yaml:2:1: a map that begins with { is not closed by } before this line; close it, or indent the line",
    ],
    ["a:\n- b: 1\n c: 2", "world.yaml:3:1: the indentation does not fit the lines around it"],
    [
      "base: &b { x: 1 }\nc:\n  <<: *b",
      "world.yaml:3:3: merge keys (<<) are not supported; write the fields out here",
    ],
  ])("refuses %j with its place [interfaces 2]", (text, expected) => {
    expect(readFailure(text).format()).toBe(expected);
  });

  it.each([
    [
      '{"a": 1 "b": 2}',
      7,
      "something is missing before this: a comma, a colon, or a closing brace or bracket",
    ],
    ['["a" "b"]', 6, "a comma is missing before this entry"],
    ["[1,,2]", 4, "a comma too many: there is nothing before it"],
    ['{"a": 1', 8, "a map that begins with { is never closed by }"],
    ["[1, 2", 6, "a list that begins with [ is never closed by ]"],
    ['{"a": 1}}', 9, "a } too many: nothing is open that it could close"],
    ['{"a": "x}', 10, 'a text that begins with " is never closed'],
    ['{"a": 1} x', 10, "this is not allowed here; is a comma, a colon or a quote missing before it?"],
    ['{"a": "\\q"}', 8, "an unknown escape in a quoted text; write \\\\ for a backslash"],
  ])("reports the mistake in the JSON %j [interfaces 2]", (text, column, message) => {
    expect(readFailure(text, "world.json").format()).toBe(`world.json:1:${column}: ${message}`);
  });

  it("is refused with several problems, at most twenty, one per line [interfaces 5]", () => {
    const twice = Array.from({ length: 60 }, (_, index) => `k${index % 30}: 1`).join("\n");
    const problems = readFailure(twice).problems;
    expect(problems).toHaveLength(20);
    expect(problems.map((problem) => problem.line)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 31),
    );
  });

  it("may nest 64 deep and no deeper, in every notation [interfaces 5]", () => {
    expect(() => readValue("[".repeat(64) + "]".repeat(64))).not.toThrow();
    expect(() => readValue(`${"- ".repeat(64)}x`)).not.toThrow();
    for (const text of [
      "[".repeat(65) + "]".repeat(65),
      `${"- ".repeat(65)}x`,
      `${'{"a":'.repeat(65)}1${"}".repeat(65)}`,
    ])
      expect(readFailure(text).message).toBe("maps and lists are nested more than 64 deep");
  });

  it.each(BOMBS.map((bomb) => [`${bomb.file}: ${bomb.name}`, bomb] as const))(
    "is refused if it is a bomb, %s [interfaces 5]",
    (_, bomb) => {
      const error = readFailure(bomb.text(), bomb.file);
      expect(error.line).toBeGreaterThan(0);
      expect(error.message.length).toBeLessThan(200);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    },
  );

  it("may have any key but `__proto__`, in YAML as inline, if any name can be a key [interfaces 5]", () => {
    const options = { file: "a.yaml", allowsAnyKey: true };
    expect(readDocument("constructor: { prototype: 1 }", options).value).toEqual({
      constructor: { prototype: 1 },
    });
    expect(() => readDocument("__proto__: 1", options)).toThrow("the key `__proto__` is not allowed");
    expect(() => createInlineDocument({ constructor: { prototype: 1 } }, options)).not.toThrow();
    expect(() => createInlineDocument(JSON.parse('{"__proto__":1}'), options)).toThrow("is not allowed");
  });

  it("is read up to the given limits, which are wider for a user's own file [interfaces 5]", () => {
    const large = Array.from({ length: 30_000 }, (_, index) => `- { id: dept_${index} }`).join("\n");
    expect(readFailure(large).message).toMatch(/^the document is too large/);
    expect(readDocument(large, { file: "own.yaml", limits: LARGE_LIMITS }).value).toHaveLength(30_000);
    expect(() => readDocument("abc", { file: "a.yaml", limits: { maxBytes: 2 } })).toThrow(
      "larger than 2 bytes",
    );
  });

  it("never fails with anything but DocumentError, for any text [interfaces 5]", () => {
    const pieces = fc.constantFrom(
      ..."{}[],:-?&*!|>'\"%@`#~\n\r\t \\\0".split(""),
      "a",
      "&a ",
      "*a",
      "!!str ",
      "!<x>",
      "---\n",
      "...\n",
      "%YAML 1.1\n",
      "<<: ",
      "__proto__: ",
      "? ",
      ": ",
      "- ",
      "\n  ",
      "\ufeff",
      "\ud800",
      "\u2028",
      "0x",
      "1e",
      ".nan",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          const document = readDocument(text, { file: "any" });
          JSON.stringify(document.value);
          document.locate(["a", 0, "b"]);
        } catch (error) {
          expect(error).toBeInstanceOf(DocumentError);
          expect((error as DocumentError).line).toBeGreaterThan(0);
          expect((error as DocumentError).formatWithFrames()).toContain("any:");
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("an inline document", () => {
  it("has the same limits as a text [interfaces 4]", () => {
    const refuseInline = (body: unknown) => () => createInlineDocument(body, { file: "fixture" });
    expect(refuseInline(JSON.parse('{"a":[{"__proto__":{"x":1}}]}'))).toThrow(
      "the key `__proto__` is not allowed",
    );
    expect(refuseInline(JSON.parse("[".repeat(100_000) + "]".repeat(100_000)))).toThrow(
      "nested more than 64 deep",
    );
    expect(refuseInline(Array.from({ length: 200_001 }))).toThrow("too large");
    expect(refuseInline(JSON.parse("[".repeat(64) + "]".repeat(64)))).not.toThrow();
    const problems = (body: unknown) => {
      try {
        return createInlineDocument(body, { file: "fixture" });
      } catch (error) {
        return (error as DocumentError).problems;
      }
    };
    const deep = JSON.parse(`${'{"a":'.repeat(70)}1${"}".repeat(70)}`);
    expect(problems(deep)).toMatchObject([{ field: "" }]);
    expect(problems({ a: [JSON.parse('{"__proto__":1}')] })).toMatchObject([{ field: "a[0].__proto__" }]);
    const document = createInlineDocument({ a: 1 }, { file: "fixture" });
    expect(locateProblem(document, { path: ["a"], message: "is wrong" })).toMatchObject({
      line: 0,
      field: "a",
    });
  });
});
