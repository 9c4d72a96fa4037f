import { describe, expect, it } from "vitest";
import { compile } from "../../../test/support/openapi/compile-notes.ts";
import { makeAjv } from "../../engine/contract/validator.ts";
import { copyDescribedParts } from "./described-operation.ts";
import { SchemaComponents } from "./openapi-document.ts";

/** A validator for the answer of a user's operation, from its schema in the server's OpenAPI 3.1 document. */
function validateAs(version: string, schema: string) {
  const { operations } = compile(`openapi: ${version}
info: { title: t, version: "1" }
paths:
  /v1/a: { get: { responses: { "200": { description: d, content: { application/json: { schema: ${schema} } } } } } }
components: { schemas: { Size: { type: integer }, a b: { type: string }, a_20b: { type: integer } } }
`);
  const userComponents = { documents: [], components: {}, names: new Map<string, string>() };
  const components = { schemas: new SchemaComponents(), responses: {}, userComponents };
  const { responses } = copyDescribedParts(operations[0]!, components) as {
    responses: { 200: { content: { "application/json": { schema: object } } } };
  };
  const copied = responses[200].content["application/json"].schema;
  return makeAjv().compile({ ...copied, components: userComponents.components });
}

it("the server's document has the examples of a user's document as they are, and converts the schemas beside them [interfaces 18]", () => {
  const column = { name: "a", nullable: true, minimum: 1, exclusiveMinimum: true, allOf: [], type: null };
  const { operations } = compile(`openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /v1/a:
    get:
      responses:
        "204": { description: d }
        default:
          description: d
          content:
            application/json:
              schema: { properties: { default: { type: string, nullable: true }, example: { type: [string, null] } } }
              example: ${JSON.stringify(column)}
`);
  const userComponents = { documents: [], components: {}, names: new Map<string, string>() };
  const components = { schemas: new SchemaComponents(), responses: {}, userComponents };
  const copied = copyDescribedParts(operations[0]!, components) as {
    responses: { default: { content: object } };
  };
  expect(copied.responses.default.content).toEqual({
    "application/json": {
      schema: {
        properties: { default: { type: ["string", "null"] }, example: { type: ["string", "null"] } },
      },
      example: column,
    },
  });
});

it("the server's document maps the values of a discriminator to the components as it names them [interfaces 18]", () => {
  const { operations } = compile(`openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /v1/a:
    get:
      responses:
        "200":
          description: d
          content:
            application/json:
              schema:
                oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }, { $ref: "#/components/schemas/Fox" }]
                discriminator: { propertyName: kind, mapping: { c: "#/components/schemas/Cat", d: Dog } }
components:
  schemas:
    Cat: { type: object, properties: { kind: { type: string } } }
    Dog: { type: object, properties: { kind: { type: string } } }
    Fox: { type: object, properties: { kind: { type: string } } }
`);
  const userComponents = { documents: [], components: {}, names: new Map<string, string>() };
  const components = { schemas: new SchemaComponents(), responses: {}, userComponents };
  const { responses } = copyDescribedParts(operations[0]!, components) as {
    responses: { 200: { content: { "application/json": { schema: { discriminator: object } } } } };
  };
  expect(responses[200].content["application/json"].schema.discriminator).toEqual({
    propertyName: "kind",
    mapping: {
      c: "#/components/schemas/Own1.Cat",
      d: "#/components/schemas/Own1.Dog",
      Fox: "#/components/schemas/Own1.Fox",
    },
  });
});

describe("the server's document, which is OpenAPI 3.1, describes the values that a user's document allows", () => {
  it.each([
    ["a nullable text", "3.0.3", "{ type: string, nullable: true }", null, true],
    ["a text", "3.0.3", "{ type: string, nullable: false }", null, false],
    ["a nullable enum", "3.0.3", "{ type: string, enum: [a], nullable: true }", null, true],
    ["a nullable allOf", "3.0.3", "{ nullable: true, allOf: [{ type: string }] }", null, true],
    ["a nullable reference", "3.0.3", '{ nullable: true, $ref: "#/components/schemas/Size" }', null, true],
    ["an exclusive bound", "3.0.3", "{ type: integer, minimum: 1, exclusiveMinimum: true }", 1, false],
    ["an inclusive bound", "3.0.3", "{ type: integer, maximum: 1, exclusiveMaximum: false }", 1, true],
    ["keywords beside a reference", "3.1.0", '{ maximum: 5, $ref: "#/components/schemas/Size" }', 6, false],
    [
      "keywords that a reference hides in 3.0",
      "3.0.3",
      '{ maximum: 5, $ref: "#/components/schemas/Size" }',
      6,
      true,
    ],
    ["a list without an alternative", "3.0.3", "{ oneOf: [] }", 1, true],
    [
      "components whose names differ in odd characters only",
      "3.1.0",
      '{ properties: { x: { $ref: "#/components/schemas/a%20b" }, y: { $ref: "#/components/schemas/a_20b" } } }',
      { x: "text", y: 1 },
      true,
    ],
  ])("%s of %s [interfaces 18]", (_, version, schema, value, fits) => {
    expect(validateAs(version, schema)(value)).toBe(fits);
  });
});
