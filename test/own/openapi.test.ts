import { afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createSandbox } from "../../src/client/engine.ts";
import { defineOperation } from "../../src/client/operations.ts";
import { openDocument } from "../../src/documents/openapi/open-document.ts";
import { toOperationSource } from "../../src/documents/openapi/openapi-source.ts";
import { assemble } from "../../src/understudy.ts";
import { type ServedDocument, sendTo, serveDocument } from "../support/own/serve-document.ts";

const open: ServedDocument[] = [];

function serve(text: string, bindings?: string): ServedDocument {
  const served = serveDocument(text, bindings);
  open.push(served);
  return served;
}

afterEach(async () => {
  for (const { understudy } of open.splice(0)) await understudy.close();
});

const makeDocument = (paths: string, { version = "3.1.0", more = "" } = {}) =>
  `openapi: ${version}\ninfo: { title: t, version: "1" }\n${more}\npaths:\n${paths}`;
const makeJson = (schema: string) =>
  `{ description: d, content: { application/json: { schema: ${schema} } } }`;
const get = (path: string, schema: string, more = "") =>
  `  ${path}:\n    get: { operationId: get, ${more} responses: { "200": ${makeJson(schema)} } }\n`;
const post = (schema: string, more = "") =>
  `  /v1/things:\n    post: { operationId: post, requestBody: { required: true, content: { application/json: { schema: ${schema} } } }, ${more} responses: { "201": { description: d } } }\n`;

it("a change in the history has an operation's summary as its title, else its method and path [interfaces 18]", async () => {
  const answer = makeJson('{ $ref: "#/components/schemas/Any" }');
  const create = (path: string, id: string, summary: string) =>
    `  ${path}:\n    post: { operationId: ${id}, ${summary} responses: { "201": ${answer} } }\n`;
  const { send, understudy } = serve(
    makeDocument(
      create("/v1/notes", "createNote", "summary: Create a note., ") + create("/v1/tags", "createTag", ""),
      {
        more: "components: { schemas: { Any: { type: object, properties: { id: { type: string } } } } }",
      },
    ),
    "openapi: openapi.yaml\noperations: { createNote: { create: notes }, createTag: { create: tags } }\ncollections: { notes: { schema: '#/components/schemas/Any' }, tags: { schema: '#/components/schemas/Any' } }\n",
  );
  const titles = [];
  for (const path of ["/v1/notes", "/v1/tags"]) {
    expect((await send("POST", path, { body: {} })).status).toBe(201);
    titles.push(understudy.sandboxes.get("default")!.history.newest!.title);
  }
  expect(titles).toEqual(["usr_dan: Create a note.", "usr_dan: POST /v1/tags."]);
});

it("an edit that renames an operation ends its derived scenario with a warning, and resets and other scenarios work on [interfaces 18]", async () => {
  const text = makeDocument(get("/v1/thing", "{ type: object }"));
  const warnings: unknown[] = [];
  const log = { warn: (sentence: unknown) => warnings.push(sentence), error() {} } as never;
  const operations = [
    toOperationSource({ document: openDocument(text, "openapi.yaml"), bindings: undefined }),
  ];
  const understudy = assemble({ operations, log });
  const send = sendTo(understudy);
  open.push({ understudy, send });
  const { faults } = understudy.sandboxes.get("default")!;
  faults.setInitialScenarios(["get-invalid-input", "slow-network"]);
  expect((await send("GET", "/v1/thing")).status).toBe(422);
  const document = openDocument(text.replace("operationId: get", "operationId: read"), "openapi.yaml");
  understudy.setOperations([toOperationSource({ document, bindings: undefined })]);
  expect(faults.rules.scenarios).toEqual(["slow-network"]);
  expect(warnings).toEqual([
    "The scenario get-invalid-input was active in sandbox default, but no longer exists.",
  ]);
  expect((await send("POST", "/_control/sandboxes/default/reset", { body: {} })).status).toBe(200);
  expect(faults.rules.scenarios).toEqual(["slow-network"]);
});

it("a header with the name of a query parameter does not filter a list [interfaces 18]", async () => {
  const { send } = serve(
    makeDocument(
      `  /v1/tags:
    get:
      operationId: listTags
      parameters:
        - { name: color, in: query, schema: { type: string } }
        - { name: color, in: header, schema: { type: string } }
      responses: { "200": { description: d, content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Tag" } } } } } }
    post:
      operationId: createTag
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Tag" } } } }
      responses: { "201": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/Tag" } } } } }
`,
      {
        more: "components: { schemas: { Tag: { type: object, properties: { id: { type: string }, color: { type: string } } } } }",
      },
    ),
    "openapi: openapi.yaml\noperations: { listTags: { list: tags }, createTag: { create: tags } }\ncollections: { tags: { schema: '#/components/schemas/Tag', prefix: tag_ } }\n",
  );
  await send("POST", "/v1/tags", { body: { color: "red" } });
  const listTags = async (query: string, color: string) =>
    (await send("GET", `/v1/tags${query}`, { headers: { color } })).body.length;
  expect([
    await listTags("", "blue"),
    await listTags("?color=red", "blue"),
    await listTags("?color=blue", "red"),
  ]).toEqual([1, 1, 0]);
});

