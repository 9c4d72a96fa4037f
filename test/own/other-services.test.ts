import { afterEach, expect, it } from "vitest";
import { parse } from "yaml";
import { createSandbox } from "../../src/client/engine.ts";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";
import * as operations from "./notes.ts";

let served: ServedDocument | undefined;
afterEach(() => served?.understudy.close());

const makeJson = (schema: string) => `content: { application/json: { schema: ${schema} } }`;
const makeRef = (name: string) => `{ $ref: "#/components/schemas/${name}" }`;
const answer = (schema: string, status = "200") =>
  `responses: { "${status}": { description: d, ${makeJson(schema)} } }`;
function serve(paths: string, schemas: string, more = "") {
  served = serveDocument(`openapi: 3.0.3
info: { title: t, version: "1" }
${more}paths:
${paths}
components:
  schemas:
${schemas}`);
  return served.send;
}

it.each(["format: uuid", 'pattern: "^vol-[0-9a-f]{8}$"'])(
  "a new record has an id that its path accepts (%s) [interfaces 18]",
  async (form) => {
    const volume = `{ type: object, properties: { volume: ${makeRef("Volume")} } }`;
    const paths = `  /volumes:
    get: { operationId: list, ${answer(`{ type: object, properties: { volumes: { type: array, items: ${makeRef("Volume")} } } }`)} }
    post: { operationId: create, requestBody: { ${makeJson("{ type: object, properties: { name: { type: string } } }")} }, ${answer(volume, "201")} }
  /volumes/{volume_id}:
    parameters: [{ name: volume_id, in: path, required: true, schema: { type: string, ${form} } }]
    get: { operationId: get, ${answer(volume)} }
    delete: { operationId: remove, responses: { "204": { description: d } } }`;
    const schema =
      "    Volume: { type: object, properties: { id: { type: string, readOnly: true }, name: { type: string } } }";
    const bindings = `x-understudy:
  collections: { disks: { schema: "#/components/schemas/Volume" } }
  operations: { list: { list: disks }, create: { create: disks, item_at: volume }, get: { retrieve: disks, item_at: volume }, remove: { delete: disks } }
`;
    for (const more of ["", bindings]) {
      const send = serve(paths, schema, more);
      const { volume: made } = (await send("POST", "/volumes", { body: { name: "data" } })).body;
      expect((await send("GET", `/volumes/${made.id}`)).body).toEqual({ volume: made });
      const second = (await send("POST", "/volumes", { body: { name: "logs" } })).body.volume;
      expect((await send("GET", "/volumes")).body.volumes).toEqual(expect.arrayContaining([second, made]));
      expect((await send("DELETE", `/volumes/${made.id}`)).status).toBe(204);
    }
  },
);

it("a new record is shown where one form of the answer has it [interfaces 18]", async () => {
  const one = `{ type: object, required: [server, links], properties: { server: ${makeRef("Server")}, links: { type: array, items: { type: string } } } }`;
  const many = `{ type: object, required: [servers, links], properties: { servers: { type: array, items: ${makeRef("Server")} }, links: { type: array, items: { type: string } } } }`;
  const send = serve(
    `  /servers:
    get: { operationId: list, ${answer(`{ type: object, properties: { servers: { type: array, items: ${makeRef("Server")} } } }`)} }
    post: { operationId: create, requestBody: { ${makeJson("{ type: object, properties: { name: { type: string } } }")} }, ${answer(`{ oneOf: [${one}, ${many}] }`, "202")} }
  /servers/{server_id}:
    parameters: [{ name: server_id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: get, ${answer(`{ type: object, properties: { server: ${makeRef("Server")} } }`)} }`,
    "    Server: { type: object, properties: { id: { type: integer, readOnly: true }, name: { type: string } } }",
  );
  const made = await send("POST", "/servers", { body: { name: "web" } });
  expect([made.status, made.body]).toEqual([
    202,
    { server: { id: 1, name: "web" }, links: expect.any(Array) },
  ]);
});

const makeForm = (fields: string) =>
  `requestBody: { content: { application/x-www-form-urlencoded: { schema: { type: object, properties: { ${fields} } } } } }`;
const SENT_FORM = { "content-type": "application/x-www-form-urlencoded" };

