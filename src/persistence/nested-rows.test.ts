import { describe, expect, it } from "vitest";
import { nestedRows, nestedText } from "./nested-rows.ts";

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

const maps = (sections: Record<string, Record<string, string>>) =>
  new Map(Object.entries(sections).map(([name, rows]) => [name, new Map(Object.entries(rows))]));

const textOf = (sections: Record<string, Record<string, string>>) =>
  `{${[...nestedText(maps(sections), "  ")].join("")}\n}`;

describe("rows as an object that people read", () => {
  it("interfaces 2 one line a row, in order, sections within sections", () => {
    expect(textOf(SECTIONS)).toBe(`{
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
    expect(textOf({})).toBe("{\n}");
  });

  it("interfaces 2 gives the same rows again", () => {
    const rows = [...nestedRows(JSON.parse(textOf(SECTIONS)))];
    const given = Object.entries(SECTIONS).flatMap(([section, byId]) =>
      Object.entries(byId).map(([id, text]) => ({ section, id, text })),
    );
    const place = ({ section, id }: { section: string; id: string }) => `${section} ${id}`;
    const sorted = (all: typeof given) => all.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
    expect(sorted(rows)).toEqual(sorted(given));
  });

  it("interfaces 2 what is no object where one belongs gives no rows", () => {
    for (const nested of [null, 5, "text", [{ about: 1 }], undefined]) {
      expect([...nestedRows(nested)]).toEqual([]);
      expect([...nestedRows({ sandbox: nested, records: { notes: nested } })]).toEqual([]);
    }
    expect([...nestedRows({ records: { notes: { a: [1] } } })]).toEqual([
      { section: "records/notes", id: "a", text: "[1]" },
    ]);
  });
});