it("a list is filtered by an item of a list, which may be an object or a number [interfaces 18]", async () => {
  const issue = 'content: { application/json: { schema: { $ref: "#/components/schemas/Issue" } } }';
  const { send } = serve(
    makeDocument(
      `  /v1/issues:
    get:
      operationId: list
      parameters:
        - { name: labels, in: query, schema: { type: string } }
        - { name: points, in: query, schema: { type: string } }
      responses: { "200": { description: d, content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Issue" } } } } } }
    post: { operationId: add, requestBody: { ${issue} }, responses: { "201": { description: d, ${issue} } } }
`,
      {
        more: "components: { schemas: { Issue: { type: object, required: [id], properties: { id: { type: integer, readOnly: true }, labels: { type: array, items: { type: object, properties: { name: { type: string } } } }, points: { type: array, items: { type: integer } } } } } }",
      },
    ),
    "openapi: openapi.yaml\noperations: { list: { list: issues }, add: { create: issues } }\ncollections: { issues: { schema: '#/components/schemas/Issue' } }\n",
  );
  await send("POST", "/v1/issues", { body: { labels: [{ name: "new" }, { name: "bug" }], points: [3, 5] } });
  await send("POST", "/v1/issues", { body: { labels: [{ name: "docs" }], points: [8] } });
  const list = async (query: string) =>
    (await send("GET", `/v1/issues?${query}`)).body.map(({ id }: { id: number }) => id);
  expect([await list("labels=bug"), await list("points=5"), await list("points=1")]).toEqual([[1], [1], []]);
});

it("a list is filtered by instants in any offset, by several owners, and by the absence of one [interfaces 18]", async () => {
  const task = 'content: { application/json: { schema: { $ref: "#/components/schemas/Task" } } }';
  const tasks =
    'content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Task" } } } }';
  const { send } = serve(
    makeDocument(
      `  /v1/tasks:
    get:
      operationId: list
      parameters:
        - { name: created_at, in: query, schema: { type: string, format: date-time } }
        - { name: parent_id, in: query, schema: { type: array, items: { type: string } } }
      responses: { "200": { description: d, ${tasks} } }
    post: { operationId: add, requestBody: { ${task} }, responses: { "201": { description: d, ${task} } } }
  /v1/roots: { get: { operationId: roots, responses: { "200": { description: d, ${tasks} } } } }
  /v1/days/{created_at}:
    parameters: [{ name: created_at, in: path, required: true, schema: { type: string, format: date-time } }]
    get: { operationId: get, responses: { "200": { description: d, ${task} } } }
`,
      {
        more: 'components: { schemas: { Task: { type: object, required: [id, created_at], properties: { id: { type: string, readOnly: true }, parent_id: { type: [string, "null"] }, created_at: { type: string, format: date-time, readOnly: true } } } } }',
      },
    ),
    `openapi: openapi.yaml
operations:
  list: { list: tasks }
  add: { create: tasks }
  roots: { list: tasks, where: { parent_id: null } }
  get: { retrieve: tasks }
collections: { tasks: { schema: '#/components/schemas/Task', prefix: task_, belongs_to: { parent_id: tasks } } }
`,
  );
  const add = async (parent_id?: string) =>
    (await send("POST", "/v1/tasks", { body: { parent_id } })).body.id as string;
  const listIds = async (path: string) =>
    (await send("GET", path)).body.map(({ id }: { id: string }) => id).sort();
  const [first, second] = [await add(), await add()];
  const children = [await add(first), await add(second)].sort();
  expect(await listIds("/v1/roots")).toEqual([first, second].sort());
  expect(await listIds(`/v1/tasks?parent_id=${first}&parent_id=${second}`)).toEqual(children);
  await send("POST", "/_control/sandboxes/default/clock/advance", { body: { by: "1s" } });
  const later = await add();
  for (const at of ["2026-03-15T12:00:01.000Z", "2026-03-15T12:00:01Z", "2026-03-15T13:00:01%2B01:00"]) {
    expect(await listIds(`/v1/tasks?created_at=${at}`), at).toEqual([later]);
    expect((await send("GET", `/v1/days/${at}`)).body, at).toMatchObject({ id: later });
  }
  expect(await listIds("/v1/tasks?created_at=2026-03-15T12:00:02Z")).toEqual([]);
});