it("Twilio's paths with `.json`, and its names with capitals, work on the same records [interfaces 18]", async () => {
  const makeParameter = (name: string) =>
    `{ name: ${name}, in: path, required: true, schema: { type: string } }`;
  const body = makeForm("FriendlyName: { type: string }, To: { type: string }");
  const send = serve(
    `  /Accounts/{AccountSid}/Calls.json:
    parameters: [${makeParameter("AccountSid")}]
    get: { operationId: list, parameters: [{ name: To, in: query, schema: { type: string } }], ${answer(`{ type: object, properties: { calls: { type: array, items: ${makeRef("Call")} }, page_size: { type: integer } } }`)} }
    post: { operationId: create, ${body}, responses: { "201": { description: d, headers: { Location: { schema: { type: string } } }, ${makeJson(makeRef("Call"))} } } }
  /Accounts/{AccountSid}/Calls/{Sid}.json:
    parameters: [${makeParameter("AccountSid")}, ${makeParameter("Sid")}]
    get: { operationId: get, ${answer(makeRef("Call"))} }
    post: { operationId: update, ${body}, ${answer(makeRef("Call"))} }
    delete: { operationId: remove, responses: { "204": { description: d } } }`,
    "    Call: { type: object, properties: { sid: { type: string, nullable: true }, account_sid: { type: string }, friendly_name: { type: string }, to: { type: string } } }",
  );
  const post = (path: string, form: object) =>
    send("POST", path, { body: new URLSearchParams({ ...form }).toString(), headers: SENT_FORM });
  const made = await post("/Accounts/AC1/Calls.json", { FriendlyName: "One", To: "+1" });
  const { sid } = made.body;
  expect([made.status, made.body]).toEqual([
    201,
    { sid: expect.any(String), account_sid: "AC1", friendly_name: "One", to: "+1" },
  ]);
  const path = `/Accounts/AC1/Calls/${sid}.json`;
  expect(made.headers.get("location")).toBe(`http://x.test${path}`);
  const changed = await post(path, { FriendlyName: "Two" });
  expect(changed.body).toEqual({ ...made.body, friendly_name: "Two" });
  expect((await send("GET", path)).body).toEqual(changed.body);
  expect((await send("GET", "/Accounts/AC1/Calls.json?To=%2B1")).body.calls).toEqual([changed.body]);
  expect((await send("GET", "/Accounts/AC1/Calls.json?To=%2B2")).body.calls).toEqual([]);
  expect((await send("DELETE", path)).status).toBe(204);
  expect((await send("GET", path)).status).toBe(404);
});

it("a Stripe customer is created, changed by POST, listed by cursor and deleted [interfaces 18]", async () => {
  const customer = `${makeForm("email: { type: string }, name: { type: string }, metadata: { anyOf: [{ type: object, additionalProperties: { type: string } }, { type: string, enum: [''] }] }, expand: { type: array, items: { type: string } }, address: { type: object, properties: { city: { type: string } } }")}`;
  const page =
    "{ name: limit, in: query, schema: { type: integer } }, { name: starting_after, in: query, schema: { type: string } }, { name: email, in: query, schema: { type: string } }";
  const send = serve(
    `  /v1/customers:
    get: { operationId: GetCustomers, parameters: [${page}], ${answer(`{ type: object, required: [data, has_more, object, url], properties: { data: { type: array, items: ${makeRef("customer")} }, has_more: { type: boolean }, object: { type: string, enum: [list] }, url: { type: string, maxLength: 5000, pattern: "^/v1/customers" } } }`)} }
    post: { operationId: PostCustomers, ${customer}, ${answer(makeRef("customer"))} }
  /v1/customers/{customer}:
    parameters: [{ name: customer, in: path, required: true, schema: { type: string, maxLength: 5000 } }]
    get: { operationId: GetCustomersCustomer, ${answer(`{ anyOf: [${makeRef("customer")}, ${makeRef("deleted_customer")}] }`)} }
    post: { operationId: PostCustomersCustomer, ${customer}, ${answer(makeRef("customer"))} }
    delete: { operationId: DeleteCustomersCustomer, ${answer(makeRef("deleted_customer"))} }`,
    `    customer: { type: object, required: [created, id, livemode, object], properties: { address: { anyOf: [${makeRef("address")}], nullable: true }, created: { type: integer, format: unix-time }, email: { type: string, nullable: true, maxLength: 512 }, id: { type: string, maxLength: 5000 }, livemode: { type: boolean }, metadata: { type: object, additionalProperties: { type: string } }, name: { type: string }, object: { type: string, enum: [customer] } } }
    deleted_customer: { type: object, required: [deleted, id, object], properties: { deleted: { type: boolean, enum: [true] }, id: { type: string }, object: { type: string, enum: [customer] } } }
    address: { type: object, properties: { city: { type: string, nullable: true } } }`,
  );
  const post = (path: string, form: string) => send("POST", path, { body: form, headers: SENT_FORM });
  const made = await post(
    "/v1/customers",
    "email=a%40x.test&name=A&metadata[plan]=pro&address[city]=Oslo&expand[]=subscriptions",
  );
  expect([made.status, made.body]).toEqual([
    200,
    expect.objectContaining({
      object: "customer",
      email: "a@x.test",
      name: "A",
      metadata: { plan: "pro" },
      address: { city: "Oslo" },
    }),
  ]);
  const second = await post("/v1/customers", "name=B");
  const path = `/v1/customers/${made.body.id}`;
  const changed = await post(path, "name=C&metadata[seats]=3");
  expect([changed.status, changed.body.name]).toEqual([200, "C"]);
  expect((await send("GET", path)).body).toEqual(changed.body);
  const first = await send("GET", "/v1/customers?limit=1");
  expect(first.body).toMatchObject({
    object: "list",
    url: "/v1/customers",
    has_more: true,
    data: [second.body],
  });
  const next = await send("GET", `/v1/customers?limit=1&starting_after=${second.body.id}`);
  expect(next.body).toMatchObject({ has_more: false, data: [changed.body] });
  expect((await send("DELETE", path)).body).toEqual({ id: made.body.id, object: "customer", deleted: true });
  expect((await send("GET", path)).status).toBe(404);
});

