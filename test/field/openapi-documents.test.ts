import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, describe, expect, it } from "vitest";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

const open: ServedDocument[] = [];
afterEach(async () => {
  for (const { understudy } of open.splice(0)) await understudy.close();
});

const makeRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const makeJson = (schema: object) => ({ content: { "application/json": { schema } } });
const makeSuccess = (schema: object) => ({ responses: { "200": { description: "d", ...makeJson(schema) } } });

function serve(document: object, version = "3.1.0"): ServedDocument {
  const served = serveDocument(
    JSON.stringify({ openapi: version, info: { title: "t", version: "1" }, ...document }),
  );
  open.push(served);
  return served;
}

describe("schemas that refer to each other are served", () => {
  const serveCircle = (pet: object) =>
    serve({
      paths: {
        "/v1/pets": {
          post: {
            requestBody: { required: true, ...makeJson(makeRef("Pet")) },
            ...makeSuccess(makeRef("Pet")),
          },
        },
        "/v1/cats": {
          post: {
            requestBody: { required: true, ...makeJson(makeRef("Cat")) },
            ...makeSuccess(makeRef("Cat")),
          },
        },
      },
      components: {
        schemas: {
          Pet: {
            type: "object",
            required: ["kind", "name"],
            properties: { kind: { type: "string" }, name: { type: "string" } },
            ...pet,
          },
          Cat: {
            allOf: [
              makeRef("Pet"),
              { type: "object", required: ["lives"], properties: { lives: { type: "integer" } } },
            ],
          },
          Dog: { allOf: [makeRef("Pet"), { type: "object", properties: { bark: { type: "boolean" } } }] },
        },
      },
    });
  const branches = [makeRef("Cat"), makeRef("Dog")];
  const discriminator = { propertyName: "kind" };

  it.each([
    ["oneOf with a discriminator", { oneOf: branches, discriminator }],
    ["anyOf with a discriminator", { anyOf: branches, discriminator }],
    ["oneOf", { oneOf: branches }],
    ["anyOf", { anyOf: branches }],
  ])("by %s and allOf [interfaces 18]", async (_, pet) => {
    const { send } = serveCircle(pet);
    for (const path of ["/v1/pets", "/v1/cats"]) {
      const cat = await send("POST", path, { body: { kind: "Cat", name: "Tom", lives: 9 } });
      expect([path, cat.status, cat.body.name, cat.body.lives]).toEqual([
        path,
        200,
        expect.any(String),
        expect.any(Number),
      ]);
      expect((await send("POST", path, { body: { kind: "Cat", lives: 9 } })).status).toBe(422);
    }
    expect((await send("POST", "/v1/pets", { body: { kind: "Dog", name: "Rex" } })).status).toBe(200);
    expect((await send("POST", "/v1/cats", { body: { kind: "Cat", name: "Tom" } })).status).toBe(422);
  });

  it("as a collection, with the fields of each form [interfaces 18]", async () => {
    const Pet = {
      type: "object",
      required: ["id", "kind"],
      properties: { id: { type: "string", readOnly: true }, kind: { type: "string" } },
      oneOf: branches,
      discriminator,
    };
    const extend = (name: string) => ({
      allOf: [makeRef("Pet"), { type: "object", properties: { [name]: { type: "integer" } } }],
    });
    const { send } = serve({
      paths: {
        "/v1/pets": {
          get: makeSuccess({ type: "array", items: makeRef("Pet") }),
          post: {
            requestBody: { required: true, ...makeJson(makeRef("Pet")) },
            ...makeSuccess(makeRef("Pet")),
          },
        },
        "/v1/pets/{id}": {
          get: {
            parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
            ...makeSuccess(makeRef("Pet")),
          },
        },
      },
      components: { schemas: { Pet, Cat: extend("lives"), Dog: extend("bones") } },
    });
    const cat = await send("POST", "/v1/pets", { body: { kind: "Cat", lives: 9 } });
    const dog = await send("POST", "/v1/pets", { body: { kind: "Dog", bones: 3 } });
    expect([cat.body.lives, dog.body.bones]).toEqual([9, 3]);
    expect((await send("GET", "/v1/pets")).body).toEqual([dog.body, cat.body]);
  });

  it("with unevaluatedProperties: false, which refuses only fields that no part has [interfaces 18]", async () => {
    const extend = (name: string) => ({
      allOf: [makeRef("Pet"), { type: "object", properties: { [name]: { type: "integer" } } }],
      unevaluatedProperties: false,
    });
    const Pet = {
      type: "object",
      properties: { kind: { type: "string" } },
      oneOf: branches,
      discriminator,
    };
    const makeOperation = (name: string) => ({
      post: { requestBody: { required: true, ...makeJson(makeRef(name)) }, ...makeSuccess({}) },
    });
    const { send } = serve({
      paths: { "/v1/pets": makeOperation("Pet"), "/v1/cats": makeOperation("Cat") },
      components: { schemas: { Pet, Cat: extend("lives"), Dog: extend("bones") } },
    });
    for (let tries = 1; tries <= 2; tries++)
      for (const path of ["/v1/pets", "/v1/cats"]) {
        const post = async (body: object) => (await send("POST", path, { body })).status;
        expect([path, await post({ kind: "Cat", lives: 9 })]).toEqual([path, 200]);
        expect([path, await post({ kind: "Cat", lives: 9, bones: 3 })]).toEqual([path, 422]);
      }
  });

  it("and refused by the part that does not fit [G08]", async () => {
    const { send } = serveCircle({ oneOf: branches, discriminator });
    const { status, body } = await send("POST", "/v1/pets", { body: { kind: "Cat", name: "T", lives: "x" } });
    expect([status, body.error.details]).toEqual([422, { field: "lives", value: "x" }]);
  });

  it.each([
    ["allOf", { allOf: [makeRef("A"), { type: "object", properties: { x: { type: "integer" } } }] }],
    [
      "if and else",
      { if: { required: ["y"] }, else: makeRef("A"), type: "object", properties: { x: { type: "integer" } } },
    ],
    [
      "dependentSchemas",
      { type: "object", properties: { x: { type: "integer" } }, dependentSchemas: { x: makeRef("A") } },
    ],
  ])("by %s of itself [interfaces 18]", async (_, A) => {
    const { send } = serve({
      paths: { "/v1/a": { post: { requestBody: makeJson(makeRef("A")), ...makeSuccess(makeRef("A")) } } },
      components: { schemas: { A } },
    });
    expect((await send("POST", "/v1/a", { body: { x: 1 } })).status).toBe(200);
    expect((await send("POST", "/v1/a", { body: { x: "q" } })).status).toBe(422);
  });
});