describe("an operation without a binding", () => {
  it("answers its example and says so", async () => {
    const { send } = serve(makeDocument(get("/v1/hello", "{ type: object, example: { a: 1 } }")));
    const { status, headers, body } = await send("GET", "/v1/hello");
    expect([status, headers.get("x-sandbox-decision"), body]).toEqual([200, "example", { a: 1 }]);
  });

  it("answers a value from the seed and says so", async () => {
    const schema =
      "{ type: object, required: [id, at], properties: { id: { type: string, format: uuid }, at: { type: string, format: date-time }, n: { type: integer, minimum: 5, maximum: 6 } } }";
    const text = makeDocument(
      get(
        "/v1/hello/{x}",
        schema,
        "parameters: [{ name: x, in: path, required: true, schema: { type: string } }],",
      ),
    );
    const [first, second] = [serve(text), serve(text)];
    const { headers, body } = await first.send("GET", "/v1/hello/a");
    expect(headers.get("x-sandbox-decision")).toBe("generated");
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: expect.stringMatching(/^2026-/),
      n: expect.toSatisfy((n) => n === 5 || n === 6),
    });
    expect((await second.send("GET", "/v1/hello/a")).body).toEqual(body);
    expect((await second.send("GET", "/v1/hello/b")).body).not.toEqual(body);
  });

  it("has each described header, from its example or schema, but none that would break the answer", async () => {
    const headers =
      '{ Location: { schema: { type: string } }, X-Left: { required: true, schema: { type: integer, minimum: 5, maximum: 6 } }, X-Mode: { schema: { enum: [fast] } }, X-Word: { example: word }, X-Examples: { examples: { one: { value: first } } }, Link: { schema: { type: string } }, Transfer-Encoding: { example: chunked }, Content-Encoding: { example: gzip }, X-RateLimit-Limit: { schema: { type: integer } }, X-Bad: { example: "a\\nb" } }';
    const { send } = serve(
      makeDocument(
        `  /v1/go:\n    get: { operationId: go, responses: { "302": { description: d, headers: ${headers} } } }\n`,
      ),
    );
    const answer = await send("GET", "/v1/go");
    expect(answer.status).toBe(302);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      location: expect.stringMatching(/^\/\d+$/),
      "x-left": expect.stringMatching(/^[56]$/),
      "x-mode": "fast",
      "x-word": "word",
      "x-examples": "first",
    });
    for (const name of ["link", "transfer-encoding", "content-encoding", "x-ratelimit-limit", "x-bad"])
      expect(answer.headers.has(name), name).toBe(false);
  });

  it("has described headers also with a bound answer, and a new record's Location", async () => {
    const readLocation = (status: string) =>
      `responses: { "${status}": { description: d, headers: { Location: { schema: { type: string } } } } }`;
    const more = "components: { schemas: { Tag: { type: object, properties: { id: { type: string } } } } }";
    const { send } = serve(
      makeDocument(
        `  /v1/go:\n    get: { operationId: go, ${readLocation("302")} }\n  /v1/tags:\n    post: { operationId: make, ${readLocation("201")} }\n`,
        { more },
      ),
      "openapi: openapi.yaml\noperations: { go: { answer: null }, make: { create: tags } }\ncollections: { tags: { schema: '#/components/schemas/Tag', prefix: tag_ } }\n",
    );
    expect((await send("GET", "/v1/go")).headers.get("location")).toMatch(/^\/\d+$/);
    const made = await send("POST", "/v1/tags", { body: {} });
    expect([made.status, made.headers.get("location")]).toEqual([
      201,
      expect.stringMatching(/\/v1\/tags\/tag_/),
    ]);
  });

  it("answers a finite value for a schema that refers to itself", async () => {
    const tree =
      makeDocument(get("/v1/tree", '{ $ref: "#/components/schemas/Tree" }')) +
      'components: { schemas: { Tree: { type: object, required: [name, children], properties: { name: { type: string }, children: { type: array, items: { $ref: "#/components/schemas/Tree" } }, parent: { $ref: "#/components/schemas/Tree" } } } } }\n';
    const { body } = await serve(tree).send("GET", "/v1/tree");
    expect(JSON.stringify(body).length).toBeLessThan(2000);
    expect(body).toEqual({ name: expect.any(String), children: [] });
  });

  it("has no body if the document describes none", async () => {
    const { send } = serve(
      makeDocument("  /v1/x:\n    delete: { responses: { '204': { description: d } } }\n"),
    );
    expect((await send("DELETE", "/v1/x")).status).toBe(204);
  });

  it("requires a credential only if the document does", async () => {
    const { send } = serve(
      makeDocument(
        `${get("/v1/free", "{ type: object }")}  /v1/closed:\n    get: { operationId: closed, security: [{ key: [] }], responses: { "200": ${makeJson("{ type: object }")} } }\n`,
      ),
    );
    expect((await send("GET", "/v1/free", { user: null })).status).toBe(200);
    expect((await send("GET", "/v1/closed", { user: null })).status).toBe(401);
    expect((await send("GET", "/v1/closed")).status).toBe(200);
  });
});