it("a list of compact records, as Asana's, has the fields that it describes [interfaces 18]", async () => {
  const wrap = (schema: string) => `{ type: object, properties: { data: ${schema} } }`;
  const send = serve(
    `  /tasks:
    get: { operationId: list, ${answer(wrap(`{ type: array, items: ${makeRef("TaskCompact")} }`))} }
    post: { operationId: create, requestBody: { ${makeJson(wrap(makeRef("Task")))} }, ${answer(wrap(makeRef("Task")), "201")} }
  /tasks/{task_gid}:
    parameters: [{ name: task_gid, in: path, required: true, schema: { type: string } }]
    get: { operationId: get, ${answer(wrap(makeRef("Task")))} }`,
    `    TaskCompact: { type: object, properties: { gid: { type: string, readOnly: true }, name: { type: string } } }
    Task: { allOf: [${makeRef("TaskCompact")}, { type: object, properties: { notes: { type: string } } }] }`,
  );
  const { data } = (await send("POST", "/tasks", { body: { data: { name: "Buy", notes: "milk" } } })).body;
  expect((await send("GET", `/tasks/${data.gid}`)).body).toEqual({
    data: { gid: data.gid, name: "Buy", notes: "milk" },
  });
  expect((await send("GET", "/tasks")).body).toEqual({ data: [{ gid: data.gid, name: "Buy" }] });
});

