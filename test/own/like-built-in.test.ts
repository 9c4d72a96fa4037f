import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createUnderstudy, type LocalUnderstudy, type SandboxClient } from "../../src/client/index.ts";
import {
  defineCollection,
  defineEvent,
  defineOperation,
  id,
  instant,
  integer,
  object,
  string,
  words,
} from "../../src/client/operations.ts";
import * as operations from "./notes.ts";

let understudy: LocalUnderstudy;
let sandbox: SandboxClient;
beforeEach(async () => {
  understudy = await createUnderstudy({ operations, seed: 7 });
  sandbox = await understudy.sandbox({ clock: { mode: "frozen", now: "2026-03-15T12:00:00.000Z" } });
});
afterEach(() => understudy.close());

const call = async (method: string, path: string, body?: unknown, user = "usr_ada") => {
  const key = (sandbox.credentials as Record<string, string>)[user]!;
  const answer = await fetch(sandbox.url + path, {
    method,
    headers: { "api-key": key, ...(body !== undefined && { "content-type": "application/json" }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    decision: answer.headers.get("x-sandbox-decision"),
    headers: answer.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
};
const control = async (path: string, init: { method?: string; body?: unknown } = {}) => {
  const answer = await fetch(sandbox.controlUrl + path, {
    method: init.method ?? "GET",
    headers: { "content-type": "application/json" },
    body: init.body === undefined ? null : JSON.stringify(init.body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) };
};
const write = (text: string) => call("POST", "/v1/notes", { text });

describe("user-defined operations", () => {
  it("count against the rate of their caller's plan [interfaces 18]", async () => {
    const { headers } = await write("one");
    const left = Number(headers.get("x-ratelimit-remaining"));
    expect(Number((await write("two")).headers.get("x-ratelimit-remaining"))).toBe(left - 1);
  });

  it("ignore unknown fields of a body, with a warning [interfaces 18]", async () => {
    const answer = await call("POST", "/v1/notes", { text: "one", colour: "red" });
    expect(answer).toMatchObject({ status: 201, body: { text: "one" } });
    expect(answer.body).not.toHaveProperty("colour");
    const { entries } = await sandbox.journal.list({ operation: "notes.create" as never });
    expect(entries[0]!.warnings).toEqual(["unknown body field colour was ignored"]);
  });

  it("require the role that they declare [interfaces 18]", async () => {
    const { id } = (await write("one")).body;
    expect(await call("DELETE", `/v1/notes/${id}`, undefined, "usr_dan")).toMatchObject({
      status: 403,
      decision: "access",
      body: { error: { code: "INSUFFICIENT_PERMISSIONS" } },
    });
    expect((await call("DELETE", `/v1/notes/${id}`)).status).toBe(204);
    expect((await call("DELETE", `/v1/notes/${id}`)).status).toBe(404);
  });

  it("are matched by rules, and have a scenario for each documented refusal [interfaces 18]", async () => {
    await sandbox.faults.add({
      match: { operation: "notes.*" as never },
      effect: { error: "RATE_LIMIT_EXCEEDED" },
      times: 1,
    });
    expect(await write("one")).toMatchObject({ status: 429, decision: "fault:inline/fault_1" });
    expect((await write("one")).status).toBe(201);
    await sandbox.scenarios.activate("notes-delete-not-found" as never);
    expect((await call("DELETE", "/v1/notes/note_x")).body.error.code).toBe("RESOURCE_NOT_FOUND");
    const unanswerable = await control("/faults", {
      method: "POST",
      body: { match: { operation: "notes.list" }, effect: { error: "FILE_NOT_IN_STORE" } },
    });
    expect(unanswerable.status).toBe(422);
  });

  it("are explained without being run [interfaces 18]", async () => {
    const { body } = await control("/faults/explain", {
      method: "POST",
      body: { operation: "notes.create", principal: "usr_ada", body: { text: "" } },
    });
    expect(body).toMatchObject({ operation: "notes.create", decision: "validation", status: 422 });
    expect((await call("GET", "/v1/notes")).body.total).toBe(0);
  });

  it("emit events to the subscribed webhooks [interfaces 18]", async () => {
    const { body: receiver } = await control("/receivers", { method: "POST", body: {} });
    const made = await call("POST", "/webhooks", { url: receiver.url, events: ["note.created"] });
    expect(made).toMatchObject({ status: 201, body: { data: { events: ["note.created"] } } });
    const note = (await write("Hello")).body;
    await sandbox.clock.advance("1s");
    const { body: received } = await control(`/receivers/${receiver.id}/requests`);
    expect(received.items).toMatchObject([{ verdict: "valid" }]);
    expect(JSON.parse(received.items[0].body)).toMatchObject({
      event: "note.created",
      data: { id: note.id, text: "Hello", created_at: note.created_at },
    });
    const triggered = await control("/events", {
      method: "POST",
      body: { event: "note.created", for: note.id, data: { text: "Again" } },
    });
    expect(triggered).toMatchObject({
      status: 200,
      body: { deliveries: [{ event: "note.created", status: "success" }] },
    });
    const invented = await control("/events", { method: "POST", body: { event: "note.created" } });
    expect(invented.status).toBe(200);
    expect((await call("POST", "/webhooks", { url: receiver.url, events: ["note.lost"] })).status).toBe(422);
    expect((await control("/deliveries?event=note.created")).body.total).toBe(3);
    const listed = await fetch(`${understudy.url}/_control/events`).then(
      (answer) => answer.json() as Promise<{ items: { name: string }[] }>,
    );
    expect(listed.items.map(({ name }: { name: string }) => name)).toContain("note.created");
  });

  it("emit events to the organization that the event's function returns", async () => {
    const { notes } = operations;
    const comments = defineCollection({
      name: "comments",
      fields: { note_id: id("note_", { belongsTo: "notes" }), created_at: instant() },
      emits: { insert: "comment.created" },
    });
    const receivedRecords: unknown[] = [];
    const commentCreated = defineEvent({
      name: "comment.created",
      about: comments,
      data: ["id", "note_id"],
      organization(comment, world) {
        receivedRecords.push(comment);
        return world.of(notes).require(comment.note_id).organization_id;
      },
    });
    const createComment = defineOperation({
      id: "comments.create",
      method: "POST",
      path: "/v1/notes/{note_id}/comments",
      uses: { comments },
      handle: ({ world, params }) => world.comments.insert(params),
    });
    await understudy.close();
    const own = { ...operations, comments, commentCreated, createComment };
    understudy = await createUnderstudy({ operations: own, seed: 7 });
    sandbox = await understudy.sandbox({ clock: { mode: "frozen", now: "2026-03-15T12:00:00.000Z" } });
    const { body: receiver } = await control("/receivers", { method: "POST", body: {} });
    await call("POST", "/webhooks", { url: receiver.url, events: ["comment.created"] });
    const note_id = (await write("Hello")).body.id;
    const comment = await call("POST", `/v1/notes/${note_id}/comments`);
    expect(comment).toMatchObject({ status: 200, body: { note_id } });
    expect(receivedRecords).toEqual([comment.body]);
    await control("/state/comments", { method: "POST", body: { note_id } });
    await control("/events", { method: "POST", body: { event: "comment.created", for: comment.body.id } });
    expect((await control("/deliveries?event=comment.created")).body.total).toBe(3);
  });

  it("have state calls, fixtures and snapshots of their collections [interfaces 18]", async () => {
    const given = await control("/state/notes", { method: "POST", body: { text: "By a state call" } });
    expect(given).toMatchObject({
      status: 201,
      body: { text: "By a state call", organization_id: "org_acme" },
    });
    expect((await control("/state/notes", { method: "POST", body: { txt: "wrong" } })).body).toMatchObject({
      field: "txt",
    });
    expect((await control(`/state/notes?text=${encodeURIComponent("By a state call")}`)).body.total).toBe(1);
    expect(
      (await control("/state")).body.items.find(({ name }: { name: string }) => name === "notes"),
    ).toMatchObject({
      name: "notes",
      id_field: "id",
      prefix: "note_",
      records: 1,
      schema: { type: "object" },
    });
    await sandbox.snapshots.save("before");
    await write("after");
    expect((await control("/snapshots/before/diff/now")).body.added.notes).toMatchObject([{ text: "after" }]);
    const file = (await control("/snapshots/before")).body;
    await sandbox.snapshots.restore("before");
    expect((await call("GET", "/v1/notes")).body.data).toEqual([given.body]);
    expect((await control("/snapshots/again", { method: "PUT", body: file })).status).toBe(201);
    file.world.tables.notes.records[0].text = 7;
    expect((await control("/snapshots/wrong", { method: "PUT", body: file })).body.detail).toContain("note");

    const fixture = {
      extends: "reference",
      notes: [{ id: "note_first", text: "From a fixture", created_at: "2026-03-01T09:00:00Z" }],
    };
    const other = await understudy.sandbox({
      fixture: fixture as object,
      clock: { mode: "frozen", now: "2026-03-15T12:00:00.000Z" },
    });
    expect(await other.state("notes" as "threads").list()).toMatchObject({
      items: [{ id: "note_first", created_at: "2026-03-01T09:00:00.000Z" }],
    });
    const many = await understudy.sandbox({ fixture: { extends: "reference", notes: 20 } as object });
    expect((await many.state("notes" as "threads").list()).total).toBe(20);
    await expect(
      understudy.sandbox({ fixture: { extends: "reference", notes: [{ id: "note_x", txt: 1 }] } as object }),
    ).rejects.toThrow("txt");
  });

  it("are deleted with the records that they belong to [interfaces 18]", async () => {
    await write("one");
    expect((await control("/state/organizations/org_acme", { method: "DELETE" })).status).toBe(204);
    expect((await control("/state/notes")).body.total).toBe(0);
  });

  it("are in the timeline, and are rewound, forked and repeated [interfaces 18]", async () => {
    await write("one");
    await write("two");
    const { entries } = await sandbox.history.list();
    const { body: changes } = await control(`/history/${entries[0]!.id}/changes`);
    expect(changes.notes).toMatchObject([{ before: null, after: { text: "two" } }]);
    const fork = await control(`/history/${entries[1]!.id}/fork`, {
      method: "POST",
      body: { name: "before-two", to: "after" },
    });
    expect(fork.body.counts.notes).toBe(1);
    expect(
      (await control(`/history/${entries[0]!.id}/repeat`, { method: "POST", body: { in: "before-two" } }))
        .body,
    ).toMatchObject({ same: true });
    await control(`/history/${entries[0]!.id}/rewind`, { method: "POST", body: { to: "before" } });
    expect((await call("GET", "/v1/notes")).body.data.map(({ text }: { text: string }) => text)).toEqual([
      "one",
    ]);
    await sandbox.reset();
    expect((await call("GET", "/v1/notes")).body.total).toBe(0);
  });

  it("are verified in the journal, and a misspelt id is refused [interfaces 18]", async () => {
    await write("one");
    await sandbox.journal.verify({ match: { operation: "notes.create" as never }, count: 1 });
    const { status } = await control("/journal/verify", {
      method: "POST",
      body: { match: { operation: "notes.crate" }, count: 0 },
    });
    expect(status).toBe(422);
  });

  it("do not replace an operation of the reference [interfaces 18]", async () => {
    const models = defineOperation({
      ...({ id: "my.models", method: "GET", path: "/v1/models" } as const),
      handle: () => ({ mine: true }),
    });
    const own = await createUnderstudy({ operations: { ...operations, models }, seed: 7 });
    const answer = await fetch(`${own.url}/v1/models`, {
      headers: { "api-key": sandbox.credentials.usr_ada },
    });
    expect(await answer.json()).not.toHaveProperty("mine");
    expect((await fetch(`${own.url}/v1/notes`)).status).toBe(401);
    await own.close();
  });

  it("are separate in coverage, ledger and OpenAPI document [interfaces 18]", async () => {
    const reference = await createUnderstudy({ seed: 7 });
    try {
      const get = (one: LocalUnderstudy, path: string) =>
        // biome-ignore lint/suspicious/noExplicitAny: documents of several calls
        fetch(one.url + path).then((answer) => answer.json() as Promise<any>);
      await write("one");
      const coverage = (await control("/coverage")).body;
      const plain = await get(reference, "/_control/coverage");
      expect(coverage.total).toBe(plain.total);
      expect(coverage.covered).toBe(0);
      expect(coverage.own).toMatchObject({ covered: 1 });
      expect(
        coverage.operations.find(({ operation }: { operation: string }) => operation === "notes.create"),
      ).toMatchObject({ own: "operations" });
      const document = await get(understudy, "/_control/openapi.json");
      expect(document.paths["/v1/notes"].post).toMatchObject({
        operationId: "notes.create",
        "x-own": "operations",
      });
      expect(document.webhooks["note.created"]).toBeDefined();
      expect(document.components.schemas.Webhook.properties.events.items.enum).toContain("note.created");
      const ledger = await get(understudy, "/_control/fidelity");
      expect(ledger.operations.find(({ id }: { id: string }) => id === "notes.create").provenance).toBe(
        "own",
      );
    } finally {
      await reference.close();
    }
  });
});

it("a field with a default is optional for clients, also in the OpenAPI document [interfaces 18]", async () => {
  const pinNote = defineOperation({
    id: "notes.pin",
    method: "POST",
    path: "/v1/pins",
    query: { limit: integer({ default: 5 }) },
    body: { note: string(), color: words(["red", "blue"], { default: "red" }) },
    response: object({ color: string(), limit: integer() }),
    handle: ({ body: { color }, query: { limit } }) => ({ color, limit }),
  });
  const own = await createUnderstudy({ operations: { pinNote } });
  try {
    const headers = {
      "api-key": (await own.open("default")).credentials["usr_ada"]!,
      "content-type": "application/json",
    };
    const answer = await fetch(`${own.url}/v1/pins`, { method: "POST", headers, body: '{"note":"a"}' });
    expect(await answer.json()).toEqual({ color: "red", limit: 5 });
    // biome-ignore lint/suspicious/noExplicitAny: a document
    const { paths } = (await (await fetch(`${own.url}/_control/openapi.json`)).json()) as any;
    const { parameters, requestBody } = paths["/v1/pins"].post;
    expect(requestBody.content["application/json"].schema.required).toEqual(["note"]);
    expect(parameters).toMatchObject([{ name: "limit", required: false }]);
  } finally {
    await own.close();
  }
});
