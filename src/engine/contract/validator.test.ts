import { describe, expect, it } from "vitest";
import { RESOURCES } from "../resources/index.ts";
import { type AnyOperation, listSuccesses } from "./operation.ts";
import { makeAjv, toValidator } from "./validator.ts";

const OPERATIONS = RESOURCES.flatMap(({ operations }) => operations);

function listSchemas(operation: AnyOperation): object[] {
  const { params, query, body } = operation;
  const ofBody = body?.kind === "json" ? body.schema : body?.kind === "multipart" ? body.fields : undefined;
  const answers = listSuccesses(operation).map(({ schema }) => schema);
  return [params, query, ofBody, ...answers].filter((schema) => schema !== undefined) as object[];
}

describe("declared schemas", () => {
  it("are valid schemas, which the server assumes without checking [2]", () => {
    const ajv = makeAjv({ validateSchema: true });
    for (const operation of OPERATIONS) {
      for (const schema of listSchemas(operation))
        expect(ajv.validateSchema(schema), `${operation.id}: ${JSON.stringify(ajv.errors)}`).toBe(true);
    }
    expect(ajv.validateSchema({ type: "text" })).toBe(false);
  });

  it("take multiples of a fraction, which binary numbers cannot represent exactly [interfaces 18]", () => {
    const isPrice = toValidator({ type: "number", multipleOf: 0.01 });
    for (const price of [19.99, 0.07, 4.35, 1_234_567.89]) expect(isPrice(price), String(price)).toBe(true);
    for (const price of [0.015, 19.991]) expect(isPrice(price), String(price)).toBe(false);
  });

  it("may name the same body in several places [2]", () => {
    const body = { $id: "Named", type: "object", required: ["id"] };
    const list = { type: "array", items: body };
    expect([toValidator(body)({ id: 1 }), toValidator(list)([{}]), toValidator(list)([{ id: 1 }])]).toEqual([
      true,
      false,
      true,
    ]);
    expect(toValidator(body)).toBe(toValidator(body));
  });
});