it("a document's records of a declared collection are as the declaration says, and own the records below them [interfaces 18]", async () => {
  const describe = (schema: object) => ({ description: "d", content: { "application/json": { schema } } });
  const [note, comment] = ["Note", "Comment"].map((name) => ({ $ref: `#/components/schemas/${name}` })) as [
    object,
    object,
  ];
  const parameter = { name: "note_id", in: "path", required: true, schema: { type: "string" } };
  const commentId = { name: "id", in: "path", required: true, schema: { type: "integer" } };
  const list = (items: object) => ({ responses: { 200: describe({ type: "array", items }) } });
  const write = (schema: object, status: number) => ({
    requestBody: describe(schema),
    responses: { [status]: describe(schema) },
  });
  const openapi = {
    ...{ openapi: "3.1.0", info: { title: "Notes", version: "1" }, security: [{ key: [] }] },
    paths: {
      "/notes": { get: list(note), post: write(note, 201) },
      "/notes/{note_id}": {
        ...{ parameters: [parameter], get: { responses: { 200: describe(note) } }, patch: write(note, 200) },
        delete: { responses: { 204: { description: "d" } } },
      },
      "/notes/{note_id}/comments": { parameters: [parameter], get: list(comment), post: write(comment, 201) },
      "/notes/{note_id}/comments/{id}": {
        ...{ parameters: [parameter, commentId], get: { responses: { 200: describe(comment) } } },
      },
    },
    components: {
      securitySchemes: { key: { type: "apiKey", in: "header", name: "api-key" } },
      schemas: {
        Note: {
          type: "object",
          properties: { id: { type: "string", readOnly: true }, text: { type: "string" } },
        },
        Comment: {
          type: "object",
          properties: { id: { type: "integer", readOnly: true }, body: { type: "string" } },
        },
      },
    },
  };
  const sandbox = await createSandbox({ operations, openapi: [openapi] });
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "api-key": sandbox.credentials.usr_dan, "content-type": "application/json" };
    const answer = await sandbox.fetch(path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) };
  };
  const made = await send("POST", "/notes", { text: "First" });
  expect(made).toMatchObject({ status: 201, body: { text: "First" } });
  for (const refused of [
    await send("POST", "/notes", { text: "" }),
    await send("PATCH", `/notes/${made.body.id}`, { text: "" }),
  ])
    expect(refused).toMatchObject({
      status: 422,
      body: { error: { details: { field: "text", value: "" } } },
    });
  expect((await send("GET", "/v1/notes")).body.data).toMatchObject([{ text: "First" }]);
  expect((await send("POST", `/notes/${made.body.id}/comments`, { body: "Yes" })).status).toBe(201);
  expect((await send("GET", "/notes/note_none/comments")).status).toBe(404);
  expect((await send("DELETE", `/notes/${made.body.id}`)).status).toBe(204);
  expect((await sandbox.state("comments" as "threads").list()).total).toBe(0);
  await sandbox.close();
});

it("times that a document describes as Unix times are numbers of seconds, as Intercom's and OpenAI's [interfaces 18]", async () => {
  const time = (format: string) => `{ type: integer, format: ${format} }`;
  const send = serve(
    `  /articles:
    get: { operationId: list, ${answer(`{ type: array, items: ${makeRef("Article")} }`)} }
    post: { operationId: create, requestBody: { ${makeJson("{ type: object, properties: { title: { type: string } } }")} }, ${answer(makeRef("Article"))} }
  /articles/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: get, ${answer(makeRef("Article"))} }
    put: { operationId: change, requestBody: { ${makeJson("{ type: object, properties: { title: { type: string } } }")} }, ${answer(makeRef("Article"))} }`,
    `    Article: { type: object, required: [expires_at], properties: { id: { type: string }, title: { type: string }, created_at: ${time("date-time")}, updated_at: ${time("timestamp")}, expires_at: ${time("unixtime")} } }`,
  );
  const at = Date.parse("2026-03-15T12:00:00Z") / 1000;
  const made = await send("POST", "/articles", { body: { title: "A" } });
  expect(made.body).toEqual({ id: "1", title: "A", created_at: at, updated_at: at, expires_at: at });
  await send("POST", "/_control/sandboxes/default/clock/advance", { body: { by: "5s" } });
  const changed = await send("PUT", "/articles/1", { body: { title: "B" } });
  expect(changed.body).toEqual({ ...made.body, title: "B", updated_at: at + 5 });
  expect((await send("GET", "/articles/1")).body).toEqual(changed.body);
});

it("a new record has a number as its id if its path takes only numbers, as Intercom's [interfaces 18]", async () => {
  const send = serve(
    `  /teams:
    get: { operationId: list, ${answer(`{ type: array, items: ${makeRef("Team")} }`)} }
    post: { operationId: create, requestBody: { ${makeJson(makeRef("Team"))} }, ${answer(makeRef("Team"))} }
  /teams/{team_id}:
    parameters: [{ name: team_id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: get, ${answer(makeRef("Team"))} }`,
    "    Team: { type: object, properties: { id: { type: string, readOnly: true }, name: { type: string } } }",
  );
  for (let number = 1; number <= 11; number++)
    await send("POST", "/teams", { body: { name: `Team ${number}` } });
  const { body: teams } = await send("GET", "/teams");
  expect(teams.map(({ id }: { id: string }) => id)).toEqual([
    "11",
    "10",
    "9",
    "8",
    "7",
    "6",
    "5",
    "4",
    "3",
    "2",
    "1",
  ]);
  expect((await send("GET", "/teams/11")).body).toEqual({ id: "11", name: "Team 11" });
});

