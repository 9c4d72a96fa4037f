import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createUnderstudy, type LocalUnderstudy, type SandboxClient } from "../../src/client/index.ts";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { readExample } from "../support/own/serve-document.ts";
import * as operations from "./notes.ts";

/** Keywords of our schemas that are neither in JSON Schema nor documented. */
const INTERNAL =
  /"(x-(instant|page|refers-to|keys-refer-to|internal|type|events|optional|record|schema)|~\w+|\$id)"\s*:/g;
const SECRET = "only-the-server-knows-this";
const BYTES = "bytes of an attachment";

let understudy: LocalUnderstudy;
let sandbox: SandboxClient;
beforeEach(async () => {
  understudy = await createUnderstudy({ operations, seed: 7 });
  sandbox = await understudy.open("default");
  const document = readExample("issue-tracker/openapi.yaml").replace(
    "key: { type: string, pattern:",
    "pin: { type: string, writeOnly: true }\n        key: { type: string, pattern:",
  );
  await sandbox.operations.replace(document);
  const headers = { "api-key": sandbox.credentials.usr_dan };
  const post = async (path: string, body: object) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(sandbox.url + path, {
      method: "POST",
      headers: { ...headers, ...(!isForm && { "content-type": "application/json" }) },
      body: isForm ? body : JSON.stringify(body),
    });
    expect(answer.status, path).toBe(201);
    return ((await answer.json()) as { id: string }).id;
  };
  await post("/v1/notes", { text: "Hello" });
  await sandbox.snapshots.save("before");
  const project = await post("/v2/projects", { key: "APP", name: "App" });
  await fetch(`${sandbox.controlUrl}/state/projects/${project}`, { method: "PATCH", body: "{}" });
  const issue = await post(`/v2/projects/${project}/issues`, { title: "First" });
  const form = new FormData();
  form.set("file", new File([BYTES], "a.txt"));
  await post(`/v2/issues/${issue}/attachments`, form);
  // The journal contains what the client sent, so it is cleared: only the record may disclose the pin.
  await sandbox.journal.clear();
  await post("/v2/projects", { key: "WEB", name: "Web", pin: SECRET });
  await sandbox.journal.clear();
});
afterEach(() => understudy.close());

const findInternalText = (text: string) => [
  ...[...text.matchAll(INTERNAL)].map(([found]) => found),
  ...["content_base64", SECRET, btoa(BYTES)].filter((word) => text.includes(word)),
];

it("state calls and imported snapshots accept records without writeOnly fields or bytes [interfaces 4]", async () => {
  const state = (name: string) => sandbox.state(name as never);
  expect(await state("projects").create({ key: "NEW", name: "New" } as never)).toMatchObject({ key: "NEW" });
  expect(await state("attachments").create({ filename: "b.txt" } as never)).toMatchObject({
    filename: "b.txt",
  });
  await sandbox.snapshots.save("all");
  const exported = await sandbox.snapshots.export("all");
  expect(await sandbox.snapshots.import("again", exported)).toMatchObject({ name: "again" });
});

it("no answer of the control API shows internal keywords or fields of own collections [interfaces 18]", async () => {
  const { entries } = await sandbox.history.list();
  const reading = CONTROL_OPERATIONS.filter(
    ({ method, path }) => method === "GET" && !/stream|mcp|forwarded|\.html$|snapshots\/\{\w+\}$/.test(path),
  );
  const asked: string[] = [];
  const found: Record<string, string[]> = {};
  for (const { path } of reading)
    for (const collection of path.includes("{collection}") ? ["notes", "projects", "attachments"] : [""])
      for (const { id } of path.includes("/history/{") ? entries : [{ id: "" }]) {
        const filled = path
          .replace("{name}", "default")
          .replace("{collection}", collection)
          .replace("{id}", id)
          .replace(/diff|\{a\}/, (word) => (word === "{a}" ? "before" : word))
          .replace("{b}", "now");
        if (filled.includes("{")) continue;
        const answer = await fetch(understudy.url + filled);
        const isEndless = answer.headers.get("content-type")?.startsWith("text/event-stream");
        if (isEndless) {
          await answer.body?.cancel();
          continue;
        }
        const internals = findInternalText(await answer.text());
        if (answer.ok) asked.push(filled);
        if (internals.length > 0) found[filled] = internals;
      }
  expect(found).toEqual({});
  const seen = asked.join("\n");
  for (const needed of [
    "/state\n",
    "/state/attachments",
    "/changes",
    "/diff/now",
    "/openapi.json",
    "/events",
    "/operations",
  ])
    expect(`${seen}\n`).toContain(needed);
});

it("tools of an agent, written types and dry runs show no internal keywords or fields [interfaces 13]", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${understudy.url}/_control/mcp`)));
  const call = async (name: string, args: Record<string, unknown>) => {
    const answer = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] };
    return answer.content.map(({ text }) => text).join();
  };
  try {
    const texts = [
      ...(await Promise.all(
        ["notes.create", "createProject", "getProject", "listAttachments"].map((operation) =>
          call("describe_operation", { operation }),
        ),
      )),
      await call("list_history", {}),
      await call("diff_snapshots", { before: "before" }),
      await sandbox.operations.types(),
      JSON.stringify(
        await sandbox.faults.explain({ operation: "getMe" as never, principal: "usr_dan" as never }),
      ),
    ];
    expect(texts.flatMap(findInternalText)).toEqual([]);
    expect(texts[0]).toContain("notes.create");
  } finally {
    await client.close();
  }
});