describe("a request is validated by the document", () => {
  const check = async (schema: string, body: unknown, version?: string) =>
    (
      await serve(makeDocument(post(schema), version === undefined ? {} : { version })).send(
        "POST",
        "/v1/things",
        { body },
      )
    ).status;

  it.each([
    [
      "null where 3.0 says nullable",
      "{ type: object, properties: { a: { type: string, nullable: true } } }",
      { a: null },
      201,
    ],
    ["null where 3.0 does not", "{ type: object, properties: { a: { type: string } } }", { a: null }, 422],
    [
      "a nullable enum",
      "{ type: object, properties: { a: { type: string, enum: [x], nullable: true } } }",
      { a: null },
      201,
    ],
    [
      "nullable beside allOf",
      "{ type: object, properties: { a: { nullable: true, allOf: [{ type: object }] } } }",
      { a: null },
      201,
    ],
    [
      "nullable beside a type and oneOf",
      "{ type: object, properties: { a: { type: object, nullable: true, oneOf: [{ required: [x] }, { required: [y] }] } } }",
      { a: null },
      201,
    ],
    [
      "nullable beside a type and anyOf",
      "{ type: object, properties: { a: { type: object, nullable: true, anyOf: [{ type: object }] } } }",
      { a: null },
      201,
    ],
    [
      "the bound itself, if it is exclusive",
      "{ type: object, properties: { a: { type: integer, minimum: 1, exclusiveMinimum: true } } }",
      { a: 1 },
      422,
    ],
    [
      "the bound itself, if it is not",
      "{ type: object, properties: { a: { type: integer, minimum: 1, exclusiveMinimum: false } } }",
      { a: 1 },
      201,
    ],
    [
      "without what only answers have",
      "{ type: object, required: [id, a], properties: { id: { type: string, readOnly: true }, a: { type: string } } }",
      { a: "x" },
      201,
    ],
    [
      "unknown fields of an open object",
      "{ type: object, properties: { a: { type: string } } }",
      { b: 1 },
      201,
    ],
    [
      "unknown fields of a closed one",
      "{ type: object, additionalProperties: false, properties: { a: { type: string } } }",
      { b: 1 },
      422,
    ],
    [
      "a format that only describes",
      "{ type: object, properties: { a: { type: string, format: phone } } }",
      { a: "x" },
      201,
    ],
    [
      "a pattern of other languages",
      '{ type: object, properties: { a: { type: string, pattern: "(?i)x" } } }',
      { a: "x" },
      201,
    ],
  ])("as described: %s", async (_, schema, body, status) => {
    expect(await check(schema, body, "3.0.3")).toBe(status);
  });

  const PETS = `{ oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }], discriminator: { propertyName: kind, mapping: { cat: "#/components/schemas/Cat", dog: Dog } } }`;
  const COMPONENTS = `components:
  schemas:
    Cat: { type: object, required: [kind, lives], properties: { kind: { type: string }, lives: { type: integer } } }
    Dog: { type: object, required: [kind], properties: { kind: { type: string }, lives: { type: integer } } }
`;

  it("by the schema that the discriminator selects, although both fit", async () => {
    const { send } = serve(makeDocument(post(PETS)) + COMPONENTS);
    expect((await send("POST", "/v1/things", { body: { kind: "cat", lives: 9 } })).status).toBe(201);
    const { status, body } = await send("POST", "/v1/things", { body: { kind: "cat" } });
    expect([status, body.error.details.field]).toEqual([422, "lives"]);
    const other = await send("POST", "/v1/things", { body: { kind: "bird" } });
    expect([other.status, other.body.error.details.field]).toEqual([422, "kind"]);
  });

  const query = async (parameter: string, search: string) => {
    const { send } = serve(makeDocument(get("/v1/list", "{ type: object }", `parameters: [${parameter}],`)));
    return (await send("GET", `/v1/list?${search}`)).status;
  };

  it.each([
    ["{ name: n, in: query, schema: { type: number } }", "n=1.5", 200],
    ["{ name: n, in: query, schema: { type: integer } }", "n=1.5", 422],
    ["{ name: n, in: query, required: true, schema: { type: integer } }", "", 422],
    ["{ name: b, in: query, schema: { type: boolean } }", "b=false", 200],
    ["{ name: a, in: query, schema: { type: array, items: { type: integer } } }", "a=1&a=2", 200],
    ["{ name: a, in: query, schema: { type: array, items: { type: integer } } }", "a=1", 200],
    ["{ name: a, in: query, schema: { type: array, items: { type: integer } } }", "a[]=1&a[]=2", 200],
    ["{ name: a, in: query, explode: false, schema: { type: array, maxItems: 2 } }", "a=1,2,3", 422],
    [
      "{ name: a, in: query, style: pipeDelimited, explode: false, schema: { type: array, minItems: 2 } }",
      "a=1|2",
      200,
    ],
    [
      "{ name: f, in: query, style: deepObject, schema: { type: object, required: [min], properties: { min: { type: integer } } } }",
      "f[min]=3",
      200,
    ],
    [
      "{ name: f, in: query, style: deepObject, schema: { type: object, required: [min], properties: { min: { type: integer } } } }",
      "f[min]=x",
      422,
    ],
    [
      "{ name: f, in: query, schema: { type: object, properties: { min: { type: integer, minimum: 5 } } } }",
      "min=3",
      422,
    ],
    [
      "{ name: q, in: query, content: { application/json: { schema: { type: object, required: [a] } } } }",
      "q=%7B%22a%22:1%7D",
      200,
    ],
    [
      "{ name: q, in: query, content: { application/json: { schema: { type: object, required: [a] } } } }",
      "q=nonsense",
      422,
    ],
    ["{ name: X-Trace, in: header, required: true, schema: { type: string } }", "", 422],
    ["{ name: session, in: cookie, required: true, schema: { type: string } }", "", 422],
  ])("with the styles of parameters: %s, %s", async (parameter, search, status) => {
    expect(await query(parameter, search)).toBe(status);
  });

  it("as a url-encoded form with nested names", async () => {
    const text = makeDocument(`  /v1/form:
    post:
      requestBody: { required: true, content: { application/x-www-form-urlencoded: { schema: { type: object, required: [amount, items], properties: { amount: { type: integer }, items: { type: array, items: { type: object, required: [price], properties: { price: { type: integer } } } }, expand: { type: array, items: { type: string } } } } } } }
      responses: { "204": { description: d } }
`);
    const { send } = serve(text);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const form = "amount=5&items[0][price]=3&items[1][price]=4&expand[]=a&expand[]=b";
    expect((await send("POST", "/v1/form", { body: form, headers })).status).toBe(204);
    const { status, body } = await send("POST", "/v1/form", { body: "amount=5&items[0][price]=x", headers });
    expect([status, body.error.details.field]).toEqual([422, "items[0].price"]);
    expect((await send("POST", "/v1/form", { body: { amount: 5 } })).status).toBe(415);
  });

  it("with several parameters in one part of the path", async () => {
    const { send } = serve(
      makeDocument(
        `${get("/v1/items/{id}:{verb}", "{ type: object, example: { a: 1 } }", "parameters: [{ name: id, in: path, required: true, schema: { type: integer } }, { name: verb, in: path, required: true, schema: { type: string } }],")}  /v1/items/{item-id}:\n    get: { operationId: one, parameters: [{ name: item-id, in: path, required: true, schema: { type: string } }], responses: { "200": ${makeJson("{ example: { b: 2 } }")} } }\n`,
      ),
    );
    expect((await send("GET", "/v1/items/7:cancel")).body).toEqual({ a: 1 });
    expect((await send("GET", "/v1/items/x:cancel")).status).toBe(422);
    expect((await send("GET", "/v1/items/7")).body).toEqual({ b: 2 });
  });

  it("under the path of the first server", async () => {
    const { send } = serve(
      makeDocument(get("/hello", "{ example: 1 }"), {
        more: "servers: [{ url: 'https://{host}/api/{v}', variables: { host: { default: a.test }, v: { default: v3 } } }]",
      }),
    );
    expect((await send("GET", "/api/v3/hello")).status).toBe(200);
    expect((await send("GET", "/hello")).status).toBe(404);
  });
});