it.each([
  ["3.1.0", { anyOf: [makeRef("Node"), { type: "null" }] }],
  ["3.0.3", { nullable: true, allOf: [makeRef("Node")] }],
  ["3.0.3", { nullable: true, ...makeRef("Node") }],
])(
  "a generated recursive value of OpenAPI %s ends with null where the schema allows it: %j [interfaces 18]",
  async (version, parent) => {
    const Node = {
      type: "object",
      required: ["name", "parent"],
      properties: { name: { type: "string" }, parent },
    };
    const { send } = serve(
      { paths: { "/v1/node": { get: makeSuccess(makeRef("Node")) } }, components: { schemas: { Node } } },
      version,
    );
    const { body } = await send("GET", "/v1/node");
    expect(body).toEqual({ name: expect.any(String), parent: null });
  },
);

it("the servers of a path or an operation replace those of the document [interfaces 18]", async () => {
  const answer = (value: string) => makeSuccess({ const: value });
  const { send } = serve({
    servers: [{ url: "https://api.example.com/v3" }],
    paths: {
      "/plain": { get: answer("plain") },
      "/upload": { servers: [{ url: "https://upload.example.com/files" }], get: answer("upload") },
      "/bare": { servers: [{ url: "https://bare.example.com" }], get: answer("bare") },
      "/either": {
        servers: [{ url: "/files" }],
        get: answer("read"),
        post: { servers: [{ url: "/{v}", variables: { v: { default: "v9" } } }], ...answer("written") },
      },
    },
  });
  const calls = [
    ["GET", "/v3/plain"],
    ["GET", "/files/upload"],
    ["GET", "/bare"],
    ["GET", "/files/either"],
  ];
  const answers = [];
  for (const [method, path] of [...calls, ["POST", "/v9/either"]])
    answers.push((await send(method!, path!)).body);
  expect(answers).toEqual(["plain", "upload", "bare", "read", "written"]);
  expect((await send("GET", "/v3/upload")).status).toBe(404);
});

