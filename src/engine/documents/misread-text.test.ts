import { describe, expect, it } from "vitest";
import { DocumentError, type DocumentProblem } from "./document-error.ts";
import { readDocument } from "./read-document.ts";

/** The problems of a text, one in each line. */
function readRefusal(text: string, file = "a.yaml"): string[] {
  try {
    readDocument(text, { file });
  } catch (error) {
    if (error instanceof DocumentError) return error.format().split("\n");
    throw error;
  }
  throw new Error(`was read: ${text}`);
}

const readValue = (text: string, file = "a.yaml") => readDocument(text, { file }).value;

const describeSpace = (name: string, place: string) =>
  `a.yaml:${place}: ${name} is here, which YAML does not take for a space; type an ordinary space, or quote the text`;

describe("an unusual space", () => {
  const noBreak = "a no-break space (U+00A0)";

  it.each([
    ["in place of indentation", "list:\n\u00a0\u00a0- id: a\n", noBreak, "2:1"],
    ["in place of indentation, before a text", "list:\n\u00a0\u00a0- a\n", noBreak, "2:1"],
    ["behind ordinary indentation", "list:\n  - id: a\n    \u00a0name: A\n", noBreak, "3:5"],
    ["before a dash", "list:\n  \u00a0- a\n", noBreak, "2:3"],
    ["behind a dash", "list:\n  -\u00a0id: a\n", noBreak, "2:4"],
    ["behind the dashes of texts", "list:\n  -\u00a0a\n  -\u00a0b\n", noBreak, "2:4"],
    ["behind a colon", "name:\u00a0A\n", noBreak, "1:6"],
    ["behind the colon of an item with two keys", "list:\n  - id:\u00a0a\n    name: A\n", noBreak, "2:8"],
    ["before a line that continues a text", "name: A\n \u00a0plan: b\nid: c\n", noBreak, "2:2"],
    ["in the indentation of JSON", '{\n\u00a0\u00a0"a": 1\n}', noBreak, "2:1"],
    ["that is ideographic", "list:\n\u3000- id: a\n", "an ideographic space (U+3000)", "2:1"],
    ["that has no width", "\u200bname: A\n", "a zero-width space (U+200B)", "1:1"],
    ["that is narrow", "name:\u202fA\n", "a narrow no-break space (U+202F)", "1:6"],
    ["of another width", "list:\n\u2003- id: a\n", "an unusual space (U+2003)", "2:1"],
  ])("%s is refused with its name and place [interfaces 2]", (_, text, name, place) => {
    expect(readRefusal(text)[0]).toBe(describeSpace(name, place));
  });

  it("stays within texts, which may also begin with one [interfaces 5]", () => {
    const text = [
      "a: 10\u00a0km",
      "b: |",
      "  \u3000東京",
      "  -\u00a0one",
      "c:",
      "  - \u3000東京",
      "  - Note:\u00a0x",
      'd: "\u00a0- x"',
      "'\u00a0e': 1",
    ];
    expect(readValue(text.join("\n"))).toEqual({
      a: "10\u00a0km",
      b: "\u3000東京\n-\u00a0one\n",
      c: ["\u3000東京", "Note:\u00a0x"],
      d: "\u00a0- x",
      "\u00a0e": 1,
    });
  });
});

describe("typographic quotes", () => {
  const readWarnings = (text: string) => {
    const warnings: DocumentProblem[] = [];
    readDocument(text, { file: "a.yaml", warn: (problem) => warnings.push(problem) });
    return warnings.map(({ line, column, message }) => `${line}:${column}: ${message}`);
  };

  it.each(["“Acme”", "„Acme“", "‘Acme’"])(
    "around a text, as in %s, give a warning [interfaces 5]",
    (name) => {
      expect(readWarnings(`id: org_a\nname: ${name}\n`)).toEqual([
        `2:7: the typographic quotes in ${name} are part of the text; write "Acme" if they only enclose it`,
      ]);
    },
  );

  it.each(['"“Acme”"', "“Acme” and “Globex”", "It is “Acme”", "Acme’s", "“", '"Acme"'])(
    "in %s give none [interfaces 5]",
    (text) => {
      expect(readWarnings(`name: ${text}\n`)).toEqual([]);
    },
  );
});