it("an answer to a deletion that has a boolean in the record's place says true, as listmonk's [interfaces 18]", async () => {
  const wrap = (schema: string) => `{ type: object, properties: { data: ${schema} } }`;
  const send = serve(
    `  /templates:
    get: { operationId: list, ${answer(wrap(`{ type: array, items: ${makeRef("Template")} }`))} }
    post: { operationId: create, requestBody: { ${makeJson(makeRef("Template"))} }, ${answer(wrap(makeRef("Template")))} }
  /templates/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: get, ${answer(wrap(makeRef("Template")))} }
    delete: { operationId: remove, ${answer(wrap("{ type: boolean }"))} }`,
    "    Template: { type: object, properties: { id: { type: integer, readOnly: true }, name: { type: string } } }",
  );
  await send("POST", "/templates", { body: { name: "A" } });
  expect((await send("DELETE", "/templates/1")).body).toEqual({ data: true });
});

it("a second pair of a collection may find its records by a field other than the id, as Lago's wallets [interfaces 18]", async () => {
  const parameter = (name: string) => `{ name: ${name}, in: path, required: true, schema: { type: string } }`;
  const write = (operationId: string) =>
    `post: { operationId: ${operationId}, requestBody: { ${makeJson(makeRef("Wallet"))} }, ${answer(makeRef("Wallet"))} }`;
  const list = (operationId: string) =>
    `get: { operationId: ${operationId}, ${answer(`{ type: array, items: ${makeRef("Wallet")} }`)} }`;
  const send = serve(
    `  /customers/{customer_id}/wallets: { parameters: [${parameter("customer_id")}], ${list("listOfCustomer")}, ${write("createOfCustomer")} }
  /customers/{customer_id}/wallets/{code}: { parameters: [${parameter("customer_id")}, ${parameter("code")}], get: { operationId: getOfCustomer, ${answer(makeRef("Wallet"))} } }
  /wallets: { ${list("list")}, ${write("create")} }
  /wallets/{lago_id}: { parameters: [${parameter("lago_id")}], get: { operationId: get, ${answer(makeRef("Wallet"))} } }`,
    "    Wallet: { type: object, properties: { lago_id: { type: string, readOnly: true }, customer_id: { type: string }, code: { type: string } } }",
  );
  const { body: made } = await send("POST", "/wallets", { body: { customer_id: "cus_1", code: "prepaid" } });
  expect(made).toEqual({ lago_id: expect.any(String), customer_id: "cus_1", code: "prepaid" });
  expect((await send("GET", `/wallets/${made.lago_id}`)).body).toEqual(made);
  const second = await send("POST", "/customers/cus_2/wallets", { body: { code: "prepaid" } });
  expect((await send("GET", "/customers/cus_2/wallets/prepaid")).body).toEqual(second.body);
  expect((await send("GET", "/customers/cus_1/wallets/prepaid")).body).toEqual(made);
  expect((await send("GET", "/customers/cus_3/wallets/prepaid")).status).toBe(404);
});

it("a POST of a pair that neither sends nor answers the record, or answers a list, leaves the records as they are [interfaces 18]", async () => {
  const member = makeRef("Member");
  const members = `{ type: object, properties: { members: { type: array, items: ${member} } } }`;
  const query = "{ type: object, required: [query], properties: { query: { type: string } } }";
  const named = "{ type: object, required: [name], properties: { name: { type: string } } }";
  const post = (id: string, status: string, schema: string, sent = query) =>
    `post: { operationId: ${id}, requestBody: { ${makeJson(sent)} }, ${answer(schema, status)} }`;
  const pair = (name: string, ...operations: string[]) => `  /${name}:
    get: { operationId: list_${name}, ${answer(members)} }
    ${operations.join("\n    ")}
  /${name}/{id}:
    get: { operationId: get_${name}, ${answer(member)} }
`;
  const send = serve(
    pair("readers", post("searchReaders", "200", members)) +
      pair("guests", post("inviteGuest", "200", member)) +
      pair("staff", post("importStaff", "201", "{ type: object }")) +
      pair("editors", post("findEditors", "200", members, named)) +
      pair("authors", post("addAuthors", "201", members, named)),
    "    Member: { type: object, required: [id, name], properties: { id: { type: integer, readOnly: true }, name: { type: string } } }\n",
  );
  const body = { query: "ada" };
  const searched = await send("POST", "/readers", { body });
  expect([searched.status, searched.headers.get("x-sandbox-decision")]).toEqual([200, "generated"]);
  expect((await send("POST", "/guests", { body })).status).toBe(200);
  expect((await send("POST", "/staff", { body })).status).toBe(201);
  const count = async (name: string) => (await send("GET", `/${name}`)).body.members.length;
  expect([await count("readers"), await count("guests"), await count("staff")]).toEqual([0, 1, 1]);
  for (const name of ["editors", "authors"]) {
    const listed = await send("POST", `/${name}`, { body: { name: "ada" } });
    expect(listed.headers.get("x-sandbox-decision")).toBe("generated");
    expect(await count(name)).toBe(0);
  }
});

