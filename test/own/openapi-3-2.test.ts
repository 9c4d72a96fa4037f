import { afterEach, expect, it } from "vitest";
import { compileDocument } from "../../src/documents/openapi/compile-document.ts";
import { openDocument } from "../../src/documents/openapi/open-document.ts";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

const open: ServedDocument[] = [];
afterEach(async () => {
  for (const { understudy } of open.splice(0)) await understudy.close();
});

const DOCUMENT = `openapi: 3.2.0
$self: https://api.example.test/openapi
info: { title: t, version: "1" }
tags: [{ name: pets, summary: Pets, kind: nav }, { name: cats, parent: pets }]
paths:
  /pets:
    query: { operationId: search, responses: { "200": { summary: Found } } }
    additionalOperations:
      COPY: { operationId: copy, responses: { "200": { description: d } } }
    get:
      operationId: listPets
      parameters: [{ name: selector, in: querystring, content: { application/jsonpath: { schema: { type: string } } } }]
      responses: { "200": { content: { application/json: { $ref: "#/components/mediaTypes/Pets" } } } }
    post:
      operationId: addPet
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } }
      responses: { "200": { content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } } }
  /first:
    get:
      operationId: first
      responses: { "200": { content: { application/json: { examples: { a: { dataValue: { kind: cat } } } } } } }
  /second:
    get:
      operationId: second
      responses: { "200": { content: { application/json: { schema: { type: object }, examples: { a: { serializedValue: '{"kind":"dog"}' } } } } } }
  /events:
    get:
      operationId: watch
      responses: { "200": { content: { text/event-stream: { itemSchema: { $ref: "#/components/schemas/Pet" } } } } }
components:
  mediaTypes:
    Pets: { schema: { type: array, minItems: 1, items: { $ref: "#/components/schemas/Pet" } } }
  schemas:
    Pet:
      oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Other" }]
      discriminator: { propertyName: kind, defaultMapping: Other, mapping: { cat: Cat } }
    Cat: { type: object, required: [kind, lives], properties: { kind: { const: cat }, lives: { type: integer } } }
    Other: { type: object, required: [kind], properties: { kind: { type: string, not: { const: cat } } } }
`;

it("a document of OpenAPI 3.2 is served, and what is not supported is listed [interfaces 18]", async () => {
  const document = openDocument(DOCUMENT, "a.yaml");
  const { warnings } = compileDocument(document, { available: { resources: [], events: [] } });
  expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
    "7 not supported: operations with the method QUERY (they are not served)",
    "9 not supported: operations with the method COPY (they are not served)",
    "12 not supported: a parameter of the whole query string (it is not read)",
    "29 not supported: an answer in text/event-stream without a text as its example (its body is empty)",
  ]);
  const served = serveDocument(DOCUMENT);
  open.push(served);
  const { status, body } = await served.send("GET", "/pets");
  expect([status, body[0]]).toEqual([200, { kind: "cat", lives: expect.any(Number) }]);
  expect((await served.send("GET", "/first")).body).toEqual({ kind: "cat" });
  expect((await served.send("GET", "/second")).body).toEqual({ kind: "dog" });
  const send = async (sent: object) => (await served.send("POST", "/pets", { body: sent })).status;
  expect([
    await send({ kind: "cat", lives: 9 }),
    await send({ kind: "eel" }),
    await send({ kind: "cat" }),
  ]).toEqual([200, 200, 422]);
  const described = await served.understudy.fetch(new Request("http://x.test/_control/openapi.json"));
  const text = await described.text();
  expect(text).not.toContain("mediaTypes");
});