describe("a merge conflict", () => {
  it.each([
    ["YAML", "a.yaml", "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> other\n", "2:1"],
    [
      "YAML with a conflict at its top",
      "a.yaml",
      "<<<<<<< HEAD\na: 2\n=======\na: 3\n>>>>>>> other\n",
      "1:1",
    ],
    ["YAML with CRLF", "a.yaml", "a: 1\r\n<<<<<<<\r\nb: 2\r\n=======\r\n>>>>>>>\r\n", "2:1"],
    ["JSON", "a.json", '{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> other\n}\n', "2:1"],
    ["YAML with the last mark only", "a.yaml", "a: 1\nb: 3\n>>>>>>> other\n", "3:1"],
  ])("is refused with its place in %s [interfaces 2]", (_, file, text, place) => {
    expect(readRefusal(text, file)).toEqual([
      `${file}:${place}: a merge conflict of Git is not resolved here; keep what is right, and delete the lines with <<<<<<<, ======= and >>>>>>>`,
    ]);
  });

  it("may be described in a text [interfaces 5]", () => {
    expect(readValue("a: |\n  <<<<<<< HEAD\nb: <<<<<<< HEAD\n")).toEqual({
      a: "<<<<<<< HEAD\n",
      b: "<<<<<<< HEAD",
    });
  });
});

describe("a comment in JSON", () => {
  it.each([
    ["//", "1:1", '// the world\n{"a": 1}'],
    ["//", "2:3", '{\n  // first\n  "a": 1\n}'],
    ["//", "1:10", '{"a": 1, // first\n"b": 2}'],
    ["//", "1:10", '{"a": "x"// first\n}'],
    ["/*", "1:9", '{"a": 1 /* first */}'],
    ["//", "2:12", '{"a": "b # c",\n "d": "e", // f\n}'],
    ["//", "1:20", '{"a": "\\\\", "b": 1 // c\n}'],
    ["//", "20002:3", `{\n${'"a": 1,\n'.repeat(20_000)}  // last\n}`],
  ])("that begins with %s is refused at %s [interfaces 2]", (comment, place, text) => {
    expect(readRefusal(text, "a.json")).toEqual([
      `a.json:${place}: JSON has no comments such as ${comment}; delete it, or write YAML, whose comments begin with #`,
    ]);
  });

  it.each([
    ['{"a": "// x", "b": "\\" // y", "c": "http://h/*"}', { a: "// x", b: '" // y', c: "http://h/*" }],
    ["{ a: http://h } # see // there", { a: "http://h" }],
  ])("is not seen in %j [interfaces 5]", (text, expected) => {
    expect(readValue(text, "a.json")).toEqual(expected);
  });
});

describe("a template that is not filled in", () => {
  it.each([
    ["a value", "a: 1\nname: {{ name }}\nid: {{ id }}\n", "{{ name }}", "2:7"],
    [
      "a value in braces",
      "info: { title: {{ .Values.title | quote }} }\n",
      "{{ .Values.title | quote }}",
      "1:16",
    ],
    ["a part of a value", "name: {{ a }}-{{ b }}\n", "{{ a }}", "1:7"],
    ["a condition", "{{- if .Values.x }}\nname: a\n{{- end }}\n", "{{- if .Values.x }}", "1:1"],
    ["a loop", "users:\n  {% for a in b %}\n  - id: a\n  {% endfor %}\n", "{% for a in b %}", "2:3"],
    ["a section", "users:\n{{#users}}\n  - id: a\n{{/users}}\n", "{{#users}}", "2:1"],
    ["a value of JSON", '{"name": {{ name }} }', "{{ name }}", "1:10"],
  ])("is named, with its place: %s [interfaces 2]", (_, text, mark, place) => {
    expect(readRefusal(text)[0]).toBe(
      `a.yaml:${place}: ${mark} belongs to a template that is not filled in yet; fill it in first, or quote it if it is a text`,
    );
  });

  it("is not what breaks a text that quotes one [interfaces 2]", () => {
    expect(readRefusal('name: "{{ name }}" x\n')[0]).not.toContain("template");
    expect(readRefusal("text: |\n  {{ name }}\n\nusers: [a\n")[0]).not.toContain("template");
  });
});
