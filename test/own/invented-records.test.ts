import { describe, expect, it } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";
import {
  defineCollection,
  defineOperation,
  id,
  instant,
  string,
  userId,
} from "../../src/client/operations.ts";

const ADD = {
  operationId: "addStock",
  requestBody: { content: { "application/json": { schema: { type: "object" } } } },
  responses: {
    201: {
      description: "One",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Item" } } },
    },
  },
};
const makeDocument = (field: object) => ({
  openapi: "3.1.0",
  info: { title: "Stock", version: "1" },
  paths: {
    "/stock": { get: { operationId: "listStock", responses: { 200: { description: "All" } } }, post: ADD },
  },
  components: {
    schemas: {
      Item: {
        type: "object",
        required: ["id", "field"],
        properties: { id: { type: "string" }, field },
      },
    },
  },
  "x-understudy": {
    collections: { stock: { schema: "#/components/schemas/Item", prefix: "item_" } },
    operations: { listStock: { list: "stock" }, addStock: { create: "stock" } },
  },
});

const FIELDS: [string, object, (value: never) => boolean][] = [
  [
    "a pattern",
    { type: "string", pattern: "^[A-Z]{3}-\\d{2}$" },
    (text: string) => /^[A-Z]{3}-\d{2}$/.test(text),
  ],
  [
    "a multiple",
    { type: "integer", multipleOf: 7, minimum: 1 },
    (count: number) => count > 0 && count % 7 === 0,
  ],
  [
    "a fraction of a step",
    { type: "number", minimum: 0.1, maximum: 0.4, multipleOf: 0.25 },
    (n: number) => n === 0.25,
  ],
  [
    "an instant of the client's",
    { type: "string", format: "date-time" },
    (text: string) => Date.parse(text) > 0,
  ],
  [
    "different items",
    { type: "array", items: { enum: ["a", "b"] }, minItems: 2, uniqueItems: true },
    (items: string[]) => new Set(items).size === 2,
  ],
  [
    "a required key of a map",
    { type: "object", required: ["a"], additionalProperties: { type: "integer" } },
    ({ a }: { a: unknown }) => Number.isInteger(a),
  ],
];

it.each([
  ...FIELDS,
  [
    "one of several forms",
    { oneOf: [{ type: "integer", minimum: 5 }, { type: "boolean" }] },
    (value: unknown) => typeof value === "boolean" || Number(value) >= 5,
  ],
  ["an enum of another type", { type: "string", enum: [1] }, (value: unknown) => typeof value === "string"],
  ["an empty enum", { type: "string", enum: [] }, (value: unknown) => typeof value === "string"],
  ["a bound that is excluded", { type: "integer", exclusiveMinimum: 0, maximum: 1 }, (n: number) => n === 1],
] as typeof FIELDS)(
  "a state call and a bound operation invent a field with %s that is valid in its OpenAPI document [interfaces 18]",
  async (_, field, fits) => {
    const sandbox = await createSandbox({ openapi: [makeDocument(field)], seed: 7 });
    const headers = { "api-key": sandbox.credentials.usr_dan, "content-type": "application/json" };
    const answer = await sandbox.fetch("/stock", { method: "POST", headers, body: "{}" });
    const records = [await answer.json()];
    for (let count = 0; count < 5; count++)
      records.push(await sandbox.state("stock" as "threads").create({} as never));
    for (const one of records)
      expect(one, JSON.stringify(one)).toSatisfy((given: { field: never }) => fits(given.field));
    await sandbox.close();
  },
);

it.each([
  ...FIELDS,
  [
    "an instant in an object",
    { type: "object", required: ["at"], properties: { at: instant() } },
    ({ at }: { at: string }) => Math.abs(Date.parse(at) - Date.now()) < 86_400_000,
  ],
] as typeof FIELDS)(
  "a state call and a handler invent a field with %s that is valid in its declaration [interfaces 18]",
  async (_, field, fits) => {
    const stock = defineCollection({ name: "stock", fields: { name: string(), field: field as never } });
    const add = defineOperation({
      ...{ id: "stock.add", method: "POST", path: "/v1/stock", uses: { stock } },
      handle: ({ world }) => world.stock.insert({}),
    });
    const sandbox = await createSandbox({ operations: [stock, add], seed: 7 });
    const headers = { "api-key": sandbox.credentials.usr_dan };
    const answer = await sandbox.fetch("/v1/stock", { method: "POST", headers });
    const records = [await answer.json()];
    for (let count = 0; count < 5; count++)
      records.push(await sandbox.state("stock" as "threads").create({} as never));
    for (const one of records)
      expect(one, JSON.stringify(one)).toSatisfy((given: { field: never }) => fits(given.field));
    await sandbox.close();
  },
);

