import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { connect, createUnderstudy, type LocalUnderstudy } from "../../src/client/index.ts";
import type { SandboxClient } from "../../src/client/sandbox.ts";
import { runInSandbox, type TestOptions, TestServers } from "../../src/client/test-sandbox.ts";
import { toOperationsOption } from "../../src/engine/own/join.ts";
import { type Api, startReference } from "../support/harness.ts";
import { readExample } from "../support/own/serve-document.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";
import * as operations from "./notes.ts";

afterAll(removeTempFolders);
let understudy: LocalUnderstudy | undefined;
afterEach(async () => {
  await understudy?.close();
  understudy = undefined;
});
const begin = async () => {
  understudy = await createUnderstudy({ operations, seed: 7 });
  return understudy;
};
const TRACKER = readExample("issue-tracker/openapi.yaml");

const DECLARED = `
import { defineCollection, defineOperation, string } from "understudy-sandbox/operations";
export const notes = defineCollection({ name: "notes", fields: { text: string({ min: 1 }) } });
export const listNotes = defineOperation({
  id: "notes.list", method: "GET", path: "/v1/notes", uses: { notes },
  handle: ({ world }) => ({ data: world.notes.page() }),
});
`;
const write = (name: string, text: string) => {
  const file = join(createTempFolder(), name);
  writeFileSync(file, text);
  return file;
};

