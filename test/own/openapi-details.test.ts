import { afterEach, describe, expect, it } from "vitest";
import { type SendOptions, type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

const open: ServedDocument[] = [];
afterEach(async () => {
  for (const { understudy } of open.splice(0)) await understudy.close();
});

function serve(paths: string, schemas = "{}", bindings?: string): ServedDocument {
  const served = serveDocument(
    `openapi: 3.1.0\ninfo: { title: t, version: "1" }\npaths:\n${paths}\ncomponents: { schemas: ${schemas} }\n`,
    bindings && `openapi: ./openapi.yaml\n${bindings}`,
  );
  open.push(served);
  return served;
}

const writeResponses = (type: string, schema: string) =>
  `{ "200": { description: d, content: { "${type}": { schema: ${schema} } } } }`;

describe("a body without `required: true`", () => {
  const post = (content: string, required = "") =>
    serve(
      `  /v1/do: { post: { operationId: do, requestBody: { ${required} content: { ${content} } }, responses: { "204": { description: d } } } }`,
    );
  const record = "{ type: object, required: [a], properties: { a: { type: string } } }";
  const form =
    "{ type: object, required: [a, f], properties: { a: { type: string }, f: { type: string, format: binary } } }";

  it.each([
    ["an object", `application/json: { schema: ${record} }`],
    ["a list", "application/json: { schema: { type: array } }"],
    ["a text", "text/plain: { schema: { type: string } }"],
    ["a url-encoded form", `application/x-www-form-urlencoded: { schema: ${record} }`],
    ["a form with a file", `multipart/form-data: { schema: ${form} }`],
    ["bytes", "application/octet-stream: {}"],
    ["an image", "image/png: {}"],
    ["XML", "application/xml: { schema: { type: object } }"],
  ])("may be omitted: %s [interfaces 18]", async (_, content) => {
    expect((await post(content).send("POST", "/v1/do")).status).toBe(204);
    const { status } = await post(content, "required: true,").send("POST", "/v1/do");
    expect([400, 415, 422]).toContain(status);
  });

  it("is validated if it is sent [interfaces 18]", async () => {
    const { send } = post(`application/json: { schema: ${record} }`);
    const { status, body } = await send("POST", "/v1/do", { body: {} });
    expect([status, body.error.details.field]).toEqual([422, "a"]);
  });

  const NOTE =
    "{ Note: { type: object, required: [id, text], properties: { id: { type: integer, readOnly: true }, text: { type: string } } } }";
  const note = 'application/json: { schema: { $ref: "#/components/schemas/Note" } }';
  const NOTES = `  /v1/notes:
    get: { operationId: list, responses: { "200": { description: d, content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Note" } } } } } } }
    post: { operationId: add, requestBody: { content: { ${note} } }, responses: { "201": { description: d, content: { ${note} } } } }
  /v1/notes/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: get, responses: { "200": { description: d, content: { ${note} } } } }
    put: { operationId: put, requestBody: { content: { ${note} } }, responses: { "200": { description: d, content: { ${note} } } } }
    patch: { operationId: patch, requestBody: { content: { ${note} } }, responses: { "200": { description: d, content: { ${note} } } } }`;

  it("is an empty record where one is created, and no change in an update, if it is omitted [interfaces 18]", async () => {
    const { send } = serve(NOTES, NOTE);
    const refused = await send("POST", "/v1/notes");
    expect([refused.status, refused.body.error.message]).toEqual([422, "text is required"]);
    const { body } = await send("POST", "/v1/notes", { body: { text: "a" } });
    expect((await send("PUT", "/v1/notes/1")).status).toBe(422);
    const unchanged = await send("PATCH", "/v1/notes/1");
    expect([unchanged.status, unchanged.body]).toEqual([200, body]);
  });
});

describe("an answer has the media type that the document describes for its JSON [interfaces 18]", () => {
  const readType = async (type: string, bindings?: string) => {
    const { send } = serve(
      `  /v1/x: { get: { operationId: get, responses: ${writeResponses(type, "{ type: object, properties: { a: { type: integer } } }")} } }`,
      "{}",
      bindings,
    );
    const { status, headers, body } = await send("GET", "/v1/x");
    expect([status, body]).toEqual([200, { a: expect.any(Number) }]);
    return headers.get("content-type");
  };
  const JSON_TYPE = "application/json; charset=utf-8";

  it.each([
    ["application/hal+json", "application/hal+json"],
    ["application/vnd.api+json", "application/vnd.api+json"],
    ["application/vnd.api+json; version=1", "application/vnd.api+json; version=1"],
    ["application/json", JSON_TYPE],
    ["application/json; charset=utf-8", JSON_TYPE],
    ["*/*", JSON_TYPE],
    ["application/*", JSON_TYPE],
  ])("%s", async (type, sent) => {
    expect(await readType(type)).toBe(sent);
    expect(await readType(type, "operations: { get: { answer: { a: 1 } } }")).toBe(sent);
  });
});

describe("the `answer` of a binding is sent as the document describes it [interfaces 18]", () => {
  const readAnswer = async (type: string, answer: string) => {
    const bindings = `operations: { get: { answer: ${answer} } }`;
    const { send } = serve(
      `  /v1/x: { get: { operationId: get, responses: ${writeResponses(type, "{}")} } }`,
      "{}",
      bindings,
    );
    const { headers, body } = await send("GET", "/v1/x");
    return [headers.get("content-type"), body instanceof Blob ? await body.text() : body];
  };

  it("a string for another type than JSON is sent as that text", async () => {
    expect(await readAnswer("text/plain", '"pong for {caller.user_id}"')).toEqual([
      "text/plain; charset=utf-8",
      "pong for usr_dan",
    ]);
    expect(await readAnswer("application/xml", '"<a/>"')).toEqual(["application/xml", "<a/>"]);
  });

  it("a placeholder of a field that was not sent is empty, also one named like an inherited one", async () => {
    const body = "requestBody: { content: { application/json: { schema: { type: object } } } }";
    const { send } = serve(
      `  /v1/x: { post: { operationId: post, ${body}, responses: ${writeResponses("application/json", "{}")} } }`,
      "{}",
      'operations: { post: { answer: { made: "by {body.constructor}" } } }',
    );
    expect((await send("POST", "/v1/x", { body: {} })).body).toEqual({ made: "by " });
  });

  it("any other value is JSON", async () => {
    const json = "application/json; charset=utf-8";
    expect(await readAnswer("application/xml", "{ a: 1 }")).toEqual([json, { a: 1 }]);
    expect(await readAnswer("application/json", "pong")).toEqual([json, "pong"]);
  });
});

describe.each(["integer", "number"])(
  "an integer beyond 2^53 is refused with the same message as in a body: %s [G08]",
  (numeric) => {
    const large = "9007199254740993";
    const sent: [string, string, string, SendOptions][] = [
      ["path", `{ type: ${numeric} }`, `/v1/n/${large}`, {}],
      ["query", `{ type: [${numeric}, 'null'] }`, `/v1/n?n=-${large}`, {}],
      ["header", `{ type: ${numeric} }`, "/v1/n", { headers: { n: large } }],
      ["cookie", `{ type: ${numeric} }`, "/v1/n", { headers: { cookie: `n=${large}` } }],
    ];
    it.each(sent)("in a %s as %s", async (place, schema, path, options) => {
      const { send } = serve(
        `  /v1/n${place === "path" ? "/{n}" : ""}: { get: { operationId: get, parameters: [{ name: n, in: ${place}, required: true, schema: ${schema} }], responses: { "204": { description: d } } } }`,
      );
      const { status, body } = await send("GET", path, options);
      expect([status, body.error.message]).toEqual([422, "n is too large to be represented exactly"]);
    });

    const form = new FormData();
    form.set("n", large);
    const urlEncoded = { "content-type": "application/x-www-form-urlencoded" };
    const bodies: [string, SendOptions, string][] = [
      [
        "application/json",
        { body: `{"n": ${large}}`, headers: { "content-type": "application/json" } },
        "is too large to be represented exactly",
      ],
      ["application/json", { body: { n: large } }, `must be ${numeric}`],
      [
        "application/x-www-form-urlencoded",
        { body: `n=${large}`, headers: urlEncoded },
        "is too large to be represented exactly",
      ],
      ["application/x-www-form-urlencoded", { body: "n=x", headers: urlEncoded }, `must be ${numeric}`],
      ["multipart/form-data", { body: form }, "is too large to be represented exactly"],
    ];
    it.each(bodies)("in a body of %s: %j", async (type, options, message) => {
      const { send } = serve(
        `  /v1/n: { post: { operationId: post, requestBody: { required: true, content: { ${type}: { schema: { type: object, properties: { n: { type: ${numeric} } } } } } }, responses: { "204": { description: d } } } }`,
      );
      const { status, body } = await send("POST", "/v1/n", options);
      expect([status, body.error.message]).toEqual([422, `n ${message}`]);
    });
  },
);

describe("a generated map is valid for its schema [interfaces 18]", () => {
  it.each([
    [
      '{ type: object, minProperties: 2, additionalProperties: false, patternProperties: { "^x-": { type: integer } } }',
      /^x-/,
      "number",
    ],
    [
      '{ type: object, minProperties: 2, additionalProperties: false, patternProperties: { "^[a-z]{2}_[A-Z]{2}$": { type: integer } } }',
      /^[a-z]{2}_[A-Z]{2}$/,
      "number",
    ],
    [
      '{ type: object, required: [x-a], additionalProperties: false, patternProperties: { "^x-": { type: integer } } }',
      /^x-a$/,
      "number",
    ],
    [
      '{ type: object, minProperties: 2, additionalProperties: { type: integer }, propertyNames: { pattern: "^[a-z]{3}$" } }',
      /^[a-z]{3}$/,
      "number",
    ],
    [
      "{ type: object, minProperties: 2, additionalProperties: { type: integer }, propertyNames: { enum: [en, de, fr] } }",
      /^(en|de)$/,
      "number",
    ],
    ["{ type: object, minProperties: 2, additionalProperties: { type: integer } }", /^key[12]$/, "number"],
  ])("%s", async (schema, name, type) => {
    const { send } = serve(
      `  /v1/m: { get: { operationId: get, responses: ${writeResponses("application/json", schema)} } }`,
    );
    const { body } = await send("GET", "/v1/m");
    const names = Object.keys(body);
    expect(names).toHaveLength(schema.includes("minProperties") ? 2 : 1);
    for (const one of names) expect([one, typeof body[one]]).toEqual([expect.stringMatching(name), type]);
  });
});

it.each([
  "additionalProperties: { type: integer }",
  'patternProperties: { "^r": { type: integer } }, additionalProperties: { type: string }',
])("a required key that only `%s` describes has a value of that type [interfaces 18]", async (keys) => {
  const schema = `{ type: object, required: [rest], properties: { a: { type: string } }, ${keys} }`;
  const { send } = serve(
    `  /v1/m: { get: { operationId: get, responses: ${writeResponses("application/json", schema)} } }`,
  );
  expect((await send("GET", "/v1/m")).body).toEqual({ a: expect.any(String), rest: expect.any(Number) });
});

describe("a reference to an `$anchor` [interfaces 18]", () => {
  it("is followed in requests, answers and discriminators", async () => {
    const pets =
      '{ oneOf: [{ $ref: "#cat" }, { $ref: "#/components/schemas/Dog" }], discriminator: { propertyName: kind, mapping: { meow: "#cat" } } }';
    const { send } = serve(
      `  /v1/pets: { post: { operationId: post, requestBody: { required: true, content: { application/json: { schema: ${pets} } } }, responses: ${writeResponses("application/json", '{ $ref: "#cat" }')} } }`,
      "{ Cat: { $anchor: cat, type: object, required: [kind, lives], properties: { kind: { type: string }, lives: { type: integer } } }, Dog: { type: object, required: [kind], properties: { kind: { type: string } } } }",
    );
    const { status, body } = await send("POST", "/v1/pets", { body: { kind: "meow", lives: 9 } });
    expect([status, body]).toEqual([200, { kind: expect.any(String), lives: expect.any(Number) }]);
    const refused = await send("POST", "/v1/pets", { body: { kind: "meow" } });
    expect([refused.status, refused.body.error.message]).toEqual([422, "lives is required"]);
    expect((await send("POST", "/v1/pets", { body: { kind: "Dog" } })).status).toBe(200);
  });
});

it("an answer in plain text may be a number [interfaces 18]", async () => {
  const { send } = serve(
    `  /v1/count: { get: { operationId: get, responses: ${writeResponses("text/plain", "{ type: integer, example: 7 }")} } }`,
  );
  expect((await send("GET", "/v1/count")).body).toBe("7");
});

it("an infinite number in a query is refused [G08]", async () => {
  const { send } = serve(
    `  /v1/n: { get: { operationId: get, parameters: [{ name: n, in: query, schema: { type: number } }], responses: { "204": { description: d } } } }`,
  );
  const { status, body } = await send("GET", "/v1/n?n=1e999");
  expect([status, body.error.message]).toEqual([422, "n is too large to be represented exactly"]);
});

it.each(["7", "9007199254740993"])(
  "a refused number of a body is a number in a documented error too: %s [G08, interfaces 18]",
  async (number) => {
    const content = "content: { application/json: { schema:";
    const { send } = serve(
      `  /v1/n: { post: { operationId: add, requestBody: { ${content} { type: object, properties: { n: { type: string } } } } } }, responses: { "204": { description: d }, "422": { description: d, ${content} { type: object, properties: { details: { type: object } } } } } } } } }`,
    );
    const { body } = await send("POST", "/v1/n", {
      body: `{"n": ${number}}`,
      headers: { "content-type": "application/json" },
    });
    expect(body).toEqual({ details: { field: "n", value: Number(number) } });
  },
);

it("a field that the record's schema marks readOnly is ignored in a body whose schema omits it [interfaces 18]", async () => {
  const makeContent = (schema: string) => `content: { application/json: { schema: ${schema} } }`;
  const note = makeContent('{ $ref: "#/components/schemas/Note" }');
  const free = `requestBody: { content: { application/json: { schema: { type: object, properties: { text: { type: string } } } }, application/merge-patch+json: { schema: { type: object } } } }`;
  const served = serveDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
x-understudy:
  collections: { notes: { schema: "#/components/schemas/Note", prefix: note_ } }
  operations:
    add: { create: notes, set: { author_id: "{caller.user_id}" } }
    get: { retrieve: notes }
    change: { update: notes }
    put: { replace: notes }
    remove: { delete: notes, soft: deleted_at }
    pin: { update: notes }
paths:
  /notes:
    post: { operationId: add, ${free}, responses: { "201": { description: d, ${note} } } }
  /notes/{note_id}:
    parameters: [{ name: note_id, in: path, required: true, schema: { type: string } }]
    get: { operationId: get, responses: { "200": { description: d, ${note} } } }
    patch: { operationId: change, ${free}, responses: { "200": { description: d, ${note} } } }
    put: { operationId: put, ${free}, responses: { "200": { description: d, ${note} } } }
    delete: { operationId: remove, responses: { "204": { description: d } } }
  /notes/{note_id}/pin:
    parameters: [{ name: note_id, in: path, required: true, schema: { type: string } }]
    post:
      operationId: pin
      requestBody: { ${makeContent("{ type: object, properties: { pinned_by: { type: string } } }")} }
      responses: { "200": { description: d, ${note} } }
components:
  schemas:
    Note:
      type: object
      required: [id, text, author_id, created_at]
      properties:
        id: { type: string, readOnly: true }
        text: { type: string }
        color: { type: string }
        author_id: { type: string, readOnly: true }
        pinned_by: { type: string, readOnly: true }
        created_at: { type: string, format: date-time, readOnly: true }
        deleted_at: { type: [string, "null"], format: date-time, readOnly: true }
`);
  open.push(served);
  const sent = {
    text: "b",
    color: "red",
    author_id: "usr_ada",
    pinned_by: "usr_ada",
    created_at: "2020-01-01T00:00:00Z",
    deleted_at: "2020-01-01T00:00:00Z",
  };
  const added = await served.send("POST", "/notes", { body: sent });
  const unset = { author_id: "usr_dan", created_at: "2026-03-15T12:00:00.000Z" };
  expect(added).toMatchObject({ status: 201, body: { text: "b", color: "red", ...unset } });
  expect(added.body).not.toHaveProperty("pinned_by");
  const path = `/notes/${added.body.id}`;
  for (const [method, type] of [
    ["PATCH", "application/json"],
    ["PATCH", "application/merge-patch+json"],
    ["PUT", "application/json"],
  ] as const) {
    const changed = await served.send(method, path, {
      body: JSON.stringify(sent),
      headers: { "content-type": type },
    });
    expect(changed, `${method} ${type}`).toMatchObject({ status: 200, body: unset });
    expect((await served.send("GET", path)).body, `${method} ${type}`).not.toHaveProperty("pinned_by");
  }
  const pinned = await served.send("POST", `${path}/pin`, { body: { pinned_by: "usr_ada", author_id: "x" } });
  expect(pinned.body).toMatchObject({ pinned_by: "usr_ada", author_id: "usr_dan" });
});

describe("a binding", () => {
  const TAG =
    "{ Tag: { type: object, required: [id, name], properties: { id: { type: string, readOnly: true }, name: { type: string } } } }";
  const tag = 'application/json: { schema: { $ref: "#/components/schemas/Tag" } }';
  const list = 'application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Tag" } } }';
  const TAGS = `  /v1/tags:
    get: { operationId: listTags, responses: { "200": { description: d, content: { ${list} } } } }
    post:
      operationId: addTag
      requestBody: { content: { ${tag} } }
      responses:
        "200": { description: d, content: { application/json: { schema: { type: object, required: [existing] } } } }
        "201": { description: d, content: { ${tag} } }
  /v1/tags/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: { operationId: getTag, responses: { "200": { description: d, content: { ${tag} } } } }
    delete: { operationId: dropTag, responses: { "204": { description: d } } }`;

  it("with a `status` answers in the form that the document has for it [interfaces 18]", async () => {
    const { send } = serve(TAGS, TAG, "operations: { addTag: { create: tags, status: 201 } }\n");
    const { status, body } = await send("POST", "/v1/tags", { body: { name: "a" } });
    expect([status, body]).toEqual([201, { id: expect.any(String), name: "a" }]);
  });

  it("with a status that has no body answers none, and the journal shows none [interfaces 18]", async () => {
    const bindings =
      "operations: { listTags: { answer: { a: 1 }, status: 204 }, addTag: { create: tags, status: 204 } }\n";
    const { send, understudy } = serve(TAGS, TAG, bindings);
    for (const method of ["GET", "POST"]) {
      const { status, headers } = await send(
        method,
        "/v1/tags",
        method === "POST" ? { body: { name: "a" } } : {},
      );
      expect([status, headers.get("content-type")]).toEqual([204, null]);
    }
    const entries = understudy.sandboxes.get("default")!.journal.entries();
    expect(entries.map(({ response_body }) => response_body)).toEqual([undefined, undefined]);
  });

  it("with `soft` deletes softly also in a collection that no binding declares [interfaces 18]", async () => {
    const bindings =
      "operations: { addTag: { create: tags, status: 201 }, dropTag: { delete: tags, soft: dropped_at } }\n";
    const { send, understudy } = serve(TAGS, TAG, bindings);
    const { body: added } = await send("POST", "/v1/tags", { body: { name: "a" } });
    expect((await send("DELETE", `/v1/tags/${added.id}`)).status).toBe(204);
    expect((await send("GET", `/v1/tags/${added.id}`)).status).toBe(404);
    expect((await send("GET", "/v1/tags")).body).toEqual([]);
    const { api, world } = understudy.sandboxes.get("default")!;
    const tags = api.collections.find(({ name }) => name === "tags")!;
    expect([...world.read().all(tags)]).toMatchObject([{ id: added.id, dropped_at: expect.any(Number) }]);
  });
});

describe("conditions of `parents` on a record that a field only mentions", () => {
  it("select the records too [interfaces 18]", async () => {
    const { send } = serve(
      `  /my-files:
    get: { operationId: list, security: [{ key: [] }], responses: ${writeResponses("application/json", '{ type: array, items: { $ref: "#/components/schemas/File" } }')} }
`,
      "{ File: { type: object, properties: { id: { type: string }, created_by: { type: string } } } }",
      `operations: { list: { list: files, parents: { created_by: { id: "{caller.user_id}" } } } }\n`,
    );
    const listCreators = async (user: string) =>
      new Set(
        (await send("GET", "/my-files", { user })).body.map(
          ({ created_by }: { created_by: string }) => created_by,
        ),
      );
    expect(await listCreators("usr_ada")).toEqual(new Set(["usr_ada"]));
    expect(await listCreators("usr_dan")).toEqual(new Set());
  });
});

describe("conditions of `parents` on a record that the path does not name", () => {
  const PARENTS = 'parents: { thread_id: { owner_id: "{caller.user_id}" } }';
  const body = `requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Message" } } } }`;
  const one = writeResponses("application/json", '{ $ref: "#/components/schemas/Message" }');
  const list = writeResponses(
    "application/json",
    '{ type: array, items: { $ref: "#/components/schemas/Message" } }',
  );
  const parameters = "parameters: [{ name: id, in: path, required: true, schema: { type: string } }]";
  const serveMessages = () =>
    serve(
      `  /messages:
    get: { operationId: list, security: [{ key: [] }], responses: ${list} }
    post: { operationId: create, security: [{ key: [] }], ${body}, responses: ${one} }
  /messages/{id}:
    ${parameters}
    get: { operationId: get, security: [{ key: [] }], responses: ${one} }
    patch: { operationId: update, security: [{ key: [] }], ${body}, responses: ${one} }
`,
      `{ Message: { type: object, properties: { id: { type: string }, thread_id: { type: string }, content: { type: string } } } }`,
      `operations:
  list: { list: messages, ${PARENTS} }
  create: { create: messages, ${PARENTS} }
  get: { retrieve: messages, ${PARENTS} }
  update: { update: messages, ${PARENTS} }
`,
    );

  it("select the records that are listed and found [interfaces 18]", async () => {
    const { send } = serveMessages();
    const threads = async (user: string) =>
      (await send("GET", "/messages", { user })).body.map(
        (message: { thread_id: string }) => message.thread_id,
      );
    expect(new Set(await threads("usr_dan"))).toEqual(new Set(["thread_welcome", "thread_long"]));
    expect(new Set(await threads("usr_ada"))).toEqual(new Set(["thread_ada"]));
    const [{ id }] = (await send("GET", "/messages", { user: "usr_ada" })).body;
    for (const [user, status] of [
      ["usr_ada", 200],
      ["usr_dan", 404],
    ] as const) {
      expect((await send("GET", `/messages/${id}`, { user })).status).toBe(status);
      expect((await send("PATCH", `/messages/${id}`, { user, body: { content: "a" } })).status).toBe(status);
    }
  });

  it.each([
    ["the caller's", "thread_welcome", 200],
    ["another user's", "thread_ada", 422],
    ["missing", "thread_none", 422],
    ["not named", undefined, 422],
  ])(
    "are required of the record that a body names, if it is %s [interfaces 18]",
    async (_, thread_id, status) => {
      const { send } = serveMessages();
      expect((await send("POST", "/messages", { body: { thread_id, content: "a" } })).status).toBe(status);
    },
  );
});

describe("a credential", () => {
  const KEY = "ak_danMemberAcme00000000000000000000000000";
  const SCHEMES = `securitySchemes: {
    query: { type: apiKey, in: query, name: api_key },
    header: { type: apiKey, in: header, name: X-Auth-Token },
    raw: { type: apiKey, in: header, name: Authorization },
    cookie: { type: apiKey, in: cookie, name: sid },
    basic: { type: http, scheme: basic },
    bearer: { type: http, scheme: bearer } }`;
  const call = async (scheme: string, query: string, headers: Record<string, string>) => {
    const served = serveDocument(
      `openapi: 3.1.0\ninfo: { title: t, version: "1" }\npaths: { /v1/x: { get: { operationId: x, security: [{ ${scheme}: [] }], responses: { "204": { description: d } } } } }\ncomponents: { ${SCHEMES} }\n`,
    );
    open.push(served);
    const { status, headers: received } = await served.send("GET", `/v1/x${query}`, { user: null, headers });
    const [entry] = served.understudy.sandboxes.get("default")!.journal.entries();
    return [status, received.get("warning"), entry!.reasons.at(-1)];
  };
  const toBasic = (text: string) => `Basic ${btoa(text)}`;

  it.each<[string, string, Record<string, string>]>([
    ["query", `?api_key=${KEY}`, {}],
    ["header", "", { "x-auth-token": KEY }],
    ["raw", "", { authorization: KEY }],
    ["raw", "", { authorization: `Token ${KEY}` }],
    ["cookie", "", { cookie: `a=b; sid=${KEY}` }],
    ["basic", "", { authorization: toBasic(`dan:${KEY}`) }],
    ["basic", "", { authorization: toBasic(`${KEY}:`) }],
    ["bearer", "", { authorization: `Bearer ${KEY}` }],
    ["query", "", { "api-key": KEY }],
  ])("is read where the scheme %s has it: %s %j [interfaces 18]", async (scheme, query, headers) => {
    expect((await call(scheme, query, headers)).slice(0, 2)).toEqual([204, null]);
  });

  it("that is wrong is explained in the journal [interfaces 11]", async () => {
    expect((await call("query", "?api_key=wrong", {}))[2]).toMatch(
      /^the credential that the document's security scheme names is /,
    );
  });

  it.each<[string, string, Record<string, string>]>([
    ["query", "?api_key=wrong", {}],
    ["header", `?api_key=${KEY}`, {}],
    ["cookie", "", { cookie: "sid=" }],
    ["basic", "", { authorization: toBasic("dan:secret") }],
    ["basic", "", { authorization: "Basic %%%" }],
    ["query", `?api_key=${KEY}`, { "api-key": "ak_wrong" }],
  ])("is refused if it is wrong or elsewhere: %s %s %j [interfaces 18]", async (scheme, query, headers) => {
    expect((await call(scheme, query, headers))[0]).toBe(401);
  });
});

describe("`Prefer: code=N`", () => {
  const answer = (type: string, more: string) =>
    `{ description: d, content: { ${type}: { schema: { $ref: "#/components/schemas/Error" }, ${more} } } }`;
  const { send } = serveDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /v1/pay:
    post:
      operationId: pay
      responses:
        "201": { description: d, content: { application/json: { example: { paid: true } } } }
        "202": { description: d, content: { application/json: { schema: { type: object, required: [state], properties: { state: { const: queued } } } } } }
        "204": { description: d }
        "402": ${answer("application/problem+json", "example: { code: 402, message: Declined }")}
        "409": ${answer("application/json", "")}
        "418": { description: d, content: { text/csv: { example: "a;b" } } }
        "503": ${answer("application/json", "example: { code: 5, message: Down }")}
components:
  schemas:
    Error: { type: object, required: [code, message], properties: { code: { type: integer }, message: { type: string } } }
`);
  it.each<[number, string | null, unknown]>([
    [201, "application/json", { paid: true }],
    [202, "application/json", { state: "queued" }],
    [204, null, expect.any(Blob)],
    [402, "application/problem+json", { code: 402, message: "Declined" }],
    [409, "application/json", { code: 409, message: expect.any(String) }],
    [418, "text/csv", "a;b"],
    [503, "application/json", { code: 5, message: "Down" }],
  ])("is answered with the document's answer of status %i [interfaces 3]", async (status, type, body) => {
    const received = await send("POST", "/v1/pay", { headers: { prefer: `code=${status}` } });
    expect(received.status).toBe(status);
    expect(received.headers.get("content-type")?.split(";")[0] ?? null).toBe(type);
    expect(received.body).toEqual(body);
  });

  it("is counted as an outcome that the document describes [interfaces 11]", async () => {
    const { body } = await send("GET", "/_control/coverage");
    const { outcomes, other } = body.operations.find(
      ({ operation }: { operation: string }) => operation === "pay",
    );
    const hits = outcomes.flatMap((one: { status: number; code: null; hits: number }) =>
      one.code === null ? [[one.status, one.hits]] : [],
    );
    expect([hits, other]).toEqual([
      [
        [201, 1],
        [202, 1],
        [204, 1],
        [402, 1],
        [409, 1],
        [418, 1],
        [503, 1],
      ],
      [],
    ]);
  });

  it("is refused if the document does not describe that status [interfaces 3]", async () => {
    const { status, body } = await send("POST", "/v1/pay", { headers: { prefer: "code=410" } });
    expect([status, body.detail]).toEqual([
      400,
      expect.stringContaining("documents no answer with status 410"),
    ]);
  });
});
