import { describe, expect, it } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";

const makeJson = (schema: object) => ({ content: { "application/json": { schema } } });
const one = { $ref: "#/components/schemas/Item" };
const makeDocument = (field: object) => ({
  openapi: "3.1.0",
  info: { title: "Stock", version: "1" },
  paths: {
    "/stock": {
      post: {
        operationId: "add",
        requestBody: makeJson(one),
        responses: { 201: { description: "d", ...makeJson(one) } },
      },
    },
  },
  components: {
    schemas: {
      Item: {
        type: "object",
        required: ["id"],
        properties: { id: { type: "string", readOnly: true }, field },
      },
    },
  },
  "x-understudy": {
    collections: { stock: { schema: "#/components/schemas/Item", prefix: "item_" } },
    operations: { add: { create: "stock" } },
  },
});

/** A field's schema, a valid value, an invalid one, and the place of the problem. */
const FIELDS: [name: string, schema: object, fits: unknown, unfit: unknown, place?: string][] = [
  ["pattern", { type: "string", pattern: "^[A-Z]+$" }, "A", "a"],
  ["multipleOf", { type: "number", multipleOf: 0.5 }, 1.5, 1.6],
  ["exclusiveMinimum", { type: "number", exclusiveMinimum: 0 }, 0.1, 0],
  ["exclusiveMaximum", { type: "number", exclusiveMaximum: 9 }, 8, 9],
  ["uniqueItems", { type: "array", uniqueItems: true }, [1, 2], [1, 1]],
  ["minProperties", { type: "object", minProperties: 1 }, { a: 1 }, {}],
  ["contains", { type: "array", contains: { const: "a" } }, ["a", "b"], ["b"]],
  ["const", { const: "a" }, "a", "b"],
  ["not", { type: "string", not: { enum: ["a"] } }, "b", "a"],
  ["oneOf", { oneOf: [{ type: "integer" }, { type: "number", minimum: 5 }] }, 4, 6],
  ["dependentRequired", { type: "object", dependentRequired: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
  [
    "a deep part",
    { type: "array", items: { type: "object", properties: { a: { properties: { b: { enum: [1] } } } } } },
    [{ a: { b: 1 } }],
    [{ a: { b: 2 } }],
    "field[0].a.b",
  ],
  ["a format that only describes", { type: "string", format: "duration" }, "two days", 2],
];

describe.each(FIELDS)("a value that breaks %s", (_, schema, fits, unfit, place = "field") => {
  it("is refused in requests and state calls, and a valid one is not [interfaces 18]", async () => {
    const sandbox = await createSandbox({ openapi: [makeDocument(schema)] });
    const send = async (field: unknown) => {
      const headers = { "content-type": "application/json" };
      const answer = await sandbox.fetch("/stock", {
        method: "POST",
        body: JSON.stringify({ field }),
        headers,
      });
      return [answer.status, await answer.text()];
    };
    const stock = sandbox.state("stock" as "threads");
    expect(await send(fits)).toEqual([201, expect.any(String)]);
    expect(await stock.create({ field: fits } as never)).toMatchObject({ field: fits });
    expect(await send(unfit)).toEqual([422, expect.stringContaining(`${place} m`)]);
    await expect(stock.create({ field: unfit } as never)).rejects.toThrow(place);
    await sandbox.close();
  });

  it("is refused in a fixture with its place, and a valid one is not [interfaces 18]", async () => {
    const create = (field: unknown) => {
      const fixture: object = { extends: "reference", stock: [{ id: "item_a", field }] };
      return createSandbox({ openapi: [makeDocument(schema)], fixture });
    };
    await (await create(fits)).close();
    await expect(create(unfit)).rejects.toThrow(place);
  });
});
