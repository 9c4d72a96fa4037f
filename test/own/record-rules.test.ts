import { describe, expect, it } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";
import { defineOperation, optional, string } from "../../src/client/operations.ts";

const makeJson = (schema: object) => ({ content: { "application/json": { schema } } });
const one = { $ref: "#/components/schemas/Item" };
const Text = { type: "string" };
const makeDocument = (rule: object) => ({
  openapi: "3.1.0",
  info: { title: "Stock", version: "1" },
  paths: {
    "/stock/{id}": {
      get: { operationId: "get", responses: { 200: { description: "d", ...makeJson(one) } } },
    },
  },
  components: {
    schemas: {
      Item: {
        type: "object",
        required: ["id"],
        properties: { id: { ...Text, readOnly: true }, url: Text, text: Text, size: Text },
        ...rule,
      },
    },
  },
  "x-understudy": {
    collections: { stock: { schema: "#/components/schemas/Item", prefix: "item_" } },
    operations: { get: { retrieve: "stock" } },
  },
});

/** A rule about a whole record, valid fields and invalid ones. */
const RULES: [name: string, rule: object, fits: object, unfit: object][] = [
  ["maxProperties", { maxProperties: 2 }, { url: "a" }, { url: "a", text: "b" }],
  [
    "oneOf",
    { oneOf: [{ required: ["url"] }, { required: ["text"] }] },
    { url: "a" },
    { url: "a", text: "b" },
  ],
  [
    "anyOf",
    { anyOf: [{ not: { required: ["url"] } }, { not: { required: ["text"] } }] },
    { text: "a" },
    { url: "a", text: "b" },
  ],
  ["not", { not: { required: ["url", "text"] } }, { size: "a" }, { url: "a", text: "b" }],
  [
    "if and then",
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    { if: { required: ["url"] }, then: { not: { required: ["text"] } } },
    { text: "a" },
    { url: "a", text: "b" },
  ],
];

describe.each(RULES)("a record that violates %s", (_, rule, fits, unfit) => {
  it("is refused in state calls, and a valid one is not [interfaces 18]", async () => {
    const sandbox = await createSandbox({ openapi: [makeDocument(rule)] });
    const stock = sandbox.state("stock" as "threads");
    const { id } = await stock.create(fits as never);
    await expect(stock.create(unfit as never)).rejects.toThrow("body must");
    await expect(stock.update(id, unfit as never)).rejects.toThrow("body must");
    const others = Object.entries(unfit).filter(([name]) => !Object.hasOwn(fits, name));
    if (others.length < 2) {
      await expect(stock.update(id, Object.fromEntries(others) as never)).rejects.toThrow("body must");
      expect((await sandbox.fetch(`/stock/${id}`)).status).toBe(200);
    }
    await sandbox.close();
  });

  it("is refused in a request that would create it, and a valid one is not [interfaces 18]", async () => {
    const described = makeDocument(rule);
    const fields = { type: "object", properties: { url: Text, text: Text, size: Text } };
    const post = {
      operationId: "make",
      requestBody: makeJson(fields),
      responses: { 201: { description: "d", ...makeJson(one) } },
    };
    Object.assign(described.paths, { "/stock": { post } });
    Object.assign(described["x-understudy"].operations, { make: { create: "stock" } });
    const sandbox = await createSandbox({ openapi: [described] });
    const headers = { "content-type": "application/json" };
    const send = (record: object) =>
      sandbox.fetch("/stock", { method: "POST", body: JSON.stringify(record), headers });
    expect((await send(fits)).status).toBe(201);
    const refused = await send(unfit);
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("body must")]);
    expect(await sandbox.state("stock" as "threads").list()).toMatchObject({ total: 1 });
    await sandbox.close();
  });

  it("is refused if a handler inserts it, and a valid one is not [interfaces 18]", async () => {
    const add = defineOperation({
      id: "stock.add",
      method: "POST",
      path: "/added",
      summary: "Add a record",
      body: { url: optional(string()), text: optional(string()), size: optional(string()) },
      errors: ["INVALID_INPUT"],
      access: "caller",
      handle: ({ world, body }) => world.of({ name: "stock" } as never).insert(body as never) as never,
    });
    const sandbox = await createSandbox({ openapi: [makeDocument(rule)], operations: { add } as never });
    const headers = { "api-key": sandbox.credentials.usr_dan, "content-type": "application/json" };
    const send = (record: object) =>
      sandbox.fetch("/added", { method: "POST", body: JSON.stringify(record), headers });
    expect((await send(fits)).status).toBeLessThan(300);
    const refused = await send(unfit);
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("must")]);
    await sandbox.close();
  });

  it("is refused in a fixture with its place, and a valid one is not [interfaces 18]", async () => {
    const create = (fields: object) => {
      const fixture: object = { extends: "reference", stock: [{ id: "item_a", ...fields }] };
      return createSandbox({ openapi: [makeDocument(rule)], fixture });
    };
    await (await create(fits)).close();
    await expect(create(unfit)).rejects.toThrow("the record must");
  });
});

