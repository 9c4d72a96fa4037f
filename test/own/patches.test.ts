import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

let served: ServedDocument;
afterEach(() => served.understudy.close());

const BOOK = '{ $ref: "#/components/schemas/Book" }';
const makeContent = (types: string[], schema: string) =>
  `content: { ${types.map((type) => `${type}: { schema: ${schema} }`).join(", ")} }`;
const answer = (status: string) =>
  `responses: { "${status}": { description: d, ${makeContent(["application/json"], BOOK)} } }`;
const PATCH = "application/json-patch+json";
const MERGE = "application/merge-patch+json";
const DOCUMENT = `openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /books:
    get: { operationId: list, responses: { "200": { description: d, ${makeContent(["application/json"], `{ type: array, items: ${BOOK} }`)} } } }
    post: { operationId: add, requestBody: { required: true, ${makeContent(["application/json"], "{ type: object }")} }, ${answer("201")} }
  /books/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: { operationId: get, ${answer("200")} }
    put: { operationId: put, requestBody: { ${makeContent(["application/json"], "{ type: object }")} }, ${answer("200")} }
    patch:
      operationId: change
      requestBody:
        content:
          ${MERGE}: { schema: { type: object } }
          ${PATCH}: { schema: { type: array, items: { type: object, required: [op, path] } } }
      ${answer("200")}
  /books/{id}/steps:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    patch: { operationId: step, requestBody: { ${makeContent([PATCH], "{ type: array }")} }, ${answer("200")} }
x-understudy:
  collections: { books: { schema: "#/components/schemas/Book" } }
  operations:
    list: { list: books }
    add: { create: books }
    get: { retrieve: books }
    put: { replace: books }
    change: { update: books }
    step: { update: books }
components:
  schemas:
    Book:
      type: object
      required: [id, title]
      properties:
        id: { type: string, readOnly: true }
        title: { type: string, minLength: 1 }
        note: { type: string }
        shelf: { type: [string, "null"] }
        tags: { type: array, items: { type: string } }
        size: { type: object, properties: { width: { type: integer }, unit: { type: string } } }
`;
const FULL = { title: "A", note: "n", shelf: "s", tags: ["x", "y"], size: { width: 3, unit: "cm" } };
let id: string;

beforeEach(async () => {
  served = serveDocument(DOCUMENT);
  const made = await served.send("POST", "/books", { body: FULL });
  id = made.body.id;
});

const send = (type: string, body: unknown, path = "") =>
  served.send("PATCH", `/books/${id}${path}`, {
    body: JSON.stringify(body),
    headers: { "content-type": type },
  });

describe("a merge patch", () => {
  it("removes fields that are null, unless the record may have null there [interfaces 18]", async () => {
    const { status, body } = await send(MERGE, { note: null, shelf: null, size: { unit: null, width: 4 } });
    const { note: _, ...rest } = FULL;
    expect([status, body]).toEqual([200, { id, ...rest, shelf: null, size: { width: 4 } }]);
    expect((await served.send("GET", `/books/${id}`)).body).toEqual(body);
  });

  it("adds an object without its members that are null [interfaces 18]", async () => {
    await send(MERGE, { size: null });
    const { status, body } = await send(MERGE, { size: { unit: null, width: 4 } });
    expect([status, body.size]).toEqual([200, { width: 4 }]);
  });

  it("is one in any letter case of its media type [interfaces 18]", async () => {
    const { status, body } = await send("Application/Merge-Patch+JSON", { size: { width: 4 } });
    expect([status, body.size]).toEqual([200, { ...FULL.size, width: 4 }]);
  });

  it("keeps a required field: null is refused [interfaces 18]", async () => {
    const { status, body } = await send(MERGE, { title: null });
    expect([status, body.error.details]).toEqual([422, { field: "title", value: null }]);
    expect((await served.send("GET", `/books/${id}`)).body).toEqual({ id, ...FULL });
  });
});

describe("a JSON patch", () => {
  it.each<[object[], object]>([
    [[{ op: "replace", path: "/title", value: "B" }], { title: "B" }],
    [
      [
        { op: "add", path: "/tags/-", value: "z" },
        { op: "add", path: "/tags/0", value: "w" },
      ],
      { tags: ["w", "x", "y", "z"] },
    ],
    [[{ op: "remove", path: "/note" }], { note: undefined }],
    [[{ op: "remove", path: "/shelf" }], { shelf: null }],
    [[{ op: "move", from: "/shelf", path: "/note" }], { note: "s", shelf: null }],
    [[{ op: "remove", path: "/tags/0" }], { tags: ["y"] }],
    [[{ op: "move", from: "/note", path: "/shelf" }], { note: undefined, shelf: "n" }],
    [[{ op: "copy", from: "/size/unit", path: "/note" }], { note: "cm" }],
    [
      [
        { op: "test", path: "/size", value: { unit: "cm", width: 3 } },
        { op: "replace", path: "/size/width", value: 9 },
      ],
      { size: { width: 9, unit: "cm" } },
    ],
    [
      [{ op: "replace", path: "", value: { title: "C" } }],
      { title: "C", note: undefined, shelf: undefined, tags: undefined, size: undefined },
    ],
    [[{ op: "replace", path: "/id", value: "other" }], {}],
  ])("is applied: %j [interfaces 18]", async (patch, changes) => {
    for (const path of ["", "/steps"]) {
      const { status, body } = await send(PATCH, patch, path);
      expect([status, body]).toEqual([200, JSON.parse(JSON.stringify({ id, ...FULL, ...changes }))]);
      await served.send("PUT", `/books/${id}`, { body: FULL });
    }
  });

  it.each<[object[], string]>([
    [[{ op: "test", path: "/title", value: "Z" }], "[0].value"],
    [
      [
        { op: "add", path: "/title", value: "Z" },
        { op: "remove", path: "/none" },
      ],
      "[1].path",
    ],
    [[{ op: "replace", path: "/tags/9", value: "Z" }], "[0].path"],
    [[{ op: "move", from: "/none", path: "/note" }], "[0].from"],
    [[{ op: "turn", path: "/note" }], "[0].op"],
    [[{ op: "add", path: "note", value: "Z" }], "[0].path"],
    [[{ op: "add", path: "/__proto__/x", value: "Z" }], "[0].path"],
    [[{ op: "replace", path: "/title", value: "" }], "title"],
    [[{ op: "remove", path: "/title" }], "title"],
  ])("is refused if it cannot be applied: %j [interfaces 18]", async (patch, field) => {
    const { status, body } = await send(PATCH, patch);
    expect([status, body.error?.details.field]).toEqual([422, field]);
    expect((await served.send("GET", `/books/${id}`)).body).toEqual({ id, ...FULL });
  });
});

it("a record is refused if its own schema forbids it, although the request's schema allows it [interfaces 18]", async () => {
  const wrong = { title: "" };
  const answers = [
    await served.send("POST", "/books", { body: wrong }),
    await served.send("PUT", `/books/${id}`, { body: wrong }),
    await send(MERGE, wrong),
  ];
  for (const { status, body } of answers)
    expect([status, body.error?.details]).toEqual([422, { field: "title", value: "" }]);
});