describe("a refusal", () => {
  const describeRefusal = (schema: string, key = "default") =>
    makeDocument(
      `  /v1/things:\n    get: { parameters: [{ name: n, in: query, required: true, schema: { type: integer } }], responses: { "200": { description: d }, ${key}: ${makeJson(schema)} } }\n`,
    );

  it("is valid for the document's schema for its status", async () => {
    const { send } = serve(
      describeRefusal(
        "{ type: object, required: [error], properties: { error: { type: object, required: [code, message, request_id], properties: { code: { type: integer }, message: { type: string }, request_id: { type: string }, hint: { type: string } } } } }",
      ),
    );
    const { status, body, headers } = await send("GET", "/v1/things?n=x");
    expect(status).toBe(422);
    expect(body).toEqual({
      error: { code: 422, message: "n must be integer", request_id: headers.get("x-request-id") },
    });
  });

  it("is valid also for a range of statuses, with lists of errors and words in lower case", async () => {
    const schema =
      "{ type: object, required: [errors], properties: { errors: { type: array, minItems: 1, items: { type: object, required: [reason, field], properties: { reason: { enum: [invalid_input, other] }, field: { type: string } } } } } }";
    const { body } = await serve(describeRefusal(schema, '"4XX"')).send("GET", "/v1/things");
    expect(body).toEqual({ errors: [{ reason: "invalid_input", field: "n" }] });
  });

  it("is in envelope A if the document describes none", async () => {
    const { body } = await serve(describeRefusal("{ type: object }", '"404"')).send("GET", "/v1/things");
    expect(body).toMatchObject({ success: false, error: { code: "INVALID_INPUT", details: { field: "n" } } });
  });
});

