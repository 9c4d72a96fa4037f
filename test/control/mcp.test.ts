import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUnderstudy, type LocalUnderstudy } from "../../src/client/index.ts";
import { TOOLS } from "../../src/client/mcp/mcp-server.ts";
import { createMcpHttpHandler } from "../../src/client/mcp/serve.ts";
import { waitUntil } from "../support/eventually.ts";
import { sendRawRequest } from "../support/raw-request.ts";
import { createTempFolder, removeTempFolders, runCommand, startServer } from "../support/run-understudy.ts";

const BIN = fileURLToPath(new URL("../../bin/understudy.js", import.meta.url));
const READING = [
  ...["list_sandboxes", "describe_operation", "explain_request", "list_journal", "list_deliveries"],
  ...[
    "list_history",
    "verify_requests",
    "list_pending",
    "list_held",
    "diff_snapshots",
    "coverage",
    "make_bundle",
  ],
];
const WRITING = [
  ...["create_sandbox", "reset_sandbox", "call_api", "change_state", "arm_fault", "advance_clock"],
  ...["trigger_event", "save_or_restore", "release_held", "rewind", "client_test"],
];

interface ToolResult {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
}

let understudy: LocalUnderstudy;
const clients: Client[] = [];
beforeAll(async () => {
  understudy = await createUnderstudy();
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await understudy.close();
  removeTempFolders();
});

type Transport = Parameters<Client["connect"]>[0];

async function openClient(transport: Transport): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  clients.push(client);
  return client;
}

const createHttpTransport = (url = understudy.url, headers: Record<string, string> = {}) =>
  openClient(new StreamableHTTPClientTransport(new URL(`${url}/_control/mcp`), { requestInit: { headers } }));
const createStdioTransport = () =>
  openClient(
    new StdioClientTransport({ command: process.execPath, args: [BIN, "mcp", "--url", understudy.url] }),
  );

/** Calls a tool and returns its result as a value. */
async function call(client: Client, name: string, args: object = {}): Promise<Record<string, unknown>> {
  const answer = (await client.callTool({ name, arguments: args as Record<string, unknown> })) as ToolResult;
  expect(answer.isError, answer.content[0]?.text).not.toBe(true);
  expect(JSON.parse(answer.content[0]!.text)).toEqual(answer.structuredContent);
  return answer.structuredContent!;
}

async function callRefused(client: Client, name: string, args: object): Promise<string> {
  const answer = (await client.callTool({ name, arguments: args as Record<string, unknown> })) as ToolResult;
  expect(answer.isError).toBe(true);
  return answer.content[0]!.text;
}