it("an agent lists and calls own operations of its sandbox by MCP [interfaces 13]", async () => {
  const { url } = await begin();
  await (await connect(url).open("default")).operations.replace(TRACKER);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/_control/mcp`)));
  const call = async (name: string, args: Record<string, unknown>) => {
    const answer = (await client.callTool({ name, arguments: args })) as {
      isError?: boolean;
      content: { text: string }[];
    };
    expect(answer.isError, answer.content[0]!.text).toBeFalsy();
    return JSON.parse(answer.content[0]!.text);
  };
  try {
    const { operations: ids } = await call("describe_operation", {});
    expect(ids).toEqual(expect.arrayContaining(["notes.create", "createProject", "models.list"]));
    expect(await call("describe_operation", { operation: "createProject" })).toMatchObject({
      method: "POST",
      path: "/v2/projects",
      "x-own": "openapi",
    });
    await connect(url).sandbox({ name: "other" });
    const other = await call("describe_operation", { sandbox: "other" });
    expect(other.operations).toContain("notes.create");
    expect(other.operations).not.toContain("createProject");
    const made = await call("call_api", {
      ...{ as: "usr_dan", method: "POST", path: "/v2/projects" },
      body: { key: "APP", name: "App" },
    });
    expect(JSON.stringify(made)).toContain('"App"');
  } finally {
    await client.close();
  }
});

it("state calls of a declared collection have its types [interfaces 8]", async () => {
  const sandbox = await (await begin()).sandbox();
  const notes = sandbox.state(operations.notes);
  const made = await notes.create({ text: "Hello" });
  expectTypeOf(made.text).toEqualTypeOf<string>();
  expectTypeOf(notes.create).parameter(0).exclude<undefined>().toHaveProperty("author_id");
  // @ts-expect-error: a note has no title
  await expect(notes.create({ title: "x" })).rejects.toThrow("title");
  expect((await notes.list({ text: "Hello" })).items).toEqual([made]);
  await notes.remove(made.id);
  expect((await notes.list()).total).toBe(0);
});

it("types of a running server's own operations are generated for a client [interfaces 18]", async () => {
  const { url } = await begin();
  await (await connect(url).open("default")).operations.replace(TRACKER);
  const { code, stdout } = await runCommand(["types", "--url", url]);
  expect(code).toBe(0);
  expect(stdout).toContain('"notes.create": {');
  expect(stdout).toContain("  projects: {\n    id: string;");
  expect((await runCommand(["types", "--url", url, "--openapi", "a.yaml"])).code).toBe(2);
  expect((await runCommand(["types", "--url", url, "--sandbox", "none"])).stderr).toContain("none");
  expect((await runCommand(["types", "--url", `${url}/_s/another`])).stderr).toContain("another");
});

describe.each([{ engine: false }, { engine: true }])("a test runner's sandbox, %j", (start) => {
  const servers = new TestServers();
  afterAll(() => servers.close());
  const run = (options: TestOptions, body: (sandbox: SandboxClient) => Promise<void>) =>
    runInSandbox(
      servers,
      { ...start, ...options },
      {
        name: "a test",
        run: body,
        outcome: () => "passed",
        onFailure: () => {},
      },
    );
  const ask = async (sandbox: SandboxClient, path: string) =>
    (await sandbox.fetch(path, { headers: { "api-key": sandbox.credentials.usr_dan } })).status;

  it("has the operations of its options, and not those of another test [interfaces 13]", async () => {
    const document = write("tracker.yaml", TRACKER);
    await run({ operations, fixture: { extends: "reference", notes: 3 } as object }, async (sandbox) => {
      expect((await sandbox.state(operations.notes).list()).total).toBe(3);
      expect([await ask(sandbox, "/v1/notes"), await ask(sandbox, "/v2/projects")]).toEqual([200, 404]);
    });
    await run({ openapi: [document] }, async (sandbox) => {
      expect([await ask(sandbox, "/v1/notes"), await ask(sandbox, "/v2/projects")]).toEqual([404, 200]);
    });
    await run({}, async (sandbox) => {
      expect([await ask(sandbox, "/v1/notes"), await ask(sandbox, "/v2/projects")]).toEqual([404, 404]);
    });
    await expect(run({ operations: "notes" as never }, async () => {})).rejects.toThrow(
      "option operations is a module with declarations",
    );
  });
});

it("verify checks recorded traffic of own operations against their declarations [interfaces 12]", async () => {
  const document = write("tracker.yaml", TRACKER);
  understudy = await createUnderstudy({ openapi: [document], seed: 7 });
  const sandbox = await understudy.open("default");
  const headers = { "api-key": sandbox.credentials.usr_dan, "content-type": "application/json" };
  const body = JSON.stringify({ key: "APP", name: "App" });
  const made = await fetch(`${understudy.url}/v2/projects`, { method: "POST", headers, body });
  const { id } = (await made.json()) as { id: string };
  await fetch(`${understudy.url}/v2/projects/${id}`, { headers });
  const har = await (await fetch(`${sandbox.controlUrl}/journal.har`)).text();
  const verify = (text: string, ...own: string[]) =>
    runCommand(["verify", "--har", write("traffic.har", text), "--json", ...own]);
  const right = await verify(har, "--openapi", document);
  expect(right.code, right.stdout + right.stderr).toBe(0);
  expect(right.stdout).toContain("getProject");
  const archive = JSON.parse(har);
  for (const { response } of archive.log.entries)
    if (response.status === 200) {
      const text = JSON.stringify({ id, name: 7 });
      Object.assign(response.content, { text, size: text.length });
    }
  const wrong = await verify(JSON.stringify(archive), "--openapi", document);
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining("getProject: the body has no")]);
});

it("parameters of a path may have dashes and dots, in calls, dry runs and refusals of scenarios [interfaces 18]", async () => {
  understudy = await createUnderstudy({ seed: 7 });
  const sandbox = await understudy.open("default");
  const makeParameter = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } });
  await sandbox.operations.replace({
    openapi: "3.1.0",
    info: { title: "Parts", version: "1" },
    paths: {
      "/v1/items/{item-id}/parts/{part.no}": {
        get: {
          operationId: "getPart",
          parameters: [makeParameter("item-id"), makeParameter("part.no")],
          "x-understudy": { answer: { item: "{item-id}", part: "{part.no}" } },
          responses: { 200: { description: "" } },
        },
      },
    },
  });
  const headers = { "api-key": sandbox.credentials.usr_dan };
  const answer = await fetch(`${sandbox.url}/v1/items/i 1/parts/7`, { headers });
  expect(await answer.json()).toEqual({ item: "i 1", part: "7" });
  const dry = await sandbox.faults.explain({
    operation: "getPart" as never,
    params: { "item-id": "i 1", "part.no": "7" } as never,
  });
  expect(dry).toMatchObject({ operation: "getPart", status: 200 });
  const open = await sandbox.faults.explain({
    operation: "getPart" as never,
    params: { "item-id": "i" } as never,
  });
  expect(JSON.stringify(open)).toContain("depends on part.no");
  await sandbox.faults.add({
    match: { operation: "getPart" as never },
    effect: { error: "RESOURCE_NOT_FOUND!" },
  });
  const refused = await fetch(`${sandbox.url}/v1/items/i/parts/8`, { headers });
  expect(((await refused.json()) as { error: object }).error).toMatchObject({ details: { "part.no": "8" } });
});

it("an operation's id may have special characters, in rules, derived scenarios and the journal [interfaces 18]", async () => {
  understudy = await createUnderstudy({ seed: 7 });
  const sandbox = await understudy.open("default");
  const describeOperation = (operationId: string) => ({
    get: { operationId, responses: { 200: { description: "" } } },
  });
  const document = (...ids: readonly string[]) => ({
    openapi: "3.1.0",
    info: { title: "Ids", version: "1" },
    paths: Object.fromEntries(ids.map((id, index) => [`/v1/special/${index}`, describeOperation(id)])),
  });
  await sandbox.operations.replace(
    document("Get a thing (v2)", "GET_/users/{id}", "GET_/users/me", "获取用户") as never,
  );
  const headers = { "api-key": sandbox.credentials.usr_dan };
  const send = (index: number) => fetch(`${sandbox.url}/v1/special/${index}`, { headers });
  const listStatuses = async () => {
    const answers = await Promise.all([0, 1, 2, 3].map(send));
    return answers.map(({ status }) => status);
  };
  await sandbox.scenarios.activate("Get a thing (v2)-invalid-input" as never);
  expect(await listStatuses()).toEqual([422, 200, 200, 200]);
  await sandbox.scenarios.activate("GET-/users/{id}-invalid-input" as never);
  expect(await listStatuses()).toEqual([200, 422, 200, 200]);
  await sandbox.scenarios.activate("获取用户-invalid-input" as never);
  expect(await listStatuses()).toEqual([200, 200, 200, 422]);
  expect((await send(3)).headers.get("x-sandbox-decision")).toBe(
    "fault:%E8%8E%B7%E5%8F%96%E7%94%A8%E6%88%B7-invalid-input/invalid-input",
  );
  await sandbox.scenarios.activate();
  const operation = "Get a thing (v2)" as never;
  await sandbox.faults.add({ match: { operation }, effect: { status: 503 } });
  expect(await listStatuses()).toEqual([503, 200, 200, 200]);
  await sandbox.journal.verify({ match: { operation, status: 503 }, count: 1 });
  await sandbox.operations.replace(document("getThing") as never);
  expect((await send(0)).status).toBe(200);
});

it("a scenario file of the user precedes the derived scenario of a sandbox's own operation [interfaces 6, 18]", async () => {
  const file = write(
    "getTags-signed-out.yaml",
    "description: Down\nrules:\n  - { match: { path: /tags }, effect: { status: 503 } }\n",
  );
  const document = (id: string) => ({
    openapi: "3.1.0",
    info: { title: "Tags", version: "1" },
    components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "api-key" } } },
    paths: {
      "/tags": {
        get: { operationId: id, security: [{ key: [] }], responses: { 200: { description: "Tags" } } },
      },
    },
  });
  understudy = await createUnderstudy({ scenariosFolder: dirname(file) });
  const sandbox = await understudy.open("default");
  await sandbox.operations.replace(document("getTags") as never);
  const read = () =>
    fetch(`${understudy!.url}/tags`, { headers: { "api-key": sandbox.credentials.usr_dan! } });
  const name = "getTags-signed-out" as never;
  await sandbox.scenarios.activate(name);
  expect((await read()).status).toBe(503);
  const listed = (await sandbox.scenarios.list()).items.filter((one) => one.name === name);
  expect(listed).toMatchObject([{ origin: "own", active: true }]);
  const { scenarios } = (await sandbox.bundle()) as never as { scenarios: object[] };
  expect(scenarios).toMatchObject([{ name, document: { description: "Down" } }]);
});

describe("files about own operations", () => {
  it("are accepted by fixture check with own collections [interfaces 5]", async () => {
    const file = write("world.yaml", "extends: reference\nnotes:\n  - { id: note_one, text: Hello }\n");
    const declared = ["--operations", write("notes.ts", DECLARED)];
    expect((await runCommand(["fixture", "check", file])).code).toBe(1);
    expect(await runCommand(["fixture", "check", file, ...declared])).toMatchObject({ code: 0 });
    const wrong = write("wrong.yaml", "extends: reference\nnotes:\n  - { id: note_one, txt: Hello }\n");
    const { code, stdout, stderr } = await runCommand(["fixture", "check", wrong, ...declared]);
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("wrong.yaml:3:")]);
  });

  it("merge lists of own records by the field with their ids when they extend others [interfaces 5]", async () => {
    const document = {
      openapi: "3.1.0",
      info: { title: "Shelves", version: "1" },
      paths: {},
      components: {
        schemas: {
          Shelf: {
            type: "object",
            required: ["code"],
            properties: { key: { type: "string" }, code: { type: "string" }, rows: { type: "integer" } },
          },
        },
      },
      "x-understudy": { collections: { shelves: { schema: "#/components/schemas/Shelf", id: "code" } } },
    };
    const shelves = ["a", "b", "c", "d"].map((code) => ({ key: "wood", code, rows: 1 }));
    const base = write("base.json", JSON.stringify({ extends: "reference", shelves }));
    const changed = [
      { code: "b", rows: 2 },
      { key: "wood", code: "e" },
    ];
    const list = write("list.json", JSON.stringify({ extends: base, shelves: changed }));
    const top = JSON.stringify({ extends: list, shelves: { c: null, d: { rows: 4 }, f: {} } });
    const openapi = write("shelves.json", JSON.stringify(document));
    const listShelves = async (fixture: string) => {
      understudy = await createUnderstudy({ openapi: [openapi], fixture: fixture as `${string}.json` });
      const sandbox = await understudy.open("default");
      const { items } = await sandbox.state("shelves" as "threads").list({ limit: 100 });
      await understudy.close();
      return items;
    };
    expect(await listShelves(list)).toEqual([
      shelves[0],
      { ...shelves[1], rows: 2 },
      shelves[2],
      shelves[3],
      { key: "wood", code: "e" },
    ]);
    expect(await listShelves(write("top.json", top))).toEqual([
      shelves[0],
      { ...shelves[1], rows: 2 },
      { ...shelves[3], rows: 4 },
      { key: "wood", code: "e" },
      { code: "f" },
    ]);
    const wrong = write(
      "wrong.json",
      JSON.stringify({ extends: list, shelves: { x: null, b: { rows: "2" } } }),
    );
    const checked = await runCommand(["fixture", "check", wrong, "--openapi", openapi]);
    expect([checked.code, checked.stdout + checked.stderr]).toEqual([
      1,
      expect.stringMatching(/there is no x here to delete[\s\S]*wrong\.json:1:[\s\S]*rows/),
    ]);
  });

  it("are accepted by scenario check with own operations [interfaces 6]", async () => {
    const makeRule = (operation: string) =>
      `name: mine\ndescription: d\nrules:\n  - match: { operation: ${operation} }\n    effect: { error: RATE_LIMIT_EXCEEDED }\n`;
    const file = write("mine.yaml", makeRule("createProject"));
    const tracker = ["--openapi", write("tracker.yaml", TRACKER)];
    expect((await runCommand(["scenario", "check", file])).code).toBe(1);
    expect(await runCommand(["scenario", "check", file, ...tracker])).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await runCommand([
      ...["scenario", "check", write("wrong.yaml", makeRule("createProjekt")), ...tracker],
    ]);
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("createProject")]);
  });
});

describe("a shared server", () => {
  const TOKEN = "token-of-a-shared-server";
  let api: Api;
  afterEach(() => api.close());
  const begin = async (limits: object) => {
    const declared = await toOperationsOption(operations);
    api = await startReference({ shared: { token: TOKEN, limits }, ...declared });
    return (method: string, path: string, body?: unknown, token = TOKEN) =>
      api.call(undefined, method, `/_control/sandboxes/default${path}`, body, {
        authorization: `Bearer ${token}`,
      });
  };

  it("counts a document and the records of its operations toward its limits [interfaces 7]", async () => {
    const control = await begin({ upload_bytes: 10_000 });
    const refused = await control("PUT", "/operations", { openapi: TRACKER });
    expect([refused.status, refused.body.type]).toEqual([409, "urn:understudy:problem:limit-reached"]);
    expect((await control("GET", "/operations")).body.items).not.toContainEqual(
      expect.objectContaining({ scope: "sandbox" }),
    );
    await api.close();
    const { body } = await (await begin({}))("GET", "");
    const total = Object.values(body.counts as Record<string, number>).reduce((sum, count) => sum + count, 0);
    await api.close();
    const full = await begin({ records: total + 1 });
    expect((await full("PUT", "/operations", { openapi: TRACKER })).status).toBe(200);
    expect((await full("POST", "/state/projects", { key: "AA", name: "A" })).status).toBe(201);
    const over = await full("POST", "/state/projects", { key: "BB", name: "B" });
    expect([over.status, over.body.type]).toEqual([409, "urn:understudy:problem:limit-reached"]);
  });

  it("never executes code in a document, and refuses the document of a client without the token [interfaces 7]", async () => {
    const control = await begin({});
    const code = "globalThis.wasRun = true";
    const openapi = {
      openapi: "3.1.0",
      info: { title: code, version: "1" },
      paths: {
        "/v1/evil": {
          get: {
            operationId: "evil",
            "x-understudy": { answer: { ran: `\${${code}} {constructor.constructor} {body.__proto__}` } },
            responses: { 200: { description: "" } },
          },
        },
      },
    };
    const unknown = await control("PUT", "/operations", { openapi });
    expect([unknown.status, unknown.body.detail]).toEqual([
      422,
      expect.stringContaining("is not a placeholder of"),
    ]);
    openapi.paths["/v1/evil"].get["x-understudy"].answer.ran = `\${${code}} {body.__proto__}`;
    expect((await control("PUT", "/operations", { openapi })).status).toBe(200);
    expect((await api.call("dan", "GET", "/v1/evil")).text).not.toContain("Object");
    const handle = { operations: `export const a = ${code}`, openapi };
    expect((await control("PUT", "/operations", handle)).status).toBe(422);
    expect(globalThis).not.toHaveProperty("wasRun");
    const stranger = await control("PUT", "/operations", { openapi }, "not-the-token-of-this-server");
    expect(stranger.status).toBe(401);
  });
});