describe("a record that an own operation creates belongs to its caller and their organization [interfaces 18]", () => {
  const collections = ["threads", "music_collections", "assistants", "dashboards", "vector_stores"];
  const people = [
    ["users", { memberships: { org_initech: "member" } }],
    ["api_keys", { user_id: "usr_hana", current: "org_initech" }],
  ] as const;
  const makeCreation = (collection: string, method: string) => ({
    operationId: `${method}${collection}`,
    "x-understudy": { create: collection },
    security: [{ key: [] }],
    requestBody: { content: { "application/json": { schema: { type: "object" } } } },
    responses: { 201: { description: "One", content: { "application/json": { schema: {} } } } },
  });
  const document = {
    openapi: "3.1.0",
    info: { title: "Records", version: "1" },
    paths: Object.fromEntries(
      [...collections, "users", "api_keys"].map((name) => [
        `/v1/new/${name}`,
        { post: makeCreation(name, "post") },
      ]),
    ),
    components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "api-key" } } },
  };
  const declared = defineOperation({
    id: "records.add",
    method: "POST",
    path: "/v1/declared/{name}",
    summary: "Add a record",
    params: { name: string() },
    errors: [],
    access: "caller",
    handle: ({ world, params }) => world.of({ name: params.name } as never).insert({}) as never,
  });

  // biome-ignore lint/suspicious/noExplicitAny: JSON of several operations
  const readBody = async (answer: Promise<Response>): Promise<any> => (await answer).json();

  it.each(collections)("in %s", async (name) => {
    const sandbox = await createSandbox({ openapi: [document], operations: { declared } as never });
    const asHana = { method: "POST", headers: { "api-key": sandbox.credentials.usr_hana } };
    for (const path of [`/v1/new/${name}`, `/v1/declared/${name}`]) {
      const { organization_id, owner_id, created_by } = await readBody(sandbox.fetch(path, asHana));
      const author = owner_id ?? created_by;
      expect([organization_id, author]).toEqual([
        "org_initech",
        name === "vector_stores" ? undefined : "usr_hana",
      ]);
    }
  });

  it.each(people)("in %s", async (name, expected) => {
    const sandbox = await createSandbox({ openapi: [document], operations: { declared } as never });
    const asHana = { method: "POST", headers: { "api-key": sandbox.credentials.usr_hana } };
    for (const path of [`/v1/new/${name}`, `/v1/declared/${name}`])
      expect(await readBody(sandbox.fetch(path, asHana))).toMatchObject(expected);
  });

  it("and a thread can be deleted by the member who created it", async () => {
    const sandbox = await createSandbox({ openapi: [document] });
    const asDan = { headers: { "api-key": sandbox.credentials.usr_dan } };
    const { id } = await readBody(sandbox.fetch("/v1/new/threads", { method: "POST", ...asDan }));
    expect((await sandbox.fetch(`/v1/threads/${id}`, { method: "DELETE", ...asDan })).status).toBe(200);
  });
});