it("a path that is escaped in the document is served [interfaces 18]", async () => {
  const { send } = serve({
    paths: {
      "/v1/%24batch": { get: makeSuccess({ const: "batch" }) },
      "/v1/caf%C3%A9/{id}": { get: makeSuccess({ const: "café" }) },
      "/v1/{id}%3Acancel": { get: makeSuccess({ const: "cancel" }) },
    },
  });
  for (const path of ["/v1/$batch", "/v1/%24batch"]) expect((await send("GET", path)).body).toBe("batch");
  expect((await send("GET", "/v1/caf%c3%a9/1")).body).toBe("café");
  for (const path of ["/v1/7:cancel", "/v1/7%3Acancel"])
    expect((await send("GET", path)).body).toBe("cancel");
});

describe("query parameters", () => {
  const point = { type: "object", required: ["x"], properties: { x: { type: "integer" } } };
  const serveParameters = (...parameters: object[]) =>
    serve({ paths: { "/v1/read": { get: { parameters, ...makeSuccess({}) } } } });

  it("in JSON are not read from parameters with the names of their fields [interfaces 18]", async () => {
    const { send } = serveParameters(
      { name: "where", in: "query", content: { "application/json": { schema: point } } },
      { name: "x", in: "query", schema: { type: "integer" } },
    );
    expect((await send("GET", "/v1/read?x=1")).status).toBe(200);
    expect((await send("GET", '/v1/read?x=1&where={"x":2}')).status).toBe(200);
    expect((await send("GET", '/v1/read?where={"x":"2"}')).status).toBe(422);
  });

  it.each(["boolean", "integer", "array"])(
    "of type %s may be empty with allowEmptyValue [interfaces 18]",
    async (type) => {
      const { send } = serveParameters({
        name: "flag",
        in: "query",
        allowEmptyValue: true,
        schema: { type, items: { type: "integer" } },
      });
      for (const query of ["flag", "flag="])
        expect((await send("GET", `/v1/read?${query}`)).status).toBe(200);
      expect((await send("GET", "/v1/read?flag=maybe")).status).toBe(422);
    },
  );
});

describe("a request body", () => {
  it("is validated by the schema of its media type [interfaces 18]", async () => {
    const content = {
      "application/json": { schema: { type: "object", required: ["j"] } },
      "application/vnd.x+json": { schema: { type: "object", required: ["v"] } },
    };
    const { send } = serve({
      paths: { "/v1/a": { post: { requestBody: { required: true, content }, ...makeSuccess({}) } } },
    });
    const statuses = [];
    for (const type of ["application/json", "application/vnd.x+json; charset=utf-8"])
      for (const body of ['{"j":1}', '{"v":1}'])
        statuses.push((await send("POST", "/v1/a", { body, headers: { "content-type": type } })).status);
    expect(statuses).toEqual([200, 422, 422, 200]);
  });

  it("of a media type that is described twice is validated by the first schema [interfaces 18]", async () => {
    const content = {
      "application/json": { schema: { type: "object", required: ["first"] } },
      "application/json; version=2": { schema: { type: "object", required: ["second"] } },
    };
    const { send } = serve({
      paths: { "/v1/a": { post: { requestBody: { required: true, content }, ...makeSuccess({}) } } },
    });
    expect((await send("POST", "/v1/a", { body: { first: 1 } })).status).toBe(200);
    expect((await send("POST", "/v1/a", { body: { second: 1 } })).status).toBe(422);
  });

  const integers = { type: "array", items: { type: "integer" } };
  const schema = {
    type: "object",
    properties: {
      csv: integers,
      spaced: integers,
      piped: integers,
      pairs: { type: "object", properties: { n: { type: "integer" } } },
      meta: { type: "object", properties: { n: { type: "integer" } } },
    },
  };
  const encoding = {
    csv: { style: "form", explode: false },
    spaced: { style: "spaceDelimited", explode: false },
    piped: { style: "pipeDelimited" },
    pairs: { style: "form", explode: false },
    meta: { contentType: "application/json" },
  };
  it.each(["multipart/form-data", "application/x-www-form-urlencoded"])(
    "in %s is read by the styles of its encoding [interfaces 18]",
    async (type) => {
      const requestBody = { required: true, content: { [type]: { schema, encoding } } };
      const { send } = serve({ paths: { "/v1/a": { post: { requestBody, ...makeSuccess({}) } } } });
      const sendForm = async (fields: Record<string, string>) => {
        const form = type.startsWith("multipart") ? new FormData() : new URLSearchParams();
        for (const [name, value] of Object.entries(fields)) form.append(name, value);
        const isText = form instanceof URLSearchParams;
        const body = isText ? form.toString() : form;
        return (await send("POST", "/v1/a", { body, headers: isText ? { "content-type": type } : {} }))
          .status;
      };
      const fitting = { csv: "1,2", spaced: "1 2", piped: "1|2", pairs: "n,1", meta: '{"n":1}' };
      expect(await sendForm(fitting)).toBe(200);
      for (const [name, value] of [
        ["csv", "1,x"],
        ["spaced", "1 x"],
        ["piped", "1|x"],
        ["pairs", "n,x"],
        ["meta", '{"n":"x"}'],
      ])
        expect([name, await sendForm({ ...fitting, [name!]: value! })]).toEqual([name, 422]);
    },
  );

  it.each(["text/plain; charset=utf-8", "text/*"])(
    "of the described type %s is accepted, and no other [interfaces 18]",
    async (described) => {
      const requestBody = { required: true, content: { [described]: { schema: { const: "x" } } } };
      const { send } = serve({ paths: { "/v1/a": { post: { requestBody, ...makeSuccess({}) } } } });
      const statuses = [];
      for (const type of ["text/plain", "text/plain; charset=utf-8", "image/png"])
        statuses.push((await send("POST", "/v1/a", { body: "x", headers: { "content-type": type } })).status);
      expect(statuses).toEqual([200, 200, 415]);
    },
  );

  it("of text is decoded by its charset [interfaces 18]", async () => {
    const requestBody = { required: true, content: { "text/plain": { schema: { const: "é" } } } };
    const { send } = serve({ paths: { "/v1/a": { post: { requestBody, ...makeSuccess({}) } } } });
    const headers = { "content-type": "text/plain; charset=iso-8859-1" };
    expect((await send("POST", "/v1/a", { body: new Uint8Array([0xe9]), headers })).status).toBe(200);
  });
});

