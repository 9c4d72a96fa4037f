import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, expect, it } from "vitest";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

const open: ServedDocument[] = [];
afterEach(async () => {
  for (const { understudy } of open.splice(0)) await understudy.close();
});

const makeContent = (schema: string) => `content: { application/json: { schema: ${schema} } }`;
const PET = '{ $ref: "#/components/schemas/Pet" }';
const describePets = (key: string) => `openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /pets:
    get: { operationId: list, responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${PET} }`)} } } }
    post: { operationId: add, requestBody: { required: true, ${makeContent(PET)} }, responses: { "201": { description: d, ${makeContent(PET)} } } }
  /pets/{petId}:
    parameters: [{ name: petId, in: path, required: true, schema: { type: integer } }]
    get: { operationId: get, responses: { "200": { description: d, ${makeContent(PET)} } } }
    patch: { operationId: change, requestBody: { ${makeContent("{ type: object, properties: { lives: { type: integer } } }")} }, responses: { "200": { description: d, ${makeContent(PET)} } } }
components:
  schemas:
    Pet:
      ${key}: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }]
      discriminator: { propertyName: kind, mapping: { cat: "#/components/schemas/Cat", dog: "#/components/schemas/Dog" } }
    Base: { type: object, required: [id, kind, name], properties: { id: { type: integer, readOnly: true }, kind: { type: string }, name: { type: string } } }
    Cat: { allOf: [{ $ref: "#/components/schemas/Base" }, { type: object, properties: { lives: { type: integer, maximum: 9, default: 9 } } }] }
    Dog: { allOf: [{ $ref: "#/components/schemas/Base" }, { type: object, required: [bark, tagged_at], properties: { bark: { type: string }, tagged_at: { type: string, format: date-time, readOnly: true } } }] }
`;

it.each(["oneOf", "anyOf"])("records of several forms (%s) are stored [interfaces 18]", async (key) => {
  const served = serveDocument(describePets(key));
  open.push(served);
  const cat = await served.send("POST", "/pets", { body: { kind: "cat", name: "Tom" } });
  expect([cat.status, cat.body]).toEqual([201, { id: 1, kind: "cat", name: "Tom", lives: 9 }]);
  const dog = await served.send("POST", "/pets", { body: { kind: "dog", name: "Rex", bark: "woof" } });
  const tagged_at = expect.stringMatching(/^2026-03-15T/);
  expect(dog.body).toEqual({ id: 2, kind: "dog", name: "Rex", bark: "woof", tagged_at });
  expect((await served.send("GET", "/pets/2")).body).toEqual(dog.body);
  expect((await served.send("GET", "/pets")).body).toEqual([dog.body, cat.body]);
  const changed = await served.send("PATCH", "/pets/1", { body: { lives: 8 } });
  expect(changed.body).toEqual({ ...cat.body, lives: 8 });
  const refused = await served.send("PATCH", "/pets/1", { body: { lives: 10 } });
  expect([refused.status, refused.body.error.details]).toEqual([422, { field: "lives", value: 10 }]);
});

it("a generated value of a recursive schema that can end is valid [interfaces 18]", async () => {
  const expression =
    '{ oneOf: [{ type: object, required: [op, args], properties: { op: { enum: [add] }, args: { type: array, minItems: 2, items: { $ref: "#/components/schemas/Expression" } } } }, { type: number }] }';
  const served = serveDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /expression: { get: { operationId: get, responses: { "200": { description: d, ${makeContent('{ $ref: "#/components/schemas/Expression" }')} } } } }
components: { schemas: { Expression: ${expression} } }
`);
  open.push(served);
  const { body } = await served.send("GET", "/expression");
  expect(body).toEqual({ op: "add", args: [expect.any(Number), expect.any(Number)] });
});

