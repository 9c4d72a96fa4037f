import { afterEach, expect, it } from "vitest";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

const open: ServedDocument[] = [];
afterEach(async () => {
  for (const { understudy } of open.splice(0)) await understudy.close();
});

const makeContent = (schema: string) => `content: { application/json: { schema: ${schema} } }`;
const NOTE = '{ $ref: "#/components/schemas/Note" }';
const BODY = "{ type: object, properties: { text: { type: string }, created_at: { type: string } } }";

function openDocument(text: string, bindings?: string): ServedDocument {
  const served = serveDocument(text, bindings);
  open.push(served);
  return served;
}

/**
 * Serves a document with a list and a single path. Only the record's schema gives times a format, the request body's
 * does not.
 */
function serve({ list, single }: { list: string; single: string }, bindings?: string): ServedDocument {
  return openDocument(
    `openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  ${list}:
    get: { operationId: list, responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${NOTE} }`)} } } }
    post: { operationId: add, requestBody: { required: true, ${makeContent(BODY)} }, responses: { "201": { description: d, headers: { Location: { schema: { type: string } } }, ${makeContent(NOTE)} } } }
  ${single}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: get, responses: { "200": { description: d, ${makeContent(NOTE)} } } }
    patch: { operationId: change, requestBody: { required: true, ${makeContent(BODY)} }, responses: { "200": { description: d, ${makeContent(NOTE)} } } }
components: { schemas: { Note: { type: object, required: [id, created_at], properties: { id: { type: integer, readOnly: true }, text: { type: string }, created_at: { type: string, format: date-time } } } } }
`,
    bindings,
  );
}

const PATHS = { list: "/notes", single: "/notes/{id}" };

it("a text that is not a time is not stored as the time of a record without bindings [interfaces 18]", async () => {
  const { send } = serve(PATHS);
  const created = await send("POST", "/notes", { body: { text: "a", created_at: "yesterday" } });
  expect([created.status, created.body]).toEqual([
    201,
    { id: 1, text: "a", created_at: "2026-03-15T12:00:00.000Z" },
  ]);
  const changed = await send("PATCH", "/notes/1", { body: { text: "b", created_at: "2026-03-01 10:00" } });
  expect([changed.status, changed.body]).toEqual([200, { ...created.body, text: "b" }]);
});

it.each([
  "{ type: string, format: date-time }",
  "{ anyOf: [{ type: string, format: date-time }, { type: null }] }",
])("a date is stored as the time %s of a record without bindings [interfaces 18]", async (due) => {
  const task = '{ $ref: "#/components/schemas/Task" }';
  const body = "{ type: object, properties: { due: { type: string } } }";
  const { send } = openDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /tasks:
    get: { responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${task} }`)} } } }
    post: { requestBody: { required: true, ${makeContent(body)} }, responses: { "201": { description: d, ${makeContent(task)} } } }
  /tasks/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { responses: { "200": { description: d, ${makeContent(task)} } } }
components: { schemas: { Task: { type: object, required: [id], properties: { id: { type: integer, readOnly: true }, due: ${due} } } } }
`);
  const add = async (sent: string) => (await send("POST", "/tasks", { body: { due: sent } })).body;
  expect(await add("2026-04-01")).toEqual({ id: 1, due: "2026-04-01T00:00:00.000Z" });
  expect(await add("2026-04-01T10:00:00+02:00")).toEqual({ id: 2, due: "2026-04-01T10:00:00+02:00" });
  expect(await add("soon")).toEqual({ id: 3 });
});

it("a part of an object changes only that part of a record without bindings [interfaces 18]", async () => {
  const shop = '{ $ref: "#/components/schemas/Shop" }';
  const toAddress = (required: string) =>
    `{ type: object, required: [${required}], properties: { city: { type: string }, country: { type: string } } }`;
  const toBody = (required: string) => `{ type: object, properties: { address: ${toAddress(required)} } }`;
  const { send } = openDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /shops:
    get: { responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${shop} }`)} } } }
    post: { requestBody: { required: true, ${makeContent(toBody("city, country"))} }, responses: { "201": { description: d, ${makeContent(shop)} } } }
  /shops/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { responses: { "200": { description: d, ${makeContent(shop)} } } }
    patch: { requestBody: { required: true, ${makeContent(toBody(""))} }, responses: { "200": { description: d, ${makeContent(shop)} } } }