const NOTE = `components:
  schemas:
    Note:
      type: object
      required: [id, text, created_at]
      properties:
        id: { type: integer, readOnly: true }
        text: { type: string, minLength: 1 }
        done: { type: boolean, default: false }
        secret: { type: string, writeOnly: true }
        created_at: { type: string, format: date-time, readOnly: true }
`;
const ref = '{ $ref: "#/components/schemas/Note" }';
const NOTES = `${makeDocument(`  /v1/notes:
    get:
      operationId: listNotes
      parameters: [{ name: done, in: query, schema: { type: boolean } }]
      responses: { "200": ${makeJson(`{ type: object, required: [notes, count], properties: { notes: { type: array, items: ${ref} }, count: { type: integer } } }`)} }
    post:
      operationId: createNote
      requestBody: { required: true, content: { application/json: { schema: ${ref} } } }
      responses: { "201": ${makeJson(ref)} }
  /v1/notes/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: getNote, responses: { "200": ${makeJson(ref)} } }
    put:
      operationId: replaceNote
      requestBody: { required: true, content: { application/json: { schema: ${ref} } } }
      responses: { "200": ${makeJson(ref)} }
    patch:
      operationId: updateNote
      requestBody: { required: true, content: { application/json: { schema: { type: object, properties: { text: { type: string }, done: { type: boolean } } } } } }
      responses: { "200": ${makeJson(ref)} }
    delete: { operationId: deleteNote, responses: { "204": { description: d } } }
`)}${NOTE}`;

describe("two paths without bindings, one with an id", () => {
  it("lists, creates, retrieves, updates, replaces and deletes records of its own collection", async () => {
    const { send, understudy } = serve(NOTES);
    const {
      status,
      headers,
      body: note,
    } = await send("POST", "/v1/notes", { body: { text: "a", secret: "s" } });
    expect([status, headers.get("x-sandbox-decision")]).toEqual([201, "ok"]);
    expect(note).toEqual({ id: 1, text: "a", done: false, created_at: "2026-03-15T12:00:00.000Z" });
    expect((await send("POST", "/v1/notes", { body: { text: "" } })).status).toBe(422);
    await send("POST", "/v1/notes", { body: { text: "b", done: true } });
    expect((await send("GET", "/v1/notes")).body).toMatchObject({ count: 2 });
    expect((await send("GET", "/v1/notes?done=true")).body).toMatchObject({
      count: 1,
      notes: [{ text: "b" }],
    });
    expect((await send("GET", "/v1/notes/1")).body).toEqual(note);
    expect((await send("GET", "/v1/notes/9")).status).toBe(404);
    expect((await send("GET", "/v1/notes/x")).status).toBe(422);
    expect((await send("PATCH", "/v1/notes/1", { body: { done: true } })).body).toEqual({
      ...note,
      done: true,
    });
    expect((await send("PUT", "/v1/notes/1", { body: { text: "c" } })).body).toEqual({ ...note, text: "c" });
    expect((await send("DELETE", "/v1/notes/1")).status).toBe(204);
    expect((await send("GET", "/v1/notes")).body).toMatchObject({ count: 1 });
    const world = understudy.sandboxes.get("default")!;
    expect(world.api.collections.at(-1)!.name).toBe("notes");
  });

  it("is rolled back, forked and rewound like any resource", async () => {
    const { send, understudy } = serve(NOTES);
    const sandbox = understudy.sandboxes.get("default")!;
    const empty = sandbox.toValue();
    await send("POST", "/v1/notes", { body: { text: "a" } });
    sandbox.restore(empty);
    expect((await send("GET", "/v1/notes")).body).toEqual({ notes: [], count: 0 });
  });
});

