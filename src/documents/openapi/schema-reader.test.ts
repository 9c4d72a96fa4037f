import { expect, it } from "vitest";
import { References } from "./references.ts";
import { SchemaReader } from "./schema-reader.ts";

const makeRef = (name: string) => ({ $ref: `#/${name}` });
const have = (name: string) => ({ properties: { [name]: { type: "string" } } });

it("the fields of schemas that are alternatives of each other do not depend on which are listed before [interfaces 18]", () => {
  for (const first of ["A", "B", "C", "D", "E"]) {
    const root: Record<string, object> = {
      A: { ...have("a"), oneOf: [makeRef("B"), makeRef("C")] },
      B: { ...have("b"), oneOf: [makeRef("D"), makeRef("E")] },
      C: have("c"),
      D: { ...have("d"), anyOf: [makeRef("A")] },
      E: have("e"),
    };
    const reader = new SchemaReader(new References(root as never), "3.1.0");
    reader.listPossibleFields(root[first]);
    for (const name of ["A", "B", "D"])
      expect([first, name, [...reader.listPossibleFields(root[name]).keys()].sort().join("")]).toEqual([
        first,
        name,
        "abcde",
      ]);
  }
});