components: { schemas: { Shop: { type: object, required: [id], properties: { id: { type: integer, readOnly: true }, address: ${toAddress("city, country")} } } } }
`);
  await send("POST", "/shops", { body: { address: { city: "Bern", country: "CH" } } });
  const changed = await send("PATCH", "/shops/1", { body: { address: { city: "Basel" } } });
  expect(changed.body).toEqual({ id: 1, address: { city: "Basel", country: "CH" } });
});

it("a time of a bound record that is refused is named [interfaces 18]", async () => {
  const bindings =
    'openapi: a.yaml\ncollections: { memos: { schema: "#/components/schemas/Note" } }\noperations: { add: { create: memos } }\n';
  const { send } = serve(PATHS, bindings);
  const { status, body } = await send("POST", "/notes", { body: { created_at: "yesterday" } });
  expect([status, body.error.message]).toEqual([422, "created_at must be an ISO 8601 timestamp"]);
});

it.each([
  ["/notes", "/notes/{id}", "/notes/1"],
  ["/notes/", "/notes/{id}/", "/notes/1/"],
  ["/notes/", "/notes/{id}", "/notes/1"],
])("Location of a record of %s and %s is its URL [interfaces 18]", async (list, single, address) => {
  const { send } = serve({ list, single });
  const { headers } = await send("POST", list, { body: { text: "a" } });
  expect(headers.get("location")).toBe(`http://x.test${address}`);
});

it.each(["additionalProperties: false", "unevaluatedProperties: false"])(
  "fields that a record with %s cannot have are dropped [interfaces 18]",
  async (closed) => {
    const user = '{ $ref: "#/components/schemas/User" }';
    const body =
      "{ type: object, required: [password], properties: { name: { type: string }, password: { type: string } } }";
    const { send } = openDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /people:
    get: { responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${user} }`)} } } }
    post: { requestBody: { required: true, ${makeContent(body)} }, responses: { "201": { description: d, ${makeContent(user)} } } }
  /people/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { responses: { "200": { description: d, ${makeContent(user)} } } }
    patch: { requestBody: { required: true, ${makeContent("{ type: object, properties: { name: { type: string } } }")} }, responses: { "200": { description: d, ${makeContent(user)} } } }
components: { schemas: { User: { type: object, ${closed}, required: [id], properties: { id: { type: integer, readOnly: true }, name: { type: string } } } } }
`);
    const created = await send("POST", "/people", { body: { name: "Ada", password: "secret" } });
    expect([created.status, created.body]).toEqual([201, { id: 1, name: "Ada" }]);
    const changed = await send("PATCH", "/people/1", { body: { name: "Bob", unknown: 1 } });
    expect([changed.status, changed.body]).toEqual([200, { id: 1, name: "Bob" }]);
  },
);

