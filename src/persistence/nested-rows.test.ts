import { describe, expect, it } from "vitest";
import { readNestedRows, renderNested } from "./document-file.ts";

const SECTIONS: Record<string, Record<string, string>> = {
  world: { windows: "[]", facts: '{"seed":7}' },
  sandbox: { about: "{}" },
  "records/b": { "webhook.retry/dl_1": "1", a: "null" },
  "records/a": { x: '"q\\""' },
  "records/empty": {},
  "snapshots/one/records/a": { x: "2" },
  "snapshots/one/world": { facts: "3" },
  "snapshots/two/world": { facts: "4" },
};

const toMaps = (sections: Record<string, Record<string, string>>) =>
  new Map(Object.entries(sections).map(([name, rows]) => [name, new Map(Object.entries(rows))]));

const toText = (sections: Record<string, Record<string, string>>) =>
  `{${[...renderNested(toMaps(sections), "  ")].join("")}\n}`;

describe("rows as a readable object", () => {
  it("are one line each, in order, with sections within sections [interfaces 2]", () => {
    expect(toText(SECTIONS)).toBe(`{
  "records": {
    "a": {
      "x": "q\\""
    },
    "b": {
      "a": null,
      "webhook.retry/dl_1": 1
    }
  },
  "sandbox": {
    "about": {}
  },
  "snapshots": {
    "one": {
      "records": {
        "a": {
          "x": 2
        }
      },
      "world": {
        "facts": 3
      }
    },
    "two": {
      "world": {
        "facts": 4
      }
    }
  },
  "world": {
    "facts": {"seed":7},
    "windows": []
  }
}`);
    expect(toText({})).toBe("{\n}");
  });

  it("are the same when read again [interfaces 2]", () => {
    const rows = [...readNestedRows(JSON.parse(toText(SECTIONS)))];
    const given = Object.entries(SECTIONS).flatMap(([section, byId]) =>
      Object.entries(byId).map(([id, text]) => ({ section, id, text })),
    );
    const place = ({ section, id }: { section: string; id: string }) => `${section} ${id}`;
    const sortRows = (all: typeof given) => all.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
    expect(sortRows(rows)).toEqual(sortRows(given));
  });

  it("are absent for a section that is not an object [interfaces 2]", () => {
    for (const nested of [null, 5, "text", [{ about: 1 }], undefined]) {
      expect([...readNestedRows(nested)]).toEqual([]);
      expect([...readNestedRows({ sandbox: nested, records: { notes: nested } })]).toEqual([]);
    }
    expect([...readNestedRows({ records: { notes: { a: [1] } } })]).toEqual([
      { section: "records/notes", id: "a", text: "[1]" },
    ]);
  });
});
