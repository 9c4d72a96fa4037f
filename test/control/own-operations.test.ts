import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replayBundle } from "../../src/client/replay/replay-bundle.ts";
import { readBundle } from "../../src/tools/bundle/bundle.ts";
import { waitUntilPasses } from "../support/eventually.ts";
import { CONTROL } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";
import { readExample } from "../support/own/serve-document.ts";

const OPERATIONS = `${CONTROL}/operations`;
const TEXT = readExample("issue-tracker/openapi.yaml");

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const put = (body: object) => api.call(undefined, "PUT", OPERATIONS, body);

describe("an OpenAPI document of one sandbox", () => {
  it("is served in this sandbox only, and lists its operations and collection [interfaces 18]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "other" });
    const { status, body } = await put({ openapi: TEXT });
    expect([status, body.total, body.warnings]).toEqual([200, 30, []]);
    expect(body.collections).toContain("issues");
    expect(body.items[0]).toEqual({
      ...{ id: "health", method: "GET", path: "/v2/health", summary: "GET /v2/health" },
      ...{ source: "openapi", scope: "sandbox" },
    });
    expect((await api.call("dan", "GET", "/v2/projects")).status).toBe(200);
    expect((await api.call("dan", "GET", "/_s/other/v2/projects")).status).toBe(404);
    expect((await api.call(undefined, "GET", OPERATIONS)).body.total).toBe(30);
  });

  it("is replaced and removed, and the rest of the sandbox stays [interfaces 18]", async () => {
    await put({ openapi: TEXT });
    const { body: project } = await api.call("dan", "POST", "/v2/projects", { key: "APP", name: "App" });
    // Replacing the document keeps the records.
    await put({ openapi: TEXT });
    expect((await api.call("dan", "GET", `/v2/projects/${project.id}`)).body).toEqual(project);
    expect((await api.call(undefined, "GET", `${CONTROL}/state/projects`)).body.total).toBe(1);
    expect((await api.call(undefined, "DELETE", OPERATIONS)).status).toBe(204);
    expect((await api.call("dan", "GET", "/v2/projects")).status).toBe(404);
    expect((await api.call(undefined, "GET", OPERATIONS)).body).toMatchObject({ items: [], collections: [] });
    // The journal still has its requests.
    const list = `${CONTROL}/journal?operation=createProject`;
    expect((await api.call(undefined, "GET", list)).body.total).toBe(1);
    const expectation = { match: { operation: "createProject", method: "POST" }, count: 1 };
    const verified = await api.call(undefined, "POST", `${CONTROL}/journal/verify`, expectation);
    expect(verified.body).toMatchObject({ ok: true, found: 1 });
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
  });

  it.each(["removed", "replaced"])(
    "answers 503 to a request that was held while its operation was %s [interfaces 18, 20]",
    async (change) => {
      await put({ openapi: TEXT });
      const match = { operation: "createProject" };
      await api.call(undefined, "POST", `${CONTROL}/faults`, { match, effect: { hold: {} } });
      const waiting = api.call("dan", "POST", "/v2/projects", { key: "APP", name: "App" });
      await waitUntilPasses(async () => {
        const { body } = await api.call(undefined, "GET", `${CONTROL}/faults`);
        expect(body.items[0].hits).toBe(1);
      });
      const { body: held } = await api.call(undefined, "GET", `${CONTROL}/held`);
      await (change === "removed" ? api.call(undefined, "DELETE", OPERATIONS) : put({ openapi: TEXT }));
      for (const { id } of held.items) await api.call(undefined, "POST", `${CONTROL}/held/${id}/release`);
      expect((await waiting).status).toBe(503);
      const { entries } = (await api.call(undefined, "GET", `${CONTROL}/journal`)).body;
      expect(entries[0].reasons.at(-1)).toBe(
        "the operation was removed or replaced while the request waited",
      );
      expect((await api.call(undefined, "GET", `${CONTROL}/history`)).body.entries[0].operation).not.toBe(
        match.operation,
      );
    },
  );

  it("keeps the records that have an id by an edited document, which names another field [interfaces 18]", async () => {
    const describeTags = (idField: string) => {
      const properties = { id: { type: "string" }, slug: { type: "string" }, name: { type: "string" } };
      const content = { "application/json": { schema: { type: "object", properties } } };
      const list = {
        "application/json": { schema: { type: "array", items: { type: "object", properties } } },
      };
      const answer = (described: object) => ({ "200": { description: "", content: described } });
      const byId = { name: idField, in: "path", required: true, schema: { type: "string" } };
      return {
        openapi: "3.1.0",
        info: { title: "Tags", version: "1" },
        paths: {
          "/v1/tags": {
            get: { operationId: "list", responses: answer(list) },
            post: { operationId: "create", requestBody: { content }, responses: answer(content) },
          },
          [`/v1/tags/{${idField}}`]: {
            parameters: [byId],
            get: { operationId: "get", responses: answer(content) },
          },
        },
      };
    };
    await put({ openapi: describeTags("id") });
    const { body: kept } = await api.call("dan", "POST", "/v1/tags", { slug: "red", name: "Red" });
    await api.call("dan", "POST", "/v1/tags", { slug: "", name: "Nameless" });
    await api.call(undefined, "POST", `${CONTROL}/snapshots`, { name: "early" });
    await put({ openapi: describeTags("slug") });
    expect((await api.call("dan", "GET", "/v1/tags")).body).toEqual([kept]);
    expect((await api.call("dan", "GET", "/v1/tags/red")).body).toEqual(kept);
    const { status } = await api.call(undefined, "POST", `${CONTROL}/snapshots/early/restore`);
    expect(status).toBe(200);
    expect((await api.call("dan", "GET", "/v1/tags")).body).toEqual([kept]);
    expect((await api.call(undefined, "GET", `${CONTROL}/history`)).status).toBe(200);
  });

  it("may be an object with separate bindings [interfaces 18]", async () => {
    const openapi = {
      openapi: "3.0.3",
      paths: {
        "/v1/hello": {
          get: {
            operationId: "hello",
            responses: { "200": { description: "", content: { "application/json": {} } } },
          },
        },
      },
    };
    await put({
      openapi,
      bindings: { operations: { hello: { answer: { hello: "{caller.user_id}" }, access: "caller" } } },
    });
    expect((await api.call("dan", "GET", "/v1/hello")).body).toEqual({ hello: "usr_dan" });
    expect((await api.call(undefined, "GET", "/v1/hello")).status).toBe(401);
  });

  it("has the source `openapi`, also if it was sent as a text with bindings", async () => {
    const bindings = "operations: { health: { answer: { status: ok } } }";
    const { status, body } = await put({ openapi: TEXT, bindings });
    expect([status, body.items[0].source]).toEqual([200, "openapi"]);
  });

  it("does not replace operations of the reference, and a warning names them [interfaces 18]", async () => {
    const openapi = {
      openapi: "3.1.0",
      paths: { "/v1/models": { get: { operationId: "own", responses: {} } } },
    };
    const { body } = await put({ openapi });
    expect(body.total).toBe(0);
    expect(body.warnings[0]).toContain("the built-in API has GET /v1/models, so own is not used");
  });

  it.each([
    ["a text with its line", { openapi: "openapi: 3.1.0\npaths: []\n" }, "openapi:2:8: paths must be a map"],
    [
      "an object with its field",
      { openapi: { openapi: "3.1.0", paths: [] } },
      "openapi: paths must be a map",
    ],
    [
      "bindings that name nothing",
      { openapi: { openapi: "3.1.0" }, bindings: { operations: { a: { answer: 1 } } } },
      'bindings: openapi has no operation "a"',
    ],
    ["no document", { openapi: 3 }, "this is not an OpenAPI document"],
  ])("is refused as a whole, %s, and the earlier one stays", async (_, sent, message) => {
    await put({ openapi: TEXT });
    const { status, body } = await put(sent);
    expect(status).toBe(422);
    expect(body.detail).toContain(message);
    expect((await api.call(undefined, "GET", OPERATIONS)).body.total).toBe(30);
  });

  it("is in the timeline: when it came, and what its requests changed [interfaces 10]", async () => {
    await put({ openapi: TEXT });
    await api.call("dan", "POST", "/v2/projects", { key: "APP", name: "App" });
    const { body } = await api.call(undefined, "GET", `${CONTROL}/history`);
    expect(JSON.stringify(body.entries)).toContain("The sandbox got 30 operations of its own.");
    expect((await api.call(undefined, "GET", `${CONTROL}/journal?operation=createProject`)).body.total).toBe(
      1,
    );
    const paths = { "/v1/tags": { get: { responses: {} } } };
    await put({ openapi: { openapi: "3.1.0", info: { title: "Tags", version: "1" }, paths } });
    const [latest] = (await api.call(undefined, "GET", `${CONTROL}/history`)).body.entries;
    expect(latest.title).toBe("The sandbox got 1 operation of its own.");
  });

  it("is part of a bundle, which is replayed elsewhere without a file [interfaces 4]", async () => {
    await put({ openapi: TEXT });
    await api.call(undefined, "POST", `${CONTROL}/reset`, {});
    await api.call("dan", "POST", "/v2/projects", { key: "APP", name: "App" });
    expect((await api.call("dan", "GET", "/v2/projects")).body.data).toHaveLength(1);
    const { body: early } = await api.call(undefined, "POST", `${CONTROL}/bundle`);
    expect(early).not.toHaveProperty("operations");
    expect(await replayBundle(readBundle(JSON.stringify(early), "a.json"))).toEqual({
      requests: 2,
      control_calls: 0,
    });
    await api.call(undefined, "DELETE", OPERATIONS);
    await put({ openapi: TEXT });
    expect((await api.call("dan", "GET", "/v2/projects")).body.data).toEqual([]);
    const { body: late } = await api.call(undefined, "POST", `${CONTROL}/bundle`);
    expect(await replayBundle(readBundle(JSON.stringify(late), "a.json"))).toEqual({
      requests: 3,
      control_calls: 2,
    });
  });

  it("has a scenario for each documented refusal, in this sandbox only [interfaces 6]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "other" });
    await put({ openapi: TEXT });
    const { items } = (await api.call(undefined, "GET", `${CONTROL}/scenarios`)).body;
    const name = "getProject-not-found";
    expect(items.find((one: { name: string }) => one.name === name)).toMatchObject({
      ...{ origin: "derived", active: false },
      description: expect.stringContaining("answered with 404"),
    });
    const { body: project } = await api.call("dan", "POST", "/v2/projects", { key: "APP", name: "App" });
    const get = async (headers = {}) =>
      (await api.call("dan", "GET", `/v2/projects/${project.id}`, undefined, headers)).status;
    expect([await get(), await get({ "x-sandbox-fault": name })]).toEqual([200, 404]);
    const activate = (sandbox: string) =>
      api.call(undefined, "PUT", `/_control/sandboxes/${sandbox}/scenarios/active`, { names: [name] });
    expect((await activate("default")).status).toBe(200);
    expect(await get()).toBe(404);
    expect((await activate("other")).status).toBe(422);
    const { body: bundle } = await api.call(undefined, "POST", `${CONTROL}/bundle`);
    expect(await replayBundle(readBundle(JSON.stringify(bundle), "a.json"))).toMatchObject({ requests: 4 });
  });

  it("names an active scenario that ends, since its operation is gone [interfaces 18]", async () => {
    await put({ openapi: TEXT });
    const names = ["getProject-not-found"];
    await api.call(undefined, "PUT", `${CONTROL}/scenarios/active`, { names });
    const { body: same } = await put({ openapi: TEXT });
    const { body: renamed } = await put({ openapi: TEXT.replaceAll("getProject", "readProject") });
    const sentence = "The scenario getProject-not-found was active in sandbox default, but no longer exists.";
    expect([same.warnings, renamed.warnings]).toEqual([same.warnings, [...same.warnings, sentence]]);
    expect(same.warnings).not.toContain(sentence);
  });

  it("has scenarios that another sandbox's header cannot name, also while they are active here [interfaces 3, 18]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "other" });
    await put({ openapi: TEXT });
    const names = ["getProject-not-found"];
    await api.call(undefined, "PUT", `${CONTROL}/scenarios/active`, { names });
    const { status, body } = await api.call("dan", "GET", "/_s/other/v1/models", undefined, {
      "x-sandbox-fault": names[0]!,
    });
    expect([status, body.detail]).toEqual([400, expect.stringContaining("neither a code")]);
  });
});
