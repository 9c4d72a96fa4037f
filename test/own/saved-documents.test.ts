import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { type CreateOptions, createUnderstudy, type LocalUnderstudy } from "../../src/client/index.ts";
import { toOperationsOption } from "../../src/engine/own/join.ts";
import { startNode, type TestNode } from "../support/fleet.ts";
import { KEYS } from "../support/harness.ts";
import { hasRedis, NO_REDIS, TestRedis } from "../support/redis.ts";
import { startServer } from "../support/run-understudy.ts";
import * as operations from "./notes.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const tag = { $ref: "#/components/schemas/Tag" };
const makeJson = (schema: object) => ({ description: "", content: { "application/json": { schema } } });
const TAGS = {
  openapi: "3.1.0",
  info: { title: "Tags", version: "1" },
  paths: {
    "/v1/tags": {
      get: { operationId: "listTags", responses: { 200: makeJson({ type: "array", items: tag }) } },
      post: {
        operationId: "createTag",
        requestBody: { required: true, content: { "application/json": { schema: tag } } },
        responses: { 201: makeJson(tag) },
      },
    },
  },
  components: {
    schemas: {
      Tag: {
        type: "object",
        required: ["id", "name"],
        properties: { id: { type: "string", readOnly: true }, name: { type: "string", minLength: 1 } },
      },
    },
  },
};
const BINDINGS = {
  collections: { tags: { schema: "#/components/schemas/Tag", prefix: "tag_" } },
  operations: { listTags: { list: "tags" }, createTag: { create: "tags", access: "caller" } },
};
/** A document without a collection of its own. */
const HEALTH = {
  openapi: "3.1.0",
  info: { title: "Health", version: "1" },
  paths: { "/v1/health": { get: { operationId: "health", responses: { 200: { description: "" } } } } },
};