it("a JSON example that is written as a string is sent as JSON [interfaces 18]", async () => {
  const responses = {
    "200": {
      description: "d",
      content: { "application/json": { schema: { type: "object" }, example: '{"a": 1}' } },
    },
  };
  const { send } = serve({ paths: { "/v1/a": { get: { responses } } } });
  expect((await send("GET", "/v1/a")).body).toEqual({ a: 1 });
});

const id = { in: "path", name: "id", required: true, schema: { type: "string" } };

describe("paths /xs and /xs/{id} without bindings", () => {
  const pair = (path: string, record: object, requestBody: object = makeJson(record)) => ({
    [path]: {
      get: makeSuccess({ type: "array", items: record }),
      post: { requestBody, ...makeSuccess(record) },
    },
    [`${path}/{id}`]: { parameters: [id], get: makeSuccess(record) },
  });
  const record = (properties: object) => ({ type: "object", required: ["id"], properties });
  const text = { type: "string" };

  it("with two schemas of one name do not mix their records [interfaces 18]", async () => {
    const notes = { one: record({ id: text, title: text }), two: record({ id: text, count: { const: 3 } }) };
    const { send, understudy } = serve({
      paths: { ...pair("/v1/one/notes", makeRef("one")), ...pair("/v1/two/notes", makeRef("two")) },
      components: { schemas: notes },
    });
    expect((await send("POST", "/v1/one/notes", { body: { id: "a", title: "A" } })).status).toBe(200);
    expect((await send("GET", "/v1/one/notes")).body).toEqual([{ id: "a", title: "A" }]);
    expect((await send("GET", "/v1/two/notes/a")).body).toEqual({ id: expect.any(String), count: 3 });
    const { status, headers } = await send("POST", "/v1/two/notes", { body: { id: "b", count: 3 } });
    expect([status, headers.get("x-sandbox-decision")]).toEqual([200, "generated"]);
    const { operations } = understudy.sandboxes.get("default")!.api;
    expect(operations.filter(({ path }) => path.startsWith("/v1/two/")).length).toBe(3);
  });

  it("do not show records of the reference whose ids have another form [interfaces 18]", async () => {
    const makeUser = (format: object) => record({ id: { type: "string", ...format }, email: text });
    for (const [format, decision] of [
      [{ format: "uuid" }, "generated"],
      [{ pattern: "^[0-9a-f]{24}$" }, "generated"],
      [{}, "ok"],
    ] as const) {
      const { send } = serve({ paths: pair("/api/users", makeUser(format)) });
      expect((await send("GET", "/api/users")).headers.get("x-sandbox-decision")).toBe(decision);
    }
  });

  it("do not show the bytes of uploads [interfaces 18]", async () => {
    const upload = record({ id: text, name: text });
    const file = { type: "string", format: "binary" };
    const content = { "multipart/form-data": { schema: { type: "object", properties: { file } } } };
    const { send } = serve({ paths: pair("/v1/uploads", upload, { content }) });
    const form = new FormData();
    form.append("file", new File(["abc"], "a.txt"));
    const { status, body } = await send("POST", "/v1/uploads", { body: form });
    expect([status, body]).toEqual([200, { id: expect.any(String), name: "a.txt" }]);
    expect((await send("GET", "/v1/uploads")).body).toEqual([body]);
  });

  it("accept fields with another description in a record [interfaces 18]", async () => {
    const machine = record({
      id: text,
      name: text,
      size: { type: "object", properties: { cpus: { type: "integer" } } },
      disks: { type: "array", items: { type: "object" } },
      load: { type: "integer" },
    });
    const body = record({
      name: text,
      size: text,
      disks: { type: "array", items: text },
      load: { type: "number" },
    });
    const { required: _, ...schema } = body;
    const { send } = serve({ paths: pair("/v1/machines", machine, makeJson(schema)) });
    const sent = { name: "a", size: "big", disks: ["x"], load: 1 };
    const made = await send("POST", "/v1/machines", { body: sent });
    expect([made.status, made.body]).toEqual([200, { id: made.body.id, name: "a", load: 1 }]);
    expect((await send("POST", "/v1/machines", { body: { size: 1 } })).status).toBe(422);
  });
});