describe("a binding to a collection of the reference", () => {
  const thread =
    "{ type: object, required: [id, title], properties: { id: { type: string }, title: { type: string }, owner_id: { type: string }, created_at: { type: string, format: date-time }, pinned: { type: boolean } } }";
  const text = makeDocument(`  /v1/organizations/{organization_id}/threads:
    parameters: [{ name: organization_id, in: path, required: true, schema: { type: string } }]
    get:
      operationId: listThreads
      security: [{ key: [] }]
      parameters: [{ name: limit, in: query, schema: { type: integer, default: 2 } }, { name: offset, in: query, schema: { type: integer } }]
      responses: { "200": ${makeJson(`{ type: object, properties: { data: { type: array, items: ${thread} }, total: { type: integer }, has_more: { type: boolean } } }`)} }
    post:
      operationId: createThread
      security: [{ key: [] }]
      requestBody: { required: true, content: { application/json: { schema: { type: object, required: [title], properties: { title: { type: string } } } } } }
      responses: { "201": ${makeJson(thread)} }
  /v1/threads/{thread_id}/title:
    put:
      operationId: renameThread
      security: [{ key: [] }]
      parameters: [{ name: thread_id, in: path, required: true, schema: { type: string } }]
      requestBody: { required: true, content: { application/json: { schema: { type: object, required: [title], properties: { title: { type: string } } } } } }
      responses: { "200": ${makeJson(thread)} }
  /v1/threads/{thread_id}:
    delete: { operationId: deleteThread, responses: { "204": { description: d } } }
`);
  const bindings = `openapi: ./openapi.yaml
operations:
  listThreads: { list: threads, items_at: data, page: { limit: limit, offset: offset }, access: member }
  createThread: { create: threads, set: { owner_id: "{caller.user_id}" }, emit: thread.created, access: member }
  renameThread: { update: threads, access: member }
  deleteThread: { delete: threads }
`;
  const THREADS = "/v1/organizations/org_acme/threads";

  it("reads and changes its records, with pages", async () => {
    const { send } = serve(text, bindings);
    const { body: made } = await send("POST", THREADS, { body: { title: "New" } });
    expect(made).toMatchObject({ id: expect.stringMatching(/^thread_/), title: "New", owner_id: "usr_dan" });
    const { body } = await send("GET", THREADS);
    expect(body.data[0]).toEqual(made);
    expect([body.data.length, body.has_more]).toEqual([Math.min(2, body.total), body.total > 2]);
    expect((await send("GET", `${THREADS}?offset=1`)).body.data[0]).not.toEqual(made);
    const renamed = await send("PUT", `/v1/threads/${made.id}/title`, { body: { title: "Newer" } });
    expect(renamed.body).toMatchObject({ id: made.id, title: "Newer" });
    // The reference has this operation and serves it.
    const removed = await send("DELETE", `/v1/threads/${made.id}`);
    expect([removed.status, removed.body.message]).toEqual([200, "Thread deleted successfully"]);
  });

  it("requires membership of the organization in the path, then of the record's", async () => {
    const { send } = serve(text, bindings);
    expect((await send("GET", "/v1/organizations/org_globex/threads")).body.error.code).toBe(
      "ORGANIZATION_ACCESS_DENIED",
    );
    expect((await send("GET", "/v1/organizations/org_none/threads")).body.error.code).toBe(
      "ORGANIZATION_NOT_FOUND",
    );
    expect((await send("GET", THREADS, { user: null })).status).toBe(401);
  });

  it("emits the event of a change only once", async () => {
    const { send, understudy } = serve(text, bindings);
    const world = understudy.sandboxes.get("default")!.world;
    const emitted: string[] = [];
    const before = world.transact.bind(world);
    world.transact = ((change: never, by: never) =>
      before((tx) => {
        const result = (change as (tx: unknown) => unknown)(tx);
        emitted.push(...tx.events.map(({ event }) => event));
        return result;
      }, by)) as never;
    await send("POST", THREADS, { body: { title: "New" } });
    expect(emitted).toEqual(["thread.created"]);
  });
});

it.each(["list: notes", "answer: []"])(
  "requires the role in the caller's organization if the path names one by a number: %s [interfaces 18]",
  async (binding) => {
    const list = '{ type: array, items: { $ref: "#/components/schemas/Note" } }';
    const more = "components: { schemas: { Note: { type: object, properties: { id: { type: string } } } } }";
    const parameters = "[{ name: org_id, in: path, required: true, schema: { type: integer } }]";
    const { send } = serve(
      makeDocument(
        get("/v1/orgs/{org_id}/notes", list, `security: [{ key: [] }], parameters: ${parameters},`),
        { more },
      ),
      `openapi: ./openapi.yaml\ncollections: { notes: { schema: '#/components/schemas/Note' } }\noperations: { get: { ${binding}, access: admin } }\n`,
    );
    expect((await send("GET", "/v1/orgs/5/notes", { user: "usr_ada" })).status).toBe(200);
    expect((await send("GET", "/v1/orgs/5/notes", { user: "usr_dan" })).body.error?.code).toBe(
      "INSUFFICIENT_PERMISSIONS",
    );
  },
);