describe("a record that an own operation creates without naming its parent has one of the caller's organization [interfaces 18]", () => {
  const projects = defineCollection({
    name: "projects",
    fields: { organization_id: id("org_", { belongsTo: "organizations" }) },
  });
  const tasks = defineCollection({
    ...{ name: "tasks", prefix: "task_" },
    fields: { project_id: id("project_", { belongsTo: "projects" }), author_id: userId() },
  });
  const comments = defineCollection({
    ...{ name: "comments", prefix: "comment_" },
    fields: { task_id: id("task_", { belongsTo: "tasks" }) },
  });
  const addRecord = defineOperation({
    ...{ id: "records.add", method: "POST", path: "/v1/declared/{name}", access: "caller" },
    params: { name: string() },
    handle: ({ world, params }) => world.of({ name: params.name } as never).insert({}) as never,
  });
  const text = { type: "string", readOnly: true };
  const openapi = {
    openapi: "3.1.0",
    info: { title: "Labels", version: "1" },
    paths: {
      "/labels": {
        post: {
          operationId: "createLabel",
          security: [{ key: [] }],
          requestBody: { content: { "application/json": { schema: { type: "object" } } } },
          responses: {
            201: {
              description: "One",
              content: { "application/json": { schema: { $ref: "#/components/schemas/Label" } } },
            },
          },
        },
      },
    },
    components: {
      securitySchemes: { key: { type: "apiKey", in: "header", name: "api-key" } },
      schemas: {
        Label: { type: "object", required: ["id", "task_id"], properties: { id: text, task_id: text } },
      },
    },
    "x-understudy": {
      collections: { labels: { schema: "#/components/schemas/Label", belongs_to: { task_id: "tasks" } } },
      operations: { createLabel: { create: "labels" } },
    },
  };
  const fixture: object = {
    extends: "reference",
    projects: [
      { id: "project_acme", organization_id: "org_acme" },
      { id: "project_initech", organization_id: "org_initech" },
    ],
    tasks: [
      { id: "task_acme", project_id: "project_acme" },
      { id: "task_initech", project_id: "project_initech" },
    ],
  };

  const postAsHana = async (fields: object, paths: readonly string[]) => {
    const operations = [projects, tasks, comments, addRecord];
    const sandbox = await createSandbox({
      operations,
      openapi: [openapi],
      fixture: { ...fixture, ...fields },
    });
    const headers = { "api-key": sandbox.credentials.usr_hana!, "content-type": "application/json" };
    // biome-ignore lint/suspicious/noExplicitAny: JSON of several operations
    const answers: any[] = [];
    for (const path of paths)
      answers.push(await (await sandbox.fetch(path, { method: "POST", headers, body: "{}" })).json());
    await sandbox.close();
    return answers;
  };

  it("in collections of one's own, also below a parent without organization_id", async () => {
    const paths = ["/v1/declared/comments", "/v1/declared/labels", "/labels", "/v1/declared/tasks"];
    expect(await postAsHana({}, paths)).toMatchObject([
      { task_id: "task_initech" },
      { task_id: "task_initech" },
      { task_id: "task_initech" },
      { project_id: "project_initech", author_id: "usr_hana" },
    ]);
  });

  it("in built-in collections", async () => {
    const names = ["messages", "share_links", "tracks", "connector_jobs", "store_files"];
    const organization_id = "org_initech";
    const owned = {
      threads: [{ id: "thread_initech", organization_id }],
      dashboards: [{ id: "dsh_initech", organization_id }],
      music_collections: [{ id: "mcoll_initech", organization_id }],
      connections: [{ id: "conn_initech", organization_id }],
      vector_stores: [{ id: "vs_initech", organization_id }],
      files: [{ id: "file_initech", organization_id }],
    };
    expect(
      await postAsHana(
        owned,
        names.map((name) => `/v1/declared/${name}`),
      ),
    ).toMatchObject([
      { thread_id: "thread_initech" },
      { dashboard_id: "dsh_initech" },
      { collection_id: "mcoll_initech" },
      { connection_id: "conn_initech", organization_id },
      { store_id: "vs_initech", file_id: "file_initech" },
    ]);
  });

  it("or is refused if there is none", async () => {
    const paths = [
      "/v1/declared/comments",
      "/labels",
      "/v1/declared/messages",
      "/v1/declared/connector_jobs",
    ];
    const tasksOfAcme = [{ id: "task_acme", project_id: "project_acme" }];
    const fields = ["task_id", "task_id", "thread_id", "connection_id"];
    expect(await postAsHana({ tasks: tasksOfAcme }, paths)).toMatchObject(
      fields.map((field) => ({ error: { code: "INVALID_INPUT", status: 422, details: { field } } })),
    );
  });
});

it("a record has a value for a required field that its document has got since [interfaces 18]", async () => {
  const describeShelves = (fields: Record<string, object>) => {
    const shelf = { $ref: "#/components/schemas/Shelf" };
    const answer = (schema: object) => ({ description: "", content: { "application/json": { schema } } });
    const id = { name: "id", in: "path", required: true, schema: { type: "string" } };
    const post = { requestBody: { content: { "application/json": { schema: shelf } } } };
    return {
      openapi: "3.1.0",
      info: { title: "Shelves", version: "1" },
      paths: {
        "/shelves": {
          get: { responses: { 200: answer({ type: "array", items: shelf }) } },
          post: { ...post, responses: { 201: answer(shelf) } },
        },
        "/shelves/{id}": { parameters: [id], get: { responses: { 200: answer(shelf) } } },
      },
      components: {
        schemas: { Shelf: { type: "object", required: Object.keys(fields), properties: fields } },
      },
    };
  };
  const fields = { id: { type: "string", readOnly: true }, code: { type: "string", writeOnly: true } };
  const sandbox = await createSandbox({ settings: { check_answers: "on" } });
  await sandbox.operations.replace(describeShelves(fields));
  const headers = { "content-type": "application/json" };
  const posted = await sandbox.fetch("/shelves", { method: "POST", headers, body: '{"code":"a"}' });
  const { id } = (await posted.json()) as { id: string };
  await sandbox.operations.replace(describeShelves({ ...fields, rows: { type: "integer", minimum: 3 } }));
  for (const path of ["/shelves", `/shelves/${id}`]) {
    const answer = await sandbox.fetch(path);
    expect([answer.status, [await answer.json()].flat()]).toEqual([200, [{ id, rows: 3 }]]);
  }
  await sandbox.close();
});

