import { afterEach, describe, expect, it } from "vitest";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

let served: ServedDocument;
afterEach(() => served.understudy.close());

const makeRef = (name: string) => `{ $ref: "#/components/schemas/${name}" }`;
const wrap = (property: string, schema: string) =>
  `{ type: object, required: [${property}], properties: { ${property}: ${schema}, meta: { type: object } } }`;

interface Wrapped {
  one: string;
  many: string;
  record: string;
  type?: string;
  more?: string;
}

function serve({ one, many, record, type = "application/json", more = "" }: Wrapped) {
  const makeContent = (schema: string) => `content: { ${type}: { schema: ${schema} } }`;
  const single = wrap(one, makeRef("Task"));
  const body = `requestBody: { required: true, ${makeContent(single)} }`;
  served = serveDocument(`openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /tasks:
    get: { operationId: list, responses: { "200": { description: d, ${makeContent(`{ type: object, required: [${many}], properties: { ${many}: { type: array, items: ${makeRef("Task")} }, ${many}Count: { type: integer } } }`)} } } }
    post: { operationId: create, ${body}, responses: { "201": { description: d, ${makeContent(single)} } } }
  /tasks/{id}:
    get: { operationId: get, responses: { "200": { description: d, ${makeContent(single)} } } }
    patch: { operationId: update, ${body}, responses: { "200": { description: d, ${makeContent(single)} } } }
    put: { operationId: replace, ${body}, responses: { "204": { description: d } } }
    delete: { operationId: remove, responses: { "200": { description: d, ${makeContent(single)} } } }
components:
  schemas:
    Task: ${record}
${more}`);
  return (method: string, path: string, sent?: object) =>
    served.send(method, path, {
      ...(sent && { body: JSON.stringify({ [one]: sent }), headers: { "content-type": type } }),
    });
}

const TASK =
  "{ type: object, required: [id, title], properties: { id: { type: integer, readOnly: true }, title: { type: string, minLength: 2 }, state: { type: string } } }";

describe.each([
  { one: "data", many: "data" },
  { one: "task", many: "tasks" },
  { one: "result", many: "items" },
])("records in $one and $many, without bindings", ({ one, many }) => {
  it("are created, found, listed, changed and deleted [interfaces 18]", async () => {
    const send = serve({ one, many, record: TASK });
    const made = await send("POST", "/tasks", { title: "Buy" });
    expect([made.status, made.body[one]]).toEqual([201, { id: 1, title: "Buy" }]);
    await send("POST", "/tasks", { title: "Sell" });
    expect((await send("GET", "/tasks/1")).body).toEqual({ [one]: { id: 1, title: "Buy" } });
    expect((await send("PATCH", "/tasks/1", { title: "Buy", state: "open" })).body).toEqual({
      [one]: { id: 1, title: "Buy", state: "open" },
    });
    const list = await send("GET", "/tasks");
    expect(list.body[many].map(({ title }: { title: string }) => title)).toEqual(["Sell", "Buy"]);
    expect(list.body[`${many}Count`]).toBe(2);
    expect((await send("PUT", "/tasks/1", { title: "Call" })).status).toBe(204);
    expect((await send("DELETE", "/tasks/1")).body).toEqual({ [one]: { id: 1, title: "Call" } });
    expect((await send("GET", "/tasks/1")).status).toBe(404);
  });

  it("are refused with the place of the mistake [interfaces 18]", async () => {
    const send = serve({ one, many, record: TASK });
    const { status, body } = await send("POST", "/tasks", { title: "x" });
    expect([status, body.error.details.field]).toEqual([422, `${one}.title`]);
    expect((await served.send("POST", "/tasks", { body: { title: "Buy" } })).status).toBe(422);
  });
});

it("an update of JSON:API keeps the attributes that it lacks [interfaces 18]", async () => {
  const record =
    "{ type: object, required: [type, id], properties: { type: { type: string, enum: [tasks] }, id: { type: string, readOnly: true }, attributes: { type: object, properties: { title: { type: string }, state: { type: string, nullable: true } } } } }";
  const send = serve({ one: "data", many: "data", record, type: "application/vnd.api+json" });
  const made = await send("POST", "/tasks", { type: "tasks", attributes: { title: "a", state: "open" } });
  const { id } = made.body.data;
  const path = `/tasks/${id}`;
  const changed = await send("PATCH", path, { type: "tasks", id, attributes: { state: null } });
  expect(changed.body.data).toEqual({ type: "tasks", id, attributes: { title: "a", state: null } });
  expect((await send("GET", path)).body).toEqual(changed.body);
});

it("a bound operation reads a record from the property of its body that has it [interfaces 18]", async () => {
  const send = serve({
    ...{ one: "task", many: "tasks", record: TASK },
    more: `x-understudy:
  collections: { jobs: { schema: "#/components/schemas/Task" } }
  operations:
    create: { create: jobs, item_at: task }
    get: { retrieve: jobs, item_at: task }
`,
  });
  expect((await send("POST", "/tasks", { title: "Buy" })).body).toEqual({ task: { id: 1, title: "Buy" } });
  expect((await send("GET", "/tasks/1")).body).toEqual({ task: { id: 1, title: "Buy" } });
});