describe("a record of paths without bindings", () => {
  const text = { type: "string" };
  const servePair = (record: object, body: object, path: string, parameter = "id") =>
    serve({
      paths: {
        [path]: {
          get: makeSuccess({ type: "array", items: record }),
          post: { requestBody: makeJson(body), ...makeSuccess(record) },
        },
        [path.replace(/(\/?)$/, `/{${parameter}}$1`)]: {
          get: makeSuccess(record),
          patch: { requestBody: makeJson(body), ...makeSuccess(record) },
        },
      },
    });

  it("gets a valid object if a valid request has an object of another form [interfaces 18]", async () => {
    const source = { type: "object", required: ["kind"], properties: { kind: { enum: ["file", "url"] } } };
    const record = {
      type: "object",
      required: ["id", "source"],
      properties: { id: text, name: text, size: { type: "integer", maximum: 9 }, source },
    };
    const properties = { name: text, size: { type: "integer" }, source: { type: "object" } };
    const { send } = servePair(record, { type: "object", properties }, "/v1/evals");
    const made = await send("POST", "/v1/evals", { body: { name: "a", source: { rows: 3 } } });
    const expected = { id: made.body.id, name: "a", source: { rows: 3, kind: "file" } };
    expect([made.status, made.body]).toEqual([200, expected]);
    const path = `/v1/evals/${made.body.id}`;
    expect((await send("PATCH", path, { body: { source: { kind: "url" } } })).body.source).toEqual({
      kind: "url",
    });
    const changed = await send("PATCH", path, { body: { name: "b", source: { kind: "x" } } });
    expect([changed.status, changed.body]).toMatchObject([200, { name: "b", source: { kind: "url" } }]);
    expect((await send("PATCH", path, { body: { size: 10 } })).status).toBe(422);
  });

  it("has a number as a string, as FastAPI describes decimals, and the reverse [interfaces 18]", async () => {
    const number = { type: "number" };
    const properties = { id: text, rent: text, size: { type: ["integer", "null"] }, place: number };
    const record = { type: "object", required: ["id", "rent"], properties };
    const body = { type: "object", properties: { rent: number, size: text, place: text } };
    const { send } = servePair(record, body, "/v1/leases");
    const made = await send("POST", "/v1/leases", { body: { rent: 12.5, size: "30", place: "north" } });
    expect([made.status, made.body]).toEqual([200, { id: made.body.id, rent: "12.5", size: 30 }]);
  });

  it("stays at its path when it is replaced [interfaces 18]", async () => {
    const record = {
      type: "object",
      required: ["id", "tour"],
      properties: { id: text, tour: text, name: text },
    };
    const body = { type: "object", properties: { name: text } };
    const written = { requestBody: makeJson(body), ...makeSuccess(record) };
    const { send } = serve({
      paths: {
        "/v1/tours/{tour}/plans": { get: makeSuccess({ type: "array", items: record }), post: written },
        "/v1/tours/{tour}/plans/{id}": { get: makeSuccess(record), put: written },
      },
    });
    const { id } = (await send("POST", "/v1/tours/t/plans", { body: { name: "a" } })).body;
    const replaced = await send("PUT", `/v1/tours/t/plans/${id}`, { body: { name: "b" } });
    expect(replaced.body).toEqual({ id, tour: "t", name: "b" });
    expect((await send("GET", "/v1/tours/t/plans")).body).toEqual([replaced.body]);
  });

  it("is found by the field that its path names, before `id` [interfaces 18]", async () => {
    const record = {
      type: "object",
      required: ["id", "client_id"],
      properties: { id: text, client_id: text },
    };
    const body = { type: "object", properties: { client_id: text } };
    const { send } = servePair(record, body, "/v1/clients", "client_id");
    const made = await send("POST", "/v1/clients", { body: { client_id: "web" } });
    expect(made.body).toEqual({ id: expect.any(String), client_id: "web" });
    expect((await send("GET", "/v1/clients/web")).body).toEqual(made.body);
  });

  it("is found if the paths end with a slash, as Django's [interfaces 18]", async () => {
    const record = {
      type: "object",
      required: ["id"],
      properties: { id: { type: "integer", readOnly: true }, name: text },
    };
    const { send } = servePair(record, record, "/v1/posts/");
    expect((await send("POST", "/v1/posts/", { body: { name: "a" } })).body).toEqual({ id: 1, name: "a" });
    expect((await send("GET", "/v1/posts/")).body).toEqual([{ id: 1, name: "a" }]);
    expect((await send("GET", "/v1/posts/1/")).body).toEqual({ id: 1, name: "a" });
  });
});