describe.each([
  ["HTTP", createHttpTransport],
  ["stdio", createStdioTransport],
] as const)("MCP over %s", (transport, open) => {
  let client: Client;
  const sandbox = `mcp-${transport.toLowerCase()}`;
  beforeAll(async () => {
    client = await open();
  });

  it("offers every tool with arguments and annotations [interfaces 13]", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([...READING, ...WRITING].sort());
    for (const { name, annotations, inputSchema, description } of tools) {
      expect(annotations?.readOnlyHint, name).toBe(READING.includes(name));
      expect(inputSchema.additionalProperties, name).toBe(false);
      expect(description, name).toMatch(/\.$/);
    }
    const { inputSchema } = tools.find(({ name }) => name === "list_journal")!;
    expect(Object.keys(inputSchema.properties!)).toEqual(
      expect.arrayContaining(["sandbox", "operation", "status", "limit"]),
    );
  });

  it("works on a world: call, fault, explain, journal, verify, coverage [interfaces 13]", async () => {
    const made = await call(client, "create_sandbox", { name: sandbox, clock: { mode: "frozen" }, seed: 7 });
    expect(made).toMatchObject({ name: sandbox, seed: 7 });
    expect(JSON.stringify(await call(client, "list_sandboxes"))).toContain(`"${sandbox}"`);
    const asked = { sandbox, method: "GET", path: "/v1/models", as: "usr_dan" };
    expect(await call(client, "call_api", asked)).toMatchObject({
      status: 200,
      body: { models: expect.any(Array) },
    });
    const rule = { match: { operation: "models.list" }, times: 1, effect: { error: "RATE_LIMIT_EXCEEDED" } };
    expect(await call(client, "arm_fault", { sandbox, ...rule })).toMatchObject({ id: "fault_1", hits: 0 });
    const explanation = await call(client, "explain_request", {
      sandbox,
      operation: "models.list",
      principal: "usr_dan",
    });
    expect(JSON.stringify(explanation)).toContain("fault_1");
    expect(await call(client, "call_api", asked)).toMatchObject({ status: 429 });
    const { entries } = (await call(client, "list_journal", { sandbox, status: "429" })) as {
      entries: { id: string }[];
    };
    expect(entries).toHaveLength(1);
    const match = { operation: "models.list" };
    expect(await call(client, "verify_requests", { sandbox, match, count: 2 })).toMatchObject({
      ok: true,
      found: 2,
    });
    const { operations } = (await call(client, "coverage", { sandbox, operation: "models.list" })) as {
      operations: { seen: unknown[]; missing: unknown[] }[];
    };
    expect(operations[0]!.seen).toEqual([200, "RATE_LIMIT_EXCEEDED"]);
    expect(operations[0]!.missing).not.toEqual([]);
    expect(await call(client, "arm_fault", { sandbox, remove: "all" })).toMatchObject({ total: 0 });
    const { contents } = await client.readResource({
      uri: `understudy://sandboxes/${sandbox}/journal/${entries[0]!.id}`,
    });
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({
      status: 429,
      path: "/v1/models",
    });
  });

  it("gives a text as it is, also if JSON would read it as a number [interfaces 13]", async () => {
    const { name } = await call(client, "create_sandbox");
    const version = { status: 200, headers: { "content-type": "text/plain" }, body: "1.50" };
    await call(client, "arm_fault", { sandbox: name, match: { path: "/v1/version" }, effect: version });
    const asked = { sandbox: name, method: "GET", path: "/v1/version", as: "usr_dan" };
    expect(await call(client, "call_api", asked)).toMatchObject({ status: 200, body: "1.50" });
  });

  it.each(["a", "ab"])("cuts a long text between two characters: after %j [interfaces 13]", async (start) => {
    const { name } = await call(client, "create_sandbox", { seed: 1 });
    const effect = {
      status: 200,
      headers: { "content-type": "text/plain" },
      body: start + "😀".repeat(26_000),
    };
    await call(client, "arm_fault", { sandbox: name, match: { operation: "models.list" }, effect });
    const asked = { sandbox: name, method: "GET", path: "/v1/models", as: "usr_dan" };
    expect((await call(client, "call_api", asked))["body"]).toMatch(/^ab?(😀)+$/u);
    await call(client, "call_api", { ...asked, headers: { "x-note": start } });
    const journal = (await client.callTool({
      name: "list_journal",
      arguments: { sandbox: name },
    })) as ToolResult;
    expect(journal.content[0]!.text).toMatch(/😀\n… the first 100000 of/u);
  });

  it("shows deliveries with their bytes, adds up coverage, and hands over a bundle that replays [interfaces 13]", async () => {
    const { name } = (await call(client, "create_sandbox", { clock: { mode: "frozen" } })) as {
      name: string;
    };
    const hook = { url: "http://127.0.0.1:9/hook", events: ["user.created"] };
    const asked = { sandbox: name, method: "POST", path: "/webhooks", as: "usr_ada", body: hook };
    expect(await call(client, "call_api", asked)).toMatchObject({ status: 201 });
    await call(client, "trigger_event", { sandbox: name, event: "user.created" });
    const { items } = (await call(client, "list_deliveries", { sandbox: name, status: "pending" })) as {
      items: { delivery_id: string; why: string }[];
    };
    expect(items.map(({ why }) => why)).toEqual([expect.stringContaining("ECONNREFUSED")]);
    const one = await call(client, "list_deliveries", { sandbox: name, id: items[0]!.delivery_id });
    expect(one).toMatchObject({ body: expect.stringContaining('"user.created"'), log: [{ kind: "first" }] });
    const seen = { operation: "webhooks.create", all: true };
    expect(await call(client, "coverage", seen)).toMatchObject({ operations: [{ seen: [201] }] });
    expect(await call(client, "coverage", { ...seen, all: "true" })).toMatchObject({
      operations: [{ seen: [201] }],
    });
    const { bundle } = await call(client, "make_bundle", { sandbox: name });
    const file = join(createTempFolder(), "bug.json");
    writeFileSync(file, JSON.stringify(bundle));
    expect(await runCommand(["replay", file])).toMatchObject({ code: 0, stderr: "" });
    expect(await callRefused(client, "list_deliveries", { sandbox: name, id: "del_none" })).toContain(
      "no delivery",
    );
  });

  it("changes state and time, stores and compares snapshots, and rewinds [interfaces 13]", async () => {
    await call(client, "save_or_restore", { sandbox, action: "save", snapshot: "start" });
    const record = { title: "Made by a model" };
    const { id } = await call(client, "change_state", {
      sandbox,
      action: "create",
      collection: "threads",
      record,
    });
    const renamed = { sandbox, action: "update", collection: "threads", id, record: { title: "Renamed" } };
    expect(await call(client, "change_state", renamed)).toMatchObject({ title: "Renamed" });
    const difference = await call(client, "diff_snapshots", { sandbox, before: "start" });
    expect(JSON.stringify(difference)).toContain(String(id));
    const { entries } = (await call(client, "list_history", { sandbox, kind: "control" })) as {
      entries: { id: string }[];
    };
    await call(client, "rewind", { sandbox, id: entries[0]!.id });
    const { contents } = await client.readResource({
      uri: `understudy://sandboxes/${sandbox}/state/threads`,
    });
    expect((contents[0] as { text: string }).text).toContain("Made by a model");
    await call(client, "change_state", { sandbox, action: "delete", collection: "threads", id });
    await call(client, "save_or_restore", { sandbox, action: "restore", snapshot: "start" });
    expect(
      await call(client, "trigger_event", { sandbox, event: "user.created", for: "usr_dan" }),
    ).toHaveProperty("deliveries");
    expect(await call(client, "list_pending", { sandbox })).toHaveProperty("items");
    expect(await call(client, "advance_clock", { sandbox, by: "5m" })).toHaveProperty("ran");
    expect(await call(client, "reset_sandbox", { sandbox })).toMatchObject({ name: sandbox });
  });

  it("describes operations, documents and prompts", async () => {
    const described = await call(client, "describe_operation", { operation: "departments.reparent" });
    expect(described).toMatchObject({ method: "POST", operationId: "departments.reparent" });
    expect(Object.keys(described["components"] as object).length).toBeGreaterThan(0);
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri).sort();
    expect(uris).toEqual(
      ["control-api.json", "errors", "fidelity", "openapi.json"].map((name) => `understudy://${name}`),
    );
    for (const uri of uris) {
      const { contents } = await client.readResource({ uri });
      expect(Object.keys(JSON.parse((contents[0] as { text: string }).text)).length, uri).toBeGreaterThan(0);
    }
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      "reproduce_bug",
      "exercise_refusals",
      "harden_receiver",
    ]);
    const { messages } = await client.getPrompt({
      name: "reproduce_bug",
      arguments: { report: "Uploads hang" },
    });
    expect((messages[0]!.content as { text: string }).text).toContain("The report: Uploads hang");
  });

  it.each([
    ["reset", /^the request got no whole answer: the connection was reset before an answer$/],
    ["truncate", /^the request got no whole answer: the connection was closed before the end of the body$/],
  ])("says why a call got no whole answer: %s [interfaces 13]", async (wire, message) => {
    const { name } = (await call(client, "create_sandbox", {})) as { name: string };
    const rule = { match: { operation: "models.list" }, effect: { wire } };
    await call(client, "arm_fault", { sandbox: name, ...rule });
    const asked = { sandbox: name, method: "GET", path: "/v1/models", as: "usr_dan" };
    expect(await callRefused(client, "call_api", asked)).toMatch(message);
  });

  it("releases a held request, and says nothing more [interfaces 13]", async () => {
    const { name } = await call(client, "create_sandbox");
    const rule = { match: { operation: "models.list" }, effect: { hold: true } };
    await call(client, "arm_fault", { sandbox: name, ...rule });
    const waiting = call(client, "call_api", {
      sandbox: name,
      method: "GET",
      path: "/v1/models",
      as: "usr_dan",
    });
    const listHeld = async () =>
      (await call(client, "list_held", { sandbox: name }))["items"] as { id: string }[];
    await waitUntil(async () => (await listHeld()).length > 0);
    const [held] = await listHeld();
    expect(await call(client, "release_held", { sandbox: name, id: held!.id })).toEqual({});
    expect(await waiting).toMatchObject({ status: 200 });
  });

  it("refuses an id that would name another call [interfaces 13]", async () => {
    const { name } = await call(client, "create_sandbox");
    await call(client, "call_api", { sandbox: name, method: "GET", path: "/v1/models" });
    const deletion = { sandbox: name, action: "delete", collection: "..", id: "journal" };
    expect(await callRefused(client, "change_state", deletion)).toBe('".." is not an id or a name');
    expect(await call(client, "list_journal", { sandbox: name })).toMatchObject({ total: 1 });
    expect(await callRefused(client, "arm_fault", { sandbox: name, remove: "" })).toBe(
      '"" is not an id or a name',
    );
  });

  it("refuses with the server's sentences and hints [interfaces 13]", async () => {
    expect(await callRefused(client, "list_journal", { operatoin: "models.list" })).toMatch(
      /^list_journal has no argument "operatoin"; its arguments are sandbox, kind, operation,/,
    );
    expect(await callRefused(client, "call_api", { method: "GET" })).toMatch(
      /^call_api needs the argument path;/,
    );
    const asked = { method: "GET", path: "/v1/models", headers: "accept: text/csv" };
    expect(await callRefused(client, "call_api", asked)).toBe(
      'call_api takes headers as a map, not "accept: text/csv"',
    );
    expect(await callRefused(client, "list_journal", { sandbox: {} })).toBe(
      "list_journal takes sandbox as a text, not {}",
    );
    expect(
      await callRefused(client, "change_state", { action: "create", collection: "threads", record: [1] }),
    ).toBe("change_state takes record as a map, not [1]");
    expect(await callRefused(client, "client_test", { action: "start", checks: "one-refresh" })).toBe(
      'client_test takes checks as a list, not "one-refresh"',
    );
    expect(await callRefused(client, "call_api", { method: "GET", path: "/_control/sandboxes" })).toContain(
      "the emulated API",
    );
    expect(
      await callRefused(client, "call_api", { method: "GET", path: "/v1/models", as: "usr_nobody" }),
    ).toContain("usr_dan");
    expect(await callRefused(client, "advance_clock", { by: "soon" })).toContain('"status":422');
    expect(
      await callRefused(client, "arm_fault", { match: { operation: "models.lst" }, effect: { status: 503 } }),
    ).toContain("models.list");
    expect(await callRefused(client, "list_journal", { sandbox: "nowhere" })).toContain(
      "There is no sandbox",
    );
    expect(await callRefused(client, "describe_operation", { operation: "models.lst" })).toContain(
      "models.list",
    );
    expect(await callRefused(client, "change_state", { action: "drop", collection: "threads" })).toContain(
      "create, update, delete",
    );
  });
});