it("a record of one of several forms without a discriminator is complete [interfaces 18]", async () => {
  const event = '{ oneOf: [{ $ref: "#/components/schemas/Call" }, { $ref: "#/components/schemas/Visit" }] }';
  const toForm = (kind: number, field: string) =>
    `{ type: object, required: [id, kind, ${field}, created_at], properties: { id: { type: integer, readOnly: true }, kind: { enum: [${kind}] }, ${field}: { type: string }, created_at: { type: string, format: date-time, readOnly: true } } }`;
  const { send } = openDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /events:
    get: { responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${event} }`)} } } }
    post: { requestBody: { required: true, ${makeContent("{ type: object, properties: { kind: { type: integer } } }")} }, responses: { "201": { description: d, ${makeContent(event)} } } }
  /events/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { responses: { "200": { description: d, ${makeContent(event)} } } }
components: { schemas: { Call: ${toForm(1, "number")}, Visit: ${toForm(2, "address")} } }
`);
  const at = "2026-03-15T12:00:00.000Z";
  expect((await send("POST", "/events", { body: { kind: 2 } })).body).toEqual({
    id: 1,
    kind: 2,
    address: expect.any(String),
    created_at: at,
  });
  expect((await send("POST", "/events", { body: {} })).body).toEqual({
    id: 2,
    kind: 1,
    number: expect.any(String),
    created_at: at,
  });
});

it.each([
  ["{ type: integer }", 0],
  ["{ type: string, format: uuid }", "00000000-0000-0000-0000-000000000000"],
  ["{ type: string }", ""],
])(
  "a new record with an id %s gets one in place of %j, which stands for none [interfaces 18]",
  async (id, none) => {
    const item = '{ $ref: "#/components/schemas/Item" }';
    const { send } = openDocument(`openapi: 3.0.1
info: { title: t, version: "1" }
paths:
  /items:
    get: { responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${item} }`)} } } }
    post: { requestBody: { ${makeContent(item)} }, responses: { "200": { description: d, ${makeContent(item)} } } }
  /items/{id}:
    parameters: [{ name: id, in: path, required: true, schema: ${id} }]
    get: { responses: { "200": { description: d, ${makeContent(item)} } } }
components: { schemas: { Item: { type: object, properties: { id: ${id}, name: { type: string } } } } }
`);
    const add = async (name: string) => (await send("POST", "/items", { body: { id: none, name } })).body;
    const [first, second] = [await add("a"), await add("b")];
    expect([first.name, second.name]).toEqual(["a", "b"]);
    expect(new Set([none, first.id, second.id]).size).toBe(3);
    expect((await send("GET", `/items/${first.id}`)).body).toEqual(first);
  },
);

it("a replacement keeps what its body cannot have, and null stands for nothing [interfaces 18]", async () => {
  const item = '{ $ref: "#/components/schemas/Item" }';
  const Text = "{ type: string }";
  const body = `{ type: object, properties: { title: { anyOf: [${Text}, { type: "null" }] }, note: ${Text}, url: { type: [string, "null"] } } }`;
  const { send } = openDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /items/:
    get: { responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${item} }`)} } } }
    post: { requestBody: { ${makeContent(body)} }, responses: { "200": { description: d, ${makeContent(item)} } } }
  /items/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string, format: uuid } }]
    get: { responses: { "200": { description: d, ${makeContent(item)} } } }
    put: { requestBody: { ${makeContent(body)} }, responses: { "200": { description: d, ${makeContent(item)} } } }
    patch: { requestBody: { ${makeContent(body)} }, responses: { "200": { description: d, ${makeContent(item)} } } }
components: { schemas: { Item: { type: object, required: [id, title, owner_id], properties: { id: { type: string, format: uuid }, title: ${Text}, note: ${Text}, url: { type: [string, "null"] }, owner_id: { type: string, format: uuid } } } } }
`);
  const { body: created } = await send("POST", "/items/", { body: { title: "a", note: "b" } });
  const { id, owner_id } = created;
  const replaced = await send("PUT", `/items/${id}`, { body: { title: "c" } });
  expect([replaced.status, replaced.body]).toEqual([200, { id, title: "c", owner_id }]);
  const changed = await send("PATCH", `/items/${id}`, { body: { title: null, note: "d" } });
  expect([changed.status, changed.body]).toEqual([200, { id, title: "c", note: "d", owner_id }]);
  const again = await send("POST", "/items/", { body: { title: null } });
  expect([again.status, again.body.title]).toEqual([200, expect.any(String)]);
  const cleared = await send("PATCH", `/items/${id}`, { body: { url: null } });
  expect([cleared.status, cleared.body.url]).toEqual([200, null]);
});

it.each(["{ type: object, properties: {} }", "{ type: object }", "{}"])(
  "a body %s, as NestJS and Huma describe one, changes a record [interfaces 18]",
  async (body) => {
    const cat = '{ $ref: "#/components/schemas/Cat" }';
    const { send } = openDocument(`openapi: 3.0.0