describe("bound operations", () => {
  const schemas = {
    Tag: {
      type: "object",
      required: ["id", "object"],
      properties: { id: { type: "string" }, object: { enum: ["tag"] } },
    },
    Page: {
      type: "object",
      required: ["data", "first_id", "last_id"],
      properties: {
        data: { type: "array", items: makeRef("Tag") },
        first_id: { type: "string" },
        last_id: { type: "string" },
      },
    },
    Deleted: {
      type: "object",
      required: ["id", "object", "deleted"],
      properties: { id: { type: "string" }, object: { enum: ["tag.deleted"] }, deleted: { type: "boolean" } },
    },
  };
  it("answer an empty page and a removal as the document describes them [interfaces 18]", async () => {
    const { send } = serve({
      "x-understudy": {
        collections: { tags: { schema: "#/components/schemas/Tag" } },
        operations: { list: { list: "tags" }, create: { create: "tags" }, remove: { delete: "tags" } },
      },
      paths: {
        "/v1/tags": {
          get: { operationId: "list", ...makeSuccess(makeRef("Page")) },
          post: {
            operationId: "create",
            requestBody: makeJson(makeRef("Tag")),
            ...makeSuccess(makeRef("Tag")),
          },
        },
        "/v1/tags/{id}": {
          parameters: [id],
          delete: { operationId: "remove", ...makeSuccess(makeRef("Deleted")) },
        },
      },
      components: { schemas },
    });
    expect((await send("GET", "/v1/tags")).body).toEqual({ data: [], first_id: "", last_id: "" });
    await send("POST", "/v1/tags", { body: { id: "a", object: "tag" } });
    expect((await send("GET", "/v1/tags")).body).toMatchObject({ first_id: "a", last_id: "a" });
    expect((await send("DELETE", "/v1/tags/a")).body).toEqual({
      id: "a",
      object: "tag.deleted",
      deleted: true,
    });
  });
});