describe("a connection by MCP", () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${understudy.url}/_control/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body,
    });

  it("is subject to the guard of the control API: token, Host and Origin [interfaces 13]", async () => {
    const shared = await createUnderstudy({ shared: { token: "a-token-of-sixteen" } });
    try {
      await expect(createHttpTransport(shared.url)).rejects.toThrow();
      const client = await createHttpTransport(shared.url, { authorization: "Bearer a-token-of-sixteen" });
      expect(await call(client, "list_sandboxes")).toMatchObject({ total: 1 });
      const path = `/v1/models?${"x".repeat(8000)}`;
      for (let read = 0; read < 10; read++) await call(client, "call_api", { method: "GET", path });
      expect((await call(client, "make_bundle"))["or"]).toContain("-H 'authorization: Bearer TOKEN'");
    } finally {
      await shared.close();
    }
    expect((await post("{}", { origin: "https://elsewhere.example" })).status).toBe(403);
  });

  it("hands out URLs of the address that the agent called, and needs no way back to it [interfaces 13]", async () => {
    const { ready, stop } = await startServer();
    const port = Number(new URL(ready.url).port);
    // Passes bytes on as a port mapping does, and stops accepting connections before the API is called.
    const mapping = createTcpServer((socket) => void socket.pipe(connectTcp(port)).pipe(socket));
    await once(mapping.listen(0, "127.0.0.1"), "listening");
    const address = `http://127.0.0.1:${(mapping.address() as AddressInfo).port}`;
    const client = await createHttpTransport(address);
    await call(client, "create_sandbox", { name: "mapped" });
    expect(await call(client, "list_sandboxes")).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ base_url: `${address}/_s/mapped` })]),
    });
    mapping.close();
    const path = "/v1/organizations/org_acme/files/upload-url";
    const body = { filename: "a.txt", mime_type: "text/plain", file_size: 1 };
    const asked = { sandbox: "mapped", method: "POST", path, as: "usr_dan", body };
    expect(JSON.stringify(await call(client, "call_api", asked))).toContain(`${address}/_s/mapped/`);
    await stop();
  });

  it("survives requests that HTTP forbids, and reports what they get [interfaces 13]", async () => {
    const { ready, stop } = await startServer();
    const client = await createHttpTransport(ready.url);
    const asked = { method: "GET", path: "/v1/models", as: "usr_dan" };
    await call(client, "call_api", { ...asked, headers: { "content-length": "3" } });
    expect(await callRefused(client, "call_api", { ...asked, method: "CONNECT" })).toContain(
      "no whole answer",
    );
    expect(await call(client, "call_api", { ...asked, method: "HEAD" })).toMatchObject({ status: 405 });
    expect(await call(client, "call_api", { ...asked, body: { a: "ä" } })).toMatchObject({ status: 200 });
    await stop();
  });

  it("limits bodies, and answers to what is not a message [interfaces 13]", async () => {
    expect((await post(JSON.stringify({ long: "x".repeat(2 * 1024 * 1024) }))).status).toBe(413);
    expect((await post("{")).status).toBe(400);
  });

  it("answers a GET with a body as one without [interfaces 13]", async () => {
    const port = Number(new URL(understudy.url).port);
    const head = ["GET /_control/mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 2", "Connection: close"];
    expect((await sendRawRequest(port, head, "{}")).status).toBe(405);
  });

  it("answers a TRACE as any other wrong method [interfaces 13]", async () => {
    const port = Number(new URL(understudy.url).port);
    const head = ["TRACE /_control/mcp HTTP/1.1", "Host: 127.0.0.1", "Connection: close"];
    expect((await sendRawRequest(port, head)).status).toBe(405);
  });

  it("works after a failed first attempt to reach the control API [interfaces 13]", async () => {
    let url = "http://127.0.0.1:9";
    const serve = createMcpHttpHandler({ url: () => url, token: undefined, version: "0.1.0" });
    const front = createServer((request, response) => {
      serve(request, response).catch(() => response.writeHead(500).end());
    }).listen(0, "127.0.0.1");
    await once(front, "listening");
    const address = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
    try {
      await expect(createHttpTransport(address)).rejects.toThrow();
      ({ url } = understudy);
      expect(await call(await createHttpTransport(address), "list_sandboxes")).toHaveProperty("items");
    } finally {
      front.closeAllConnections();
      front.close();
    }
  });

  it("ends with 0 once its input ends, also if it is a file [interfaces 13]", async () => {
    const { code, stderr } = await runCommand(["mcp", "--url", understudy.url]);
    expect([code, stderr]).toEqual([0, ""]);
  });

  it("answers every call of an input that ends at once, the last line without a newline [interfaces 13]", async () => {
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const callApi = {
      name: "call_api",
      arguments: { sandbox: "default", method: "GET", path: "/v1/models" },
    };
    const input = [
      { id: 1, method: "initialize", params },
      { method: "notifications/initialized" },
      ...[2, 3, 4].map((id) => ({ id, method: "tools/call", params: callApi })),
    ].map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }));
    const child = spawn(process.execPath, [BIN, "mcp", "--url", understudy.url]);
    child.stdin.end(input.join("\n"));
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    expect([code, stderr]).toEqual([0, ""]);
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4]);
  });

  it("ends when its answers have no reader, while its input is open [interfaces 13]", async () => {
    const child = spawn(process.execPath, [BIN, "mcp", "--url", understudy.url]);
    child.stdout.destroy();
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect([code, stderr]).toEqual([0, "understudy: write EPIPE\n"]);
  });

  it("ends with a message if a command finds no server [interfaces 13]", async () => {
    const { code, stderr, stdout } = await runCommand(["mcp", "--url", "http://127.0.0.1:9"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("No Understudy answers at http://127.0.0.1:9");
  });

  it("grades a client that an agent uses by hand with the same verdicts [interfaces 21]", async () => {
    const client = await createHttpTransport();
    const [sandbox, checks] = ["by-hand", ["no-retry-of-403", "honours-retry-after", "gives-up-on-silence"]];
    await call(client, "create_sandbox", { name: sandbox });
    const test = (action: string, args = {}) => call(client, "client_test", { sandbox, action, ...args });
    const use = () => call(client, "call_api", { sandbox, method: "GET", path: "/v1/models", as: "usr_dan" });
    const started = await test("start", { checks });
    expect(started).toMatchObject({
      run: { run: 1, of: 4, checks: [] },
      base_url: expect.stringContaining("by-hand"),
    });
    expect(await callRefused(client, "client_test", { sandbox, action: "start" })).toContain(
      "a client test runs in by-hand",
    );
    await use();
    expect(await test("end", { how: "worked" })).toMatchObject({
      run: { run: 2, checks: ["honours-retry-after"] },
    });
    await use();
    await use();
    const [live] = (await test("status"))["checks"] as Record<string, unknown>[];
    expect(live).toMatchObject({ outcome: "failed", why: expect.stringContaining("Retry-After was 2 s") });
    expect(await test("end", { how: "worked" })).toMatchObject({
      run: { run: 3, checks: ["no-retry-of-403"] },
    });
    await use();
    await test("end", { how: "error" });
    expect(await test("status")).toMatchObject({ checks: [{ why: "it is seen when the run has ended" }] });
    const { checks: found, report } = await test("end", { how: "hangs" });
    expect(report).toMatchObject({ verdict: "fail", stopped: null });
    expect(found).toMatchObject([
      { id: "honours-retry-after", outcome: "failed", evidence: [expect.any(String), expect.any(String)] },
      { id: "no-retry-of-403", outcome: "passed" },
      { id: "gives-up-on-silence" },
    ]);
    expect(await callRefused(client, "client_test", { sandbox, action: "end", how: "worked" })).toContain(
      "no client test runs in by-hand",
    );
    await test("start", { checks });
    expect(await test("stop")).toMatchObject({ report: { verdict: "not-graded" } });
  });

  it("has the tools that the interfaces list [interfaces 13]", () => {
    expect(TOOLS.map(({ name }) => name)).toEqual([...READING, ...WRITING]);
  });
});