it.each([
  ["one of two types", "{ oneOf: [{ type: integer }, { type: string }] }", 99],
  ["a nullable one", "{ anyOf: [{ type: integer }, { type: 'null' }] }", 99],
  ["any value", "{}", 99],
  ["a list", "{ type: array, items: { type: integer } }", [7, 99]],
])(
  "a fixture is refused for a number that names a missing record: %s [interfaces 5]",
  async (_, schema, event) => {
    const openapi: object = parse(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /events: { get: { operationId: list, ${answer(`{ type: array, items: ${makeRef("Event")} }`)} } }
components:
  schemas:
    Event: { type: object, required: [id], properties: { id: { type: integer } } }
    Memo: { type: object, required: [id], properties: { id: { type: integer }, event: ${schema} } }
x-understudy:
  collections:
    events: { schema: "#/components/schemas/Event" }
    memos: { schema: "#/components/schemas/Memo", belongs_to: { event: events } }
  operations: { list: { list: events } }
`);
    const create = (named: unknown) =>
      createSandbox({
        openapi: [openapi],
        fixture: { events: [{ id: 7 }], memos: [{ id: 1, event: named }] } as object,
      });
    const sandbox = await create(Array.isArray(event) ? [7] : 7);
    await sandbox.state("events" as "threads").remove("7");
    // A record with a list of owners outlives each of them.
    expect((await sandbox.state("memos" as "threads").list()).total).toBe(Array.isArray(event) ? 1 : 0);
    await sandbox.close();
    await expect(create(event)).rejects.toThrow("there is no event 99");
  },
);

it.each(["id", "eventId", "code"])(
  "a fixture and a state call may give a numeric id as the number that answers show (%s) [interfaces 4, 5]",
  async (field) => {
    const event = makeRef("Event");
    const note = makeRef("Note");
    const number = "{ type: integer }";
    const openapi: object = parse(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /events: { get: { operationId: list, ${answer(`{ type: array, items: ${event} }`)} }, post: { operationId: add, ${answer(event)} } }
  /events/{${field}}: { get: { operationId: get, ${answer(event)} } }
  /events/{${field}}/notes: { get: { operationId: notes, ${answer(`{ type: array, items: ${note} }`)} } }
  /events/{${field}}/notes/{note}: { get: { operationId: note, ${answer(note)} } }
components:
  schemas:
    Event: { type: object, required: [${field}], properties: { ${field}: ${number}, name: { type: string } } }
    Note: { type: object, required: [note], properties: { note: ${number} } }
`);
    const fixture: object = {
      extends: "reference",
      events: [{ [field]: 7, name: "a" }, { [field]: "8" }],
      notes: [{ note: 1, [field]: 7 }],
    };
    const sandbox = await createSandbox({ openapi: [openapi], fixture });
    const get = async (path: string) => (await sandbox.fetch(path)).json() as Promise<unknown>;
    expect(await get("/events/7")).toEqual({ [field]: 7, name: "a" });
    expect(await get("/events/7/notes")).toEqual([{ note: 1 }]);
    const events = sandbox.state("events" as "threads");
    const made = await events.create({ [field]: 9 } as object);
    expect(made).toMatchObject({ [field]: "9" });
    await events.update("9", { [field]: 9, name: "c" } as object);
    expect(await get("/events/9")).toEqual({ [field]: 9, name: "c" });
    expect(await get("/events")).toHaveLength(3);
    await expect(events.create({ [field]: 7 } as object)).rejects.toThrow("7");
    await expect(
      createSandbox({ openapi: [openapi], fixture: { events: [{ [field]: 7.5 }] } as object }),
    ).rejects.toThrow(field);
    await sandbox.close();
  },
);