it.each([
  ["numbers", { type: "integer" }, { type: "integer" }, "2"],
  ["numbers in texts", { type: "string" }, { type: "integer" }, "2"],
  ["UUIDs", { type: "string" }, { type: "string", format: "uuid" }, "7c9e6679-7425-40de-944b-e07fc1f90ae7"],
  [
    "a pattern",
    { type: "string", example: "d-00000001" },
    { type: "string", pattern: "^d-\\d{8}$" },
    "d-12345678",
  ],
])(
  "records that a fixture's number or a client asks for have ids that their path accepts: %s [interfaces 5, 18]",
  async (_, id, parameter, given) => {
    const answer = (schema: object) => ({
      200: { description: "d", content: { "application/json": { schema } } },
    });
    const disk = { $ref: "#/components/schemas/Disk" };
    const openapi = {
      ...{ openapi: "3.1.0", info: { title: "Disks", version: "1" } },
      paths: {
        "/disks": {
          get: { responses: answer({ type: "array", items: disk }) },
          post: { responses: answer(disk) },
        },
        "/disks/{id}": {
          parameters: [{ name: "id", in: "path", required: true, schema: parameter }],
          get: { responses: answer(disk) },
        },
      },
      components: { schemas: { Disk: { type: "object", required: ["id"], properties: { id } } } },
    };
    const fixture: object = { disks: [{ id: given }], generate: { disks: 4 } };
    const sandbox = await createSandbox({ openapi: [openapi], seed: 7, fixture });
    for (let count = 0; count < 2; count++) await sandbox.fetch("/disks", { method: "POST" });
    const disks = (await (await sandbox.fetch("/disks")).json()) as { id: unknown }[];
    const ids = new Set(disks.map((one) => String(one.id)));
    expect(ids.size).toBe(6);
    expect(ids).toContain(given);
    for (const one of ids) expect((await sandbox.fetch(`/disks/${one}`)).status, one).toBe(200);
    await sandbox.close();
  },
);

it.each([
  ["an organization_id of another form", { organization_id: { type: "integer" } }, ["organization_id"]],
  ["a required property that it does not describe", {}, ["balance"]],
])("a state call creates a record of a document with %s [interfaces 18]", async (_, properties, required) => {
  const document = makeDocument({ type: "string" });
  const { Item } = document.components.schemas;
  Object.assign(Item.properties, properties);
  Item.required.push(...required);
  const sandbox = await createSandbox({ openapi: [document], seed: 7 });
  const made = await sandbox.state("stock" as "threads").create({} as never);
  expect(made).toMatchObject({ field: expect.any(String) });
  await sandbox.close();
});

it("an answer has fields that its schema requires without describing them, the same in each answer [interfaces 18]", async () => {
  const answer = (schema: object) => ({ description: "d", content: { "application/json": { schema } } });
  const shelf = { $ref: "#/components/schemas/Shelf" };
  const inner = { type: "object", required: ["unit"], properties: { value: { type: "integer" } } };
  const openapi = {
    ...{ openapi: "3.1.0", info: { title: "Shelves", version: "1" } },
    paths: {
      "/shelves": {
        get: { responses: { 200: answer({ type: "array", items: shelf }) } },
        post: { requestBody: answer({ type: "object" }), responses: { 201: answer(shelf) } },
      },
      "/shelves/{id}": { get: { responses: { 200: answer(shelf) } } },
    },
    components: {
      schemas: {
        Shelf: {
          ...{ type: "object", required: ["id", "room", "rows"] },
          properties: { id: { type: "string", readOnly: true }, size: inner },
          additionalProperties: { type: "string" },
          patternProperties: { "^row": { type: "integer" } },
        },
      },
    },
  };
  const sandbox = await createSandbox({ openapi: [openapi], fixture: { shelves: [{ id: "a" }] } });
  const get = async (path: string) => (await sandbox.fetch(path)).json() as Promise<Record<string, unknown>>;
  const first = await get("/shelves/a");
  expect(first).toMatchObject({ id: "a", room: expect.any(String), rows: expect.any(Number) });
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ room: "hall", size: { value: 3 } });
  const posted = await sandbox.fetch("/shelves", { method: "POST", headers, body });
  const created = (await posted.json()) as { id: string };
  expect(created).toMatchObject({ room: "hall", size: { value: 3, unit: expect.any(String) } });
  expect(await get(`/shelves/${created.id}`)).toEqual(created);
  expect(await get("/shelves")).toEqual([created, first]);
  await sandbox.close();
});
