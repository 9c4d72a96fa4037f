import { afterEach, expect, it } from "vitest";
import { createSandbox, type LocalSandbox } from "../../src/client/engine.ts";
import {
  array,
  defineCollection,
  defineEvent,
  defineOperation,
  id,
  instant,
  integer,
  nullable,
  object,
  optional,
  record,
  refuse,
  string,
  userId,
  words,
} from "../../src/client/operations.ts";

const notes = defineCollection({
  name: "notes",
  fields: {
    organization_id: id("org_", { belongsTo: "organizations" }),
    author_id: userId(),
    text: string({ min: 1, max: 200 }),
    mood: words(["good", "bad"], { default: "good" }),
    done_at: nullable(instant()),
    created_at: instant(),
  },
  emits: { insert: "note.created" },
});
const noteCreated = defineEvent({
  name: "note.created",
  about: notes,
  data: ["id", "text", "organization_id"],
});
const listNotes = defineOperation({
  id: "notes.list",
  method: "GET",
  path: "/v1/notes",
  query: { limit: integer({ min: 1, max: 100, default: 50 }), mood: optional(words(["good", "bad"])) },
  response: { data: array(notes.record), total: integer() },
  uses: { notes },
  handle({ world, principal, query }) {
    const { organization_id } = principal;
    const found = world.notes.where({ organization_id, ...(query.mood && { mood: query.mood }) });
    return { data: found.orderBy("created_at", "desc").page(query), total: found.size };
  },
});
const createNote = defineOperation({
  id: "notes.create",
  method: "POST",
  path: "/v1/notes",
  body: { text: string({ min: 1 }), mood: optional(words(["good", "bad"])) },
  response: notes.record,
  status: 201,
  uses: { notes },
  handle: ({ world, principal, body }) =>
    world.notes.insert({
      ...body,
      organization_id: principal.organization_id,
      author_id: principal.user_id,
    }),
});
const getNote = defineOperation({
  id: "notes.get",
  method: "GET",
  path: "/v1/notes/{note_id}",
  response: notes.record,
  errors: ["RESOURCE_NOT_FOUND"],
  uses: { notes },
  handle: ({ world, params }) => world.notes.require(params.note_id),
});
const whoAmI = defineOperation({
  id: "me.show",
  method: "GET",
  path: "/v1/me",
  response: object({ user: record("users") }),
  access: "caller",
  handle: ({ world, principal }) => ({ user: world.users.require(principal.user_id) }),
  errors: ["RESOURCE_NOT_FOUND"],
});
const OWN = { notes, noteCreated, listNotes, createNote, getNote, whoAmI };

let sandbox: LocalSandbox;
afterEach(() => sandbox.close());
const start = async (operations: object = OWN) => {
  sandbox = await createSandbox({
    seed: 7,
    clock: { mode: "frozen", now: "2026-03-15T12:00:00.000Z" },
    operations,
  });
};
const call = async (method: string, path: string, body?: unknown, user = "usr_dan") => {
  const key = (sandbox.credentials as Record<string, string>)[user]!;
  const answer = await sandbox.fetch(path, {
    method,
    headers: { "api-key": key, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? undefined : JSON.parse(text), headers: answer.headers };
};

it("a declared endpoint creates, lists and shows records [interfaces 18]", async () => {
  await start();
  const made = await call("POST", "/v1/notes", { text: "Buy milk" });
  expect(made).toMatchObject({
    status: 201,
    body: {
      text: "Buy milk",
      mood: "good",
      author_id: "usr_dan",
      done_at: null,
      created_at: "2026-03-15T12:00:00.000Z",
    },
  });
  expect(made.body.id).toMatch(/^note_/);
  expect((await call("GET", `/v1/notes/${made.body.id}`)).body).toEqual(made.body);
  expect((await call("GET", "/v1/notes")).body).toEqual({ data: [made.body], total: 1 });
  expect((await call("GET", "/v1/notes?mood=bad")).body).toEqual({ data: [], total: 0 });
  expect((await call("GET", "/v1/me")).body.user).toMatchObject({ id: "usr_dan" });
});
it("input of a declared endpoint is validated, and refused as the API refuses it [interfaces 18]", async () => {
  await start();
  expect(await call("POST", "/v1/notes", { text: "" })).toMatchObject({
    status: 422,
    body: { error: { code: "INVALID_INPUT", details: { field: "text" } } },
  });
  expect((await call("GET", "/v1/notes?limit=0")).status).toBe(422);
  expect(await call("GET", "/v1/notes/note_none")).toMatchObject({
    status: 404,
    body: { error: { code: "RESOURCE_NOT_FOUND", details: { note_id: "note_none" } } },
  });
  const anonymous = await sandbox.fetch("/v1/notes");
  expect(anonymous.status).toBe(401);
  expect(anonymous.headers.get("x-sandbox-decision")).toBe("auth");
});
void refuse;

it.each([200, 201, 202, 204, 205, 303, undefined])(
  "a handler that returns nothing answers its status without a body: %j [interfaces 18]",
  async (status) => {
    const touch = { id: "notes.touch", method: "POST", path: "/v1/touch" } as const;
    await start([defineOperation({ ...touch, ...(status && { status }), handle: () => undefined })]);
    expect(await call("POST", "/v1/touch")).toMatchObject({ status: status ?? 204, body: undefined });
  },
);

it("a declared status may have any body if no response is declared [interfaces 18]", async () => {
  const touch = { id: "notes.touch", method: "POST", path: "/v1/touch", status: 202 } as const;
  await start([defineOperation({ ...touch, handle: () => ({ queued: true }) })]);
  expect(await call("POST", "/v1/touch")).toMatchObject({ status: 202, body: { queued: true } });
});

it("ids and refusals contain the singular of a collection's name, whatever its plural [interfaces 18]", async () => {
  const boxes = defineCollection({ name: "boxes", fields: { label: string() } });
  const path = "/v1/boxes/{box_id}";
  const [method, uses, errors] = ["GET", { boxes }, ["RESOURCE_NOT_FOUND"]] as const;
  await start([
    boxes,
    defineOperation({
      id: "boxes.get",
      method,
      path,
      uses,
      errors,
      handle: ({ world, params }) => world.boxes.require(params.box_id),
    }),
  ]);
  const { id } = await sandbox.state(boxes).create({});
  expect(id).toMatch(/^box_/);
  expect((await call("GET", `/v1/boxes/${id}`)).status).toBe(200);
  expect((await call("GET", "/v1/boxes/box_none")).body.error.details).toEqual({ box_id: "box_none" });
});
