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

const createReader = (root: object, version = "3.1.0") =>
  new SchemaReader(new References(root as never), version);

it.each([
  ["3.0.3", { nullable: true }],
  ["3.0.3", { nullable: true, enum: ["a", null] }],
  ["3.1.0", { anyOf: [{}, { type: "null" }] }],
  ["3.1.0", { anyOf: [{ type: "string" }, { title: "Anything" }] }],
  ["3.1.0", { oneOf: [{ type: "integer" }, { $ref: "#/Any" }] }],
])(
  "a schema of %s with an alternative that has no type takes any value: %j [interfaces 18]",
  (version, schema) => {
    const reader = createReader({ Any: {} }, version);
    expect([...reader.listTypes(schema)]).toEqual([]);
    expect(reader.doTypesOverlap(schema, { type: "object" })).toBe(true);
  },
);

it("alternatives that only require fields do not change the type [interfaces 18]", () => {
  const anyOf = [{ required: ["a"] }, { required: ["b"] }, {}];
  expect([...createReader({}).listTypes({ type: "object", anyOf })]).toEqual(["object"]);
  expect([...createReader({}).listTypes({ allOf: [{ type: "object" }], anyOf })]).toEqual(["object"]);
});

it("a schema of null alone has that type [interfaces 18]", () => {
  const reader = createReader({ Nothing: { type: "null" } });
  expect([...reader.listTypes(makeRef("Nothing"))]).toEqual(["null"]);
});

it("lists that contain lists like themselves overlap [interfaces 18]", () => {
  const makeNest = (name: string) => ({ type: "array", items: makeRef(name) });
  const reader = createReader({ Nest: makeNest("Nest"), Other: makeNest("Other") });
  expect(reader.doTypesOverlap(makeRef("Nest"), makeRef("Other"))).toBe(true);
  expect(reader.doTypesOverlap(makeRef("Nest"), { type: "array", items: { type: "string" } })).toBe(false);
});
