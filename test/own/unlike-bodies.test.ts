import { afterEach, expect, it } from "vitest";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

const open: ServedDocument[] = [];
afterEach(async () => {
  for (const { understudy } of open.splice(0)) await understudy.close();
});

const content = (schema: string) => `content: { application/json: { schema: ${schema} } }`;
const NOTE = '{ $ref: "#/components/schemas/Note" }';
const BODY = "{ type: object, properties: { text: { type: string }, created_at: { type: string } } }";

/** A document with a pair of paths; only the records' times have a format. */
function serve({ list, single }: { list: string; single: string }, bindings?: string): ServedDocument {
  const served = serveDocument(
    `openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  ${list}:
    get: { operationId: list, responses: { "200": { description: d, ${content(`{ type: array, items: ${NOTE} }`)} } } }
    post: { operationId: add, requestBody: { required: true, ${content(BODY)} }, responses: { "201": { description: d, headers: { Location: { schema: { type: string } } }, ${content(NOTE)} } } }
  ${single}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: get, responses: { "200": { description: d, ${content(NOTE)} } } }
    patch: { operationId: change, requestBody: { required: true, ${content(BODY)} }, responses: { "200": { description: d, ${content(NOTE)} } } }
components: { schemas: { Note: { type: object, required: [id, created_at], properties: { id: { type: integer, readOnly: true }, text: { type: string }, created_at: { type: string, format: date-time } } } } }
`,
    bindings,
  );
  open.push(served);
  return served;
}

const PATHS = { list: "/notes", single: "/notes/{id}" };

it("a text other than a time is not stored as the time of a record that no binding describes [interfaces 18]", async () => {
  const { send } = serve(PATHS);
  const created = await send("POST", "/notes", { body: { text: "a", created_at: "yesterday" } });
  expect([created.status, created.body]).toEqual([
    201,
    { id: 1, text: "a", created_at: "2026-03-15T12:00:00.000Z" },
  ]);
  const changed = await send("PATCH", "/notes/1", { body: { text: "b", created_at: "2026-03-01 10:00" } });
  expect([changed.status, changed.body]).toEqual([200, { ...created.body, text: "b" }]);
});

it("a refused time of a bound record is named [interfaces 18]", async () => {
  const bindings =
    'openapi: a.yaml\ncollections: { memos: { schema: "#/components/schemas/Note" } }\noperations: { add: { create: memos } }\n';
  const { send } = serve(PATHS, bindings);
  const { status, body } = await send("POST", "/notes", { body: { created_at: "yesterday" } });
  expect([status, body.error.message]).toEqual([422, "created_at must be an ISO 8601 timestamp"]);
});

it.each([
  ["/notes", "/notes/{id}", "/notes/1"],
  ["/notes/", "/notes/{id}/", "/notes/1/"],
  ["/notes/", "/notes/{id}", "/notes/1"],
])("Location of a record of %s and %s is its address [interfaces 18]", async (list, single, address) => {
  const { send } = serve({ list, single });
  const { headers } = await send("POST", list, { body: { text: "a" } });
  expect(headers.get("location")).toBe(`http://x.test${address}`);
});
