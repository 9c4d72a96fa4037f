import { expect, it } from "vitest";
import { generateValue, inventField } from "./generate-value.ts";
import { References } from "./references.ts";
import { Schemas } from "./schemas.ts";

it.each([
  [
    "both bounds are exclusive",
    { type: "integer", minimum: 5, exclusiveMinimum: true, maximum: 7, exclusiveMaximum: true },
  ],
  ["it has the least int64 and is negative", { type: "integer", minimum: -(2 ** 63), maximum: -1 }],
  ["it has the largest int64 and is large", { type: "integer", minimum: 2 ** 40, maximum: 2 ** 63 }],
  ["it is large and exact", { type: "integer", minimum: 2 ** 51, maximum: 2 ** 51 }],
  ["a fraction lies between them", { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 0.01 }],
])("a generated number fits its schema of OpenAPI 3.0 if %s [interfaces 18]", (_, schema) => {
  const schemas = new Schemas(new References({}), "3.0.3");
  for (let seed = 1; seed <= 5; seed++) {
    const value = generateValue(schemas, schema, seed);
    expect(schemas.compileValidator(schema, "answer")(value), String(value)).toBe(true);
  }
});

it.each([
  [
    "is a list with more items than it describes one by one",
    { type: "array", prefixItems: [{ type: "string" }], items: { type: "integer" }, minItems: 3 },
  ],
  [
    "is a list with fewer items than it describes",
    { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], maxItems: 1 },
  ],
  [
    "has one of its properties",
    {
      type: "object",
      properties: { card: { type: "string" }, cash: { type: "integer" } },
      ...{ minProperties: 1, maxProperties: 1 },
    },
  ],
])("a generated value fits a schema that %s [interfaces 18]", (_, schema) => {
  const schemas = new Schemas(new References({}), "3.1.0");
  const value = generateValue(schemas, schema, 1);
  expect(schemas.compileValidator(schema, "answer")(value), JSON.stringify(value)).toBe(true);
});

it("a value invented for a field is not null if its enum lacks null [interfaces 18]", () => {
  const schemas = new Schemas(new References({}), "3.1.0");
  const invention = { schemas, now: "2026-03-15T12:00:00.000Z", seed: 1 };
  const type = ["string", "null"];
  expect(inventField({ type, enum: ["a", "b"] }, invention)).toMatch(/^[ab]$/);
  expect(inventField({ type, enum: ["a", null] }, invention)).toBeNull();
  expect(inventField({ type }, invention)).toBeNull();
});