it.each([
  "{ type: integer, readOnly: true }",
  "{ type: string, format: uuid, readOnly: true }",
  "{ type: string, readOnly: true }",
])("a list of records with ids %s is newest first [interfaces 18]", async (id) => {
  const note = '{ $ref: "#/components/schemas/Note" }';
  const served = serveDocument(`openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /notes:
    get: { operationId: list, responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${note} }`)} } } }
    post: { operationId: add, requestBody: { required: true, ${makeContent(note)} }, responses: { "201": { description: d, ${makeContent(note)} } } }
  /notes/{id}:
    get: { operationId: get, parameters: [{ name: id, in: path, required: true, schema: { type: string } }], responses: { "200": { description: d, ${makeContent(note)} } } }
components: { schemas: { Note: { type: object, required: [id, created_at], properties: { id: ${id}, n: { type: integer }, created_at: { type: string, format: date-time, readOnly: true } } } } }
`);
  open.push(served);
  for (let n = 1; n <= 12; n++) await served.send("POST", "/notes", { body: { n } });
  const { body } = await served.send("GET", "/notes");
  expect(body.map(({ n }: { n: number }) => n)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect(new Set(body.map((one: { id: unknown }) => one.id)).size).toBe(12);
});

it("a refusal names the only value that a field may have [G08]", async () => {
  const kind = "{ type: object, properties: { kind: { const: note } } }";
  const served = serveDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths: { /notes: { post: { operationId: add, requestBody: { ${makeContent(kind)} }, responses: { "204": { description: d } } } } }
`);
  open.push(served);
  const { status, body } = await served.send("POST", "/notes", { body: { kind: "memo" } });
  expect([status, body.error.message]).toEqual([422, 'kind must be "note"']);
});

it("a property may have a name that every JavaScript object has [interfaces 18]", async () => {
  const item =
    "{ type: object, required: [id, constructor, toString], properties: { id: { type: integer, readOnly: true }, constructor: { type: integer }, toString: { type: string } } }";
  const served = serveDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /one: { get: { operationId: one, responses: { "200": { description: d, ${makeContent(item)} } } } }
  /things:
    get: { operationId: list, responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${item} }`)} } } }
    post: { operationId: add, requestBody: { ${makeContent("{ type: object }")} }, responses: { "201": { description: d, ${makeContent(item)} } } }
`);
  open.push(served);
  const types = { id: expect.any(Number), constructor: expect.any(Number), toString: expect.any(String) };
  expect((await served.send("GET", "/one")).body).toEqual(types);
  expect((await served.send("POST", "/things", { body: {} })).body).toEqual(types);
});

const OVERLAPPING: [name: string, schema: object][] = [
  [
    "with one of two fields",
    {
      properties: { url: { type: "string" }, text: { type: "string" } },
      oneOf: [{ required: ["url"] }, { required: ["text"] }],
    },
  ],
  [
    "of which the second accepts all of the first",
    {
      oneOf: [
        {
          type: "object",
          required: ["name", "bark"],
          properties: { name: { type: "string" }, bark: { type: "string" } },
        },
        { type: "object", required: ["name"], properties: { name: { type: "string" } } },
      ],
    },
  ],
  ["of integers and numbers", { oneOf: [{ type: "integer" }, { type: "number" }] }],
  [
    "of which the second accepts what the first leaves optional",
    {
      oneOf: [
        { type: "object", properties: { id: { type: "string" }, name: { type: "string" } } },
        { type: "object", required: ["name"], properties: { name: { type: "string" } } },
      ],
    },
  ],
];

it.each(OVERLAPPING)(
  "a generated value is valid for exactly one of several forms %s [interfaces 18]",
  async (_, form) => {
    const schema = {
      type: "array",
      minItems: 1,
      items: { type: "object", required: ["part"], properties: { part: form } },
    };
    const served = serveDocument(
      JSON.stringify({
        openapi: "3.1.0",
        info: { title: "t", version: "1" },
        paths: {
          "/parts": {
            get: { responses: { "200": { description: "d", content: { "application/json": { schema } } } } },
          },
        },
      }),
    );
    open.push(served);
    const { status, body } = await served.send("GET", "/parts");
    const validate = new Ajv2020({ strict: false }).compile(schema);
    expect([status, validate(body), validate.errors]).toEqual([200, true, null]);
  },
);
