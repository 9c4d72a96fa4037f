import { expect, it } from "vitest";
import type { JsonSchema } from "../../engine/contract/schema.ts";
import { DECLARED_SCOPE, toType } from "./schema-types.ts";

it("a literal type keeps the line ends of its text [interfaces 18]", () => {
  expect(toType({ const: "a\u2028b\u2029c" }, DECLARED_SCOPE)).toBe('"a\\u2028b\\u2029c"');
});

it.each([
  [{ enum: ["x", null], nullable: true }, '"x" | null'],
  [{ enum: [null, "x"], nullable: true }, '"x" | null'],
  [{ anyOf: [{ type: ["string", "null"] }, { type: ["null", "number"] }] }, "string | number | null"],
  [{ const: "a | null", nullable: true }, '"a | null" | null'],
])("the type of %j names null once [interfaces 18]", (schema, type) => {
  expect(toType(schema as JsonSchema, { ...DECLARED_SCOPE, readsNullable: true })).toBe(type);
});