/** Rules that require fields. */
const NEEDS: [name: string, rule: object, given: object, all: object][] = [
  ["minProperties", { minProperties: 4 }, { url: "a" }, { url: "a", text: expect.any(String) }],
  ["oneOf", { oneOf: [{ required: ["url"] }, { required: ["text"] }] }, {}, { url: expect.any(String) }],
  [
    "dependentRequired",
    { dependentRequired: { url: ["text"] } },
    { url: "a" },
    { url: "a", text: expect.any(String) },
  ],
];

it.each(NEEDS)("fields that %s requires are invented [interfaces 18]", async (_, rule, given, all) => {
  const fixture: object = { extends: "reference", stock: [{ id: "item_a", ...given }] };
  const sandbox = await createSandbox({ openapi: [makeDocument(rule)], fixture });
  const stock = sandbox.state("stock" as "threads");
  expect(await stock.create(given as never)).toMatchObject(all);
  const answer = await sandbox.fetch("/stock/item_a");
  expect([answer.status, await answer.json()]).toMatchObject([200, all]);
  await sandbox.close();
});

it("a request that makes a record break oneOf is refused, and the record stays [interfaces 18]", async () => {
  const rule = { oneOf: [{ required: ["url"] }, { required: ["text"] }] };
  const described = makeDocument(rule);
  const changes = { type: "object", properties: { text: Text } };
  Object.assign(described.paths["/stock/{id}"], {
    patch: {
      operationId: "change",
      requestBody: makeJson(changes),
      responses: { 200: { description: "d", ...makeJson(one) } },
    },
  });
  Object.assign(described["x-understudy"].operations, { change: { update: "stock" } });
  const fixture: object = { extends: "reference", stock: [{ id: "item_a", url: "a" }] };
  const sandbox = await createSandbox({ openapi: [described], fixture });
  const headers = { "content-type": "application/json" };
  const answer = await sandbox.fetch("/stock/item_a", {
    method: "PATCH",
    body: JSON.stringify({ text: "b" }),
    headers,
  });
  expect([answer.status, await answer.text()]).toEqual([
    422,
    expect.stringContaining("body must match exactly one schema in oneOf"),
  ]);
  expect(await (await sandbox.fetch("/stock/item_a")).json()).toEqual({ id: "item_a", url: "a" });
  await sandbox.close();
});

describe("a fixture's records whose id is another field than `id`", () => {
  const create = (labels: unknown) => {
    const Tags = { type: "array", items: { type: "object", properties: { id: Text } } };
    const Label = { type: "object", required: ["slug"], properties: { slug: Text, key: Text, tags: Tags } };
    const answer = { description: "d", ...makeJson({ type: "array", items: Label }) };
    const described = {
      openapi: "3.1.0",
      info: { title: "Labels", version: "1" },
      paths: { "/labels": { get: { operationId: "list", responses: { 200: answer } } } },
      components: { schemas: { Label } },
      "x-understudy": {
        collections: { labels: { schema: "#/components/schemas/Label", id: "slug" } },
        operations: { list: { list: "labels" } },
      },
    };
    return createSandbox({ openapi: [described], fixture: { extends: "reference", labels } as object });
  };

  it("may have the same value in a field such as `key`, and in a list within them [interfaces 5]", async () => {
    const labels = [
      { slug: "my_home", key: "a", tags: [{ id: "tag_a" }] },
      { slug: "work", key: "a", tags: [{ id: "tag_a" }] },
    ];
    const sandbox = await create(labels);
    const headers = { "api-key": sandbox.credentials.usr_dan };
    expect(await (await sandbox.fetch("/labels", { headers })).json()).toMatchObject(labels);
    await sandbox.close();
  });

  it("are refused with their place if two have the same id [interfaces 5]", async () => {
    const labels = [{ slug: "home", key: "a" }, { slug: "work" }, { slug: "home", key: "b" }];
    await expect(create(labels)).rejects.toThrow("home is already the slug of `labels[0]`");
  });

  it("are generated if the fixture gives a number [interfaces 5]", async () => {
    const sandbox = await create(3);
    expect((await sandbox.state("labels" as "threads").list()).total).toBe(3);
    await sandbox.close();
  });
});