info: { title: t, version: "1" }
paths:
  /cats:
    get: { responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${cat} }`)} } } }
    post: { requestBody: { required: true, ${makeContent(body)} }, responses: { "201": { description: d, ${makeContent(cat)} } } }
  /cats/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: { responses: { "200": { description: d, ${makeContent(cat)} } } }
    patch: { requestBody: { required: true, ${makeContent(body)} }, responses: { "200": { description: d, ${makeContent(cat)} } } }
components: { schemas: { Cat: { type: object, required: [id, name], properties: { id: { type: string }, name: { type: string }, age: { type: integer } } } } }
`);
    const { body: created } = await send("POST", "/cats", { body: { name: "Tom", age: 1 } });
    const changed = await send("PATCH", `/cats/${created.id}`, { body: { age: 2 } });
    expect(changed.body).toEqual({ id: created.id, name: "Tom", age: 2 });
    expect((await send("GET", `/cats/${created.id}`)).body).toEqual(changed.body);
    for (const age of [true, "old"]) {
      const refused = await send("PATCH", `/cats/${created.id}`, { body: { age } });
      expect([refused.status, refused.body.error.message]).toEqual([422, "age must be integer"]);
    }
  },
);

it("a value alone is stored as the part of the object that a record without bindings has [interfaces 18]", async () => {
  const makeFields = (status: string, site: string) =>
    `{ type: object, properties: { id: { type: integer, readOnly: true }, status: ${status}, site: ${site}, tag: ${site} } }`;
  const device = makeFields(
    "{ type: object, required: [value, label], properties: { value: { type: string, enum: [active, planned] }, label: { type: string } } }",
    "{ type: object, required: [id, name], properties: { id: { type: integer }, name: { type: string } } }",
  );
  const sent = makeFields("{ type: string }", "{ oneOf: [{ type: integer }, { type: string }] }").replace(
    "{ id: { type: integer, readOnly: true }, ",
    "{ ",
  );
  const { send } = openDocument(`openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /devices:
    get: { operationId: list, parameters: [{ name: status, in: query, schema: { type: string } }], responses: { "200": { description: d, ${makeContent(`{ type: array, items: ${device} }`)} } } }
    post: { operationId: add, requestBody: { required: true, ${makeContent(sent)} }, responses: { "201": { description: d, ${makeContent(device)} } } }
  /devices/{id}:
    get: { operationId: get, responses: { "200": { description: d, ${makeContent(device)} } } }
    patch: { operationId: change, requestBody: { required: true, ${makeContent(sent)} }, responses: { "200": { description: d, ${makeContent(device)} } } }
`);
  const text = expect.any(String);
  const made = await send("POST", "/devices", { body: { status: "planned", site: 3, tag: "new" } });
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: 1,
      status: { value: "planned", label: text },
      site: { id: 3, name: text },
      tag: { id: expect.any(Number), name: "new" },
    },
  ]);
  const changed = await send("PATCH", "/devices/1", { body: { status: "active" } });
  expect(changed.body).toEqual({ ...made.body, status: { ...made.body.status, value: "active" } });
  expect((await send("GET", "/devices?status=active")).body).toEqual([changed.body]);
  expect((await send("GET", "/devices?status=planned")).body).toEqual([]);
  const unknown = await send("PATCH", "/devices/1", { body: { status: "lost" } });
  expect(unknown.body).toEqual(changed.body);
});