const send = (url: string, method: string, path: string, body?: object) =>
  fetch(url + path, {
    method,
    headers: { "api-key": KEYS.ada, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
const create = async (url: string, name: string) => (await send(url, "POST", "/v1/tags", { name })).status;
const list = async (url: string) => {
  const answer = await send(url, "GET", "/v1/tags");
  return answer.status === 200
    ? ((await answer.json()) as { name: string }[]).map(({ name }) => name).sort()
    : answer.status;
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-own-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.each<[string, (folder: string) => NonNullable<CreateOptions["persist"]>]>([
  ["in a folder", (place) => ({ folder: place })],
  ["in a document", (place) => ({ file: join(place, "worlds.json") })],
])("an OpenAPI document of one sandbox, saved %s", (_name, place) => {
  let understudy: LocalUnderstudy;
  afterEach(() => understudy.close());
  const begin = async (options: CreateOptions = {}) => {
    understudy = await createUnderstudy({ persist: place(folder), seed: 7, ...options });
    return understudy.url;
  };
  const restart = async () => {
    await understudy.close();
    return begin();
  };
  const openSandbox = (url: string) => connect(url).open("default");

  it("is served after a restart, with its records and those of snapshots [interfaces 18]", async () => {
    let url = await begin();
    await (await openSandbox(url)).operations.replace(TAGS, BINDINGS);
    expect(await create(url, "one")).toBe(201);
    await (await openSandbox(url)).snapshots.save("one");
    expect(await create(url, "two")).toBe(201);
    url = await restart();
    expect(await list(url)).toEqual(["one", "two"]);
    expect(await create(url, "three")).toBe(201);
    await (await openSandbox(url)).snapshots.restore("one");
    url = await restart();
    expect(await list(url)).toEqual(["one"]);
    expect((await send(url, "POST", "/v1/tags", { name: "" })).status).toBe(422);
  });

  it("may get another field for its ids, and the rest of the sandbox is there after a restart [interfaces 18]", async () => {
    let url = await begin();
    await (await openSandbox(url)).operations.replace(TAGS, BINDINGS);
    expect(await create(url, "one")).toBe(201);
    await (await openSandbox(url)).snapshots.save("one");
    const text = JSON.stringify(TAGS).replace('["id","name"]', '["key","name"]').replace('"id":', '"key":');
    const collections = { tags: { ...BINDINGS.collections.tags, id: "key" } };
    await (await openSandbox(url)).operations.replace(JSON.parse(text), { ...BINDINGS, collections });
    expect(await list(url)).toEqual([]);
    expect(await create(url, "two")).toBe(201);
    url = await restart();
    expect(await list(url)).toEqual(["two"]);
    expect((await (await openSandbox(url)).snapshots.list()).items).toMatchObject([{ name: "one" }]);
  });

  it("may be of the whole server, and rename the field of its ids between two starts [interfaces 18]", async () => {
    const serve = (id: string) => {
      const text = JSON.stringify(TAGS).replace('["id","name"]', `["${id}","name"]`);
      const collections = { tags: { ...BINDINGS.collections.tags, id } };
      const document = JSON.parse(text.replace('"id":', `"${id}":`)) as object;
      return begin({ openapi: [{ ...document, "x-understudy": { ...BINDINGS, collections } }] });
    };
    expect(await create(await serve("id"), "one")).toBe(201);
    await understudy.close();
    expect(await list(await serve("key"))).toEqual(["one"]);
  });

  it("has its derived scenarios and its rules after a restart, until the document is removed [interfaces 18]", async () => {
    let url = await begin();
    let sandbox = await openSandbox(url);
    await sandbox.operations.replace(TAGS, BINDINGS);
    await sandbox.scenarios.activate("createTag-invalid-input" as never);
    await sandbox.faults.add({
      match: { operation: "listTags" as never },
      effect: { error: "INVALID_INPUT" },
      times: 2,
    });
    expect([await create(url, "one"), await list(url)]).toEqual([422, 422]);
    url = await restart();
    sandbox = await openSandbox(url);
    const { scenarios, counts } = await sandbox.info();
    expect([scenarios, (counts as Record<string, number>)["tags"]]).toEqual([["createTag-invalid-input"], 0]);
    expect([await create(url, "two"), await list(url), await list(url)]).toEqual([422, 422, []]);
    await sandbox.scenarios.activate("createTag-rate-limited" as never);
    expect(await create(url, "three")).toBe(429);
    url = await restart();
    sandbox = await openSandbox(url);
    expect(await create(url, "four")).toBe(429);
    await sandbox.scenarios.activate();
    expect(await create(url, "five")).toBe(201);
    await sandbox.scenarios.activate("createTag-signed-out" as never);
    await sandbox.operations.clear();
    url = await restart();
    expect(await list(url)).toBe(404);
  });

  it("leaves a world that starts, forks and resets after its removal, although rules, webhooks and deliveries refer to it [interfaces 18]", async () => {
    let url = await begin();
    const bindings = {
      ...BINDINGS,
      operations: { ...BINDINGS.operations, createTag: { create: "tags", emit: "tag.created" } },
    };
    await (await openSandbox(url)).operations.replace(TAGS, bindings);
    let sandbox = await openSandbox(url);
    // Two rules of requests, one of deliveries, a webhook and a delivery refer to the document.
    await sandbox.faults.add({
      match: { operation: "listTags" as never },
      effect: { error: "INVALID_INPUT" },
    });
    await sandbox.faults.add({ match: { path: "/v1/tags" }, effect: { delay: "1ms" } });
    await sandbox.faults.add({ match: { event: "tag.created" as never }, effect: { status: 500 } });
    const receiver = await sandbox.receivers.add();
    const hook = await send(url, "POST", "/webhooks", { url: receiver.url, events: ["tag.created"] });
    expect(hook.status).toBe(201);
    expect(await create(url, "one")).toBe(201);
    await sandbox.clock.advance("1s");
    await sandbox.snapshots.save("with-tags");
    const file = await sandbox.snapshots.export("with-tags");
    await sandbox.operations.clear();
    const fork = await connect(url).fork("default", "branch");
    expect((await fork.faults.list()).total).toBe(3);
    url = await restart();
    sandbox = await openSandbox(url);
    expect([await list(url), (await send(url, "GET", "/v1/models")).status]).toEqual([404, 200]);
    expect((await sandbox.faults.list()).total).toBe(3);
    expect((await sandbox.state("webhooks").list({ url: receiver.url } as object)).total).toBe(1);
    expect((await sandbox.deliveries.list()).total).toBeGreaterThan(0);
    await sandbox.snapshots.restore("with-tags");
    await expect(sandbox.snapshots.import("again", file)).rejects.toThrow(/tags/);
    await sandbox.operations.replace(TAGS, bindings);
    expect(await list(url)).toBe(422);
    await sandbox.reset();
    expect(await list(url)).toEqual([]);
  });

  it("is replaced by another document or none, and its records are removed [interfaces 18]", async () => {
    let url = await begin();
    await (await openSandbox(url)).operations.replace(TAGS, BINDINGS);
    await create(url, "one");
    await (await openSandbox(url)).snapshots.save("with-tags");
    await (await openSandbox(url)).operations.replace(HEALTH);
    url = await restart();
    expect([await list(url), (await send(url, "GET", "/v1/health")).status]).toEqual([404, 200]);
    await (await openSandbox(url)).snapshots.restore("with-tags");
    url = await restart();
    await (await openSandbox(url)).operations.replace(TAGS, BINDINGS);
    expect(await list(url)).toEqual([]);
    await create(url, "two");
    await (await openSandbox(url)).operations.clear();
    url = await restart();
    expect([await list(url), (await send(url, "GET", "/v1/models")).status]).toEqual([404, 200]);
  });

  it("refuses ids that a store cannot hold, and loses no record at a restart [interfaces 18]", async () => {
    let url = await begin();
    const text = JSON.stringify(TAGS).replace(',"readOnly":true', "");
    const bindings = { ...BINDINGS, collections: { tags: { schema: "#/components/schemas/Tag" } } };
    await (await openSandbox(url)).operations.replace(JSON.parse(text), bindings);
    const ids = ["a\0b", "a\0c", "\ud800", "tag/\ud83d\ude00", "__proto__", " "];
    const created = ids.map(async (id) => (await send(url, "POST", "/v1/tags", { id, name: id })).status);
    expect(await Promise.all(created)).toEqual([422, 422, 422, 201, 201, 201]);
    const tags = (await openSandbox(url)).state("tags" as "threads");
    await expect(tags.create({ id: "a\0b", name: "state" } as never)).rejects.toThrow(
      "id must not contain NUL",
    );
    url = await restart();
    expect(await list(url)).toEqual([" ", "__proto__", "tag/\ud83d\ude00"]);
  });

  it("stops the start with a message if it cannot be served, and no data is lost [interfaces 18]", async () => {
    let url = await begin();
    await (await openSandbox(url)).operations.replace(TAGS, BINDINGS);
    await create(url, "one");
    await understudy.close();
    await expect(begin({ openapi: [{ ...TAGS, "x-understudy": BINDINGS }] })).rejects.toThrow(
      /Sandbox default has an OpenAPI document of its own, which this server cannot serve: tags is a collection already.*\. Start the server as it was when the sandbox was saved; nothing was changed\./,
    );
    url = await begin();
    expect(await list(url)).toEqual(["one"]);
  });
});

it("an OpenAPI document of one sandbox survives kill -9 with --durable [interfaces 18]", async () => {
  const args = ["--persist", folder, "--durable", "--quiet", "--no-watch"];
  const first = await startServer(args);
  await (await connect(first.ready.url).open("default")).operations.replace(TAGS, BINDINGS);
  expect(await create(first.ready.url, "one")).toBe(201);
  await first.stop("SIGKILL");
  const second = await startServer(args);
  expect(await list(second.ready.url)).toEqual(["one"]);
  await second.stop();
});

describe("own operations in a fleet", () => {
  let redis: TestRedis;
  const open: TestNode[] = [];
  beforeAll(async () => {
    if (hasRedis) redis = await TestRedis.start();
  });
  afterAll(() => redis?.remove());
  beforeEach(({ skip }) => {
    if (!hasRedis) skip(NO_REDIS);
  });
  afterEach(async () => {
    for (const node of open.splice(0)) await node.close();
    if (hasRedis) await redis.command("FLUSHALL");
  });
  const start = async (options?: Parameters<typeof startNode>[1]) => {
    const node = await startNode(redis, options);
    open.push(node);
    return node;
  };
  const end = (node: TestNode) => open.splice(open.indexOf(node), 1)[0]!.close();

  it("of one sandbox are served by the node that takes over the sandbox [interfaces 18]", async () => {
    const a = await start();
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    const put = { openapi: TAGS, bindings: BINDINGS };
    expect((await a.control("PUT", "/_control/sandboxes/ci/operations", put)).status).toBe(200);
    expect(await create(`${a.url}/_s/ci`, "one")).toBe(201);
    const b = await start();
    expect(await list(`${b.url}/_s/ci`)).toEqual(["one"]);
    await end(a);
    expect(await list(`${b.url}/_s/ci`)).toEqual(["one"]);
    expect((await b.control("GET", "/_control/sandboxes/ci/operations")).body.total).toBe(2);
    expect((await b.control("DELETE", "/_control/sandboxes/ci/operations")).status).toBe(204);
    const c = await start();
    await end(b);
    expect(await list(`${c.url}/_s/ci`)).toBe(404);
  });

  it("are refused with a message by a node without the declarations, which leaves them to a node with them [interfaces 18]", async () => {
    const declared = await toOperationsOption(operations);
    const a = await start(declared);
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    expect((await send(`${a.url}/_s/ci`, "POST", "/v1/notes", { text: "Hello" })).status).toBe(201);
    const b = await start();
    await end(a);
    const refused = await b.call("ada", "GET", "/_s/ci/v1/notes");
    expect(refused.status).toBe(503);
    expect(JSON.stringify(refused.body)).toContain(
      "Sandbox ci was saved with operations of operations, which this server lacks",
    );
    expect(b.warnings.join()).toContain("Sandbox ci could not be taken over");
    const c = await start(declared);
    const found = await c.call("ada", "GET", "/_s/ci/v1/notes");
    expect(found).toMatchObject({ status: 200, body: { data: [{ text: "Hello" }] } });
    // The owner answers, whichever node receives the request.
    expect((await b.call("ada", "GET", "/_s/ci/v1/notes")).status).toBe(200);
  });
});