it.each(["organization_id", "org_id"])(
  "a fixed answer is refused to callers from outside the organization that its path names: %s [interfaces 18]",
  async (parameter) => {
    const text = makeDocument(`  /v1/at/{${parameter}}:
    get:
      operationId: at
      parameters: [{ name: ${parameter}, in: path, required: true, schema: { type: string } }]
      responses: { "200": ${makeJson("{ type: object }")} }
`);
    const bindings = "openapi: ./openapi.yaml\noperations:\n  at: { answer: {}, access: member }\n";
    const { send } = serve(text, bindings);
    const paths = ["/v1/at/org_acme", "/v1/at/org_globex", "/v1/at/org_none"];
    const answers = await Promise.all(paths.map((path) => send("GET", path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 404]);
  },
);

describe("placeholders in a fixed answer", () => {
  it("are replaced by the caller and by values of the request", async () => {
    const text = makeDocument(`  /v1/me:
    get: { operationId: me, security: [{ k: [] }], responses: { "200": ${makeJson("{ type: object, required: [id, name], properties: { id: { type: string }, name: { type: string }, email: { type: string } } }")} } }
  /v1/echo/{word}:
    post:
      operationId: echo
      parameters: [{ name: word, in: path, required: true, schema: { type: string } }, { name: n, in: query, schema: { type: integer } }]
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { "200": ${makeJson("{ type: object }")} }
`);
    const { send } = serve(
      text,
      'openapi: ./openapi.yaml\noperations:\n  me: { retrieve: users, id: "{caller.user_id}" }\n  echo: { answer: { word: "{word}", n: "{query.n}", all: "{body}", text: "{word} at {now}" }, status: 202 }\n',
    );
    expect((await send("GET", "/v1/me", { user: "usr_ben" })).body).toMatchObject({ id: "usr_ben" });
    const { status, body } = await send("POST", "/v1/echo/hi?n=3", { body: { a: [1] } });
    expect([status, body]).toEqual([
      202,
      { word: "hi", n: 3, all: { a: [1] }, text: "hi at 2026-03-15T12:00:00.000Z" },
    ]);
  });
});

it("a body in an undeclared JSON format is 415, and an unknown format accepts any bytes [interfaces 18]", async () => {
  const post = (content: string) =>
    makeDocument(`  /v1/a:
    post:
      operationId: a
      requestBody: { content: ${content} }
      responses: { "200": ${makeJson("{ type: object }")} }
`);
  const bindings = 'openapi: ./openapi.yaml\noperations:\n  a: { answer: { all: "{body}" } }\n';
  const xml = { body: "<a/>", headers: { "content-type": "application/xml" } };
  const both = serve(post("{ application/json: {}, application/xml: { schema: {} } }"), bindings);
  expect((await both.send("POST", "/v1/a", xml)).status).toBe(415);
  expect((await both.send("POST", "/v1/a", { body: { b: 1 } })).body).toEqual({ all: { b: 1 } });
  const alone = serve(post("{ application/xml: { schema: {} } }"), bindings);
  expect((await alone.send("POST", "/v1/a", xml)).status).toBe(200);
});

it("keys without a value are treated as missing [interfaces 18]", async () => {
  const text = makeDocument(`  /v1/a:
    get:
      operationId: a
      parameters: [{ name: n, in: query, schema: }]
      responses:
        "200":
          description: d
          headers: { X-Total: , X-Next: { schema: } }
          content: { application/json: { schema: } }
`);
  const { status, body, headers } = await serve(text).send("GET", "/v1/a?n=1");
  expect([status, body, headers.get("x-total")]).toEqual([200, {}, null]);
});

describe("a document with a collection `now` whose records need a field without a schema", () => {
  const schema = "{ $ref: '#/components/schemas/Now' }";
  const text = makeDocument(
    `${get("/v1/now", `{ type: array, items: ${schema} }`)}${get("/v1/now/{id}", schema).replace("operationId: get", "operationId: getOne")}`,
    {
      more: "components: { schemas: { Now: { type: object, required: [id, meta], properties: { id: { type: string }, meta: { type: object, required: [level] } } } } }",
    },
  );

  it("does not change `world.now` of other operations [interfaces 18]", async () => {
    const time = defineOperation({
      id: "time.get",
      method: "GET",
      path: "/v1/time",
      access: "caller",
      handle: ({ world }) => ({ now: world.now }),
    });
    const sandbox = await createSandbox({
      openapi: [parse(text)],
      operations: [time],
      clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" },
    });
    const headers = { "api-key": sandbox.credentials.usr_dan };
    const answer = await sandbox.fetch("http://x.test/v1/time", { headers });
    expect(await answer.json()).toEqual({ now: "2026-03-15T12:00:00.000Z" });
    await sandbox.close();
  });

  it("has state calls that create a record with that field as null [interfaces 18]", async () => {
    const sandbox = await createSandbox({ openapi: [parse(text)] });
    expect(await sandbox.state("now" as "threads").create()).toMatchObject({ meta: { level: null } });
    await sandbox.close();
  });
});