it("a parameter that is only in the path is read as a string [interfaces 18]", async () => {
  const Tag = {
    type: "object",
    required: ["id", "user_id"],
    properties: { id: { type: "string" }, user_id: { type: "string" } },
  };
  const { send } = serve({
    paths: {
      "/v1/users/{user_id}/tags": {
        get: makeSuccess({ type: "array", items: makeRef("Tag") }),
        post: {
          requestBody: makeJson({ type: "object", properties: { id: { type: "string" } } }),
          ...makeSuccess(makeRef("Tag")),
        },
      },
      "/v1/users/{user_id}/tags/{id}": { get: makeSuccess(makeRef("Tag")) },
    },
    components: { schemas: { Tag } },
  });
  const tag = { id: "7", user_id: "8" };
  expect((await send("POST", "/v1/users/8/tags", { body: { id: "7" } })).body).toEqual(tag);
  expect((await send("GET", "/v1/users/8/tags")).body).toEqual([tag]);
  expect((await send("GET", "/v1/users/8/tags/7")).body).toEqual(tag);
});

it.each([{}, true, { title: "Response" }])(
  "a generated answer of any type is an object: %j [interfaces 18]",
  async (schema) => {
    const paths = Object.fromEntries(
      ["a", "b", "c"].map((name) => [`/v1/${name}`, { get: makeSuccess(schema as object) }]),
    );
    const { send } = serve({ paths });
    for (const path of Object.keys(paths)) expect((await send("GET", path)).body).toEqual({});
  },
);

it("a generated answer is as deep as its required parts [interfaces 18]", async () => {
  const nest = (depth: number): object =>
    depth === 0
      ? { type: "integer", minimum: 7 }
      : { type: "object", required: ["in"], properties: { in: nest(depth - 1) } };
  const { send } = serve({ paths: { "/v1/a": { get: makeSuccess(nest(10)) } } });
  const { body } = await send("GET", "/v1/a");
  expect(JSON.stringify(body)).toMatch(/^(\{"in":){10}[1-9]\d*\}{10}$/);
});

it.each([
  { type: "integer", minimum: 1900 },
  { type: "number", exclusiveMinimum: 5000 },
  { type: "integer", maximum: -2000 },
  { type: "integer", minimum: 10_000, multipleOf: 7000 },
])("a generated number is within its bounds: %j [interfaces 18]", async (schema) => {
  const { send } = serve({ paths: { "/v1/a": { get: makeSuccess(schema) } } });
  const { body } = await send("GET", "/v1/a");
  expect(body).toSatisfy(new Ajv2020().compile(schema));
});

it("a parameter that is not a list and was sent twice is refused as such [G08]", async () => {
  const parameters = [
    { name: "limit", in: "query", schema: { type: "integer" } },
    { name: "open", in: "query", schema: { type: ["boolean", "null"] } },
    { name: "name", in: "query", schema: { type: "string" } },
    { name: "where", in: "query", content: { "application/json": { schema: { type: "object" } } } },
    { name: "ids", in: "query", schema: { type: "array", items: { type: "integer" } } },
    { name: "any", in: "query", schema: {} },
  ];
  const { send } = serve({
    paths: { "/v1/slots": { get: { parameters, ...makeSuccess({ type: "object" }) } } },
  });
  for (const [name, one, other] of [
    ["limit", "5", "6"],
    ["open", "true", "false"],
    ["name", "a", "a"],
    ["where", "{}", "{}"],
  ] as const) {
    const { status, body } = await send("GET", `/v1/slots?${name}=${one}&${name}=${other}`);
    const { message, details } = body.error;
    expect([status, message, details]).toEqual([
      422,
      `${name} was sent twice`,
      { field: name, value: [one, other] },
    ]);
  }
  expect((await send("GET", "/v1/slots?ids=1&ids=2&any=1&any=2")).status).toBe(200);
});

it("a date or time in another form is refused with the accepted forms, and a time with %2B for its plus [G08]", async () => {
  const makeParameter = (name: string, format: string) => ({
    ...{ name, in: "query", schema: { type: "string", format } },
  });
  const parameters = [makeParameter("when", "date-time"), makeParameter("day", "date")];
  const { send } = serve({
    paths: { "/v1/slots": { get: { parameters, ...makeSuccess({ type: "object" }) } } },
  });
  const refuse = async (query: string) => (await send("GET", `/v1/slots?${query}`)).body.error.message;
  const forms = "when must be a time such as 2026-03-15T10:00:00Z or 2026-03-15T10:00:00+01:00";
  expect(await refuse("when=2026-03-15T10:00:00+01:00")).toBe(`${forms}; in a URL, its plus is %2B`);
  expect(await refuse("when=2026-03-15")).toBe(forms);
  expect(await refuse("day=15.03.2026")).toBe("day must be a date such as 2026-03-15");
});
