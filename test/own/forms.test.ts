import { afterEach, describe, expect, it } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";
import { serveDocument } from "../support/own/serve-document.ts";

const DOCUMENT = `openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /v1/photos:
    post:
      operationId: addPhoto
      requestBody:
        required: true
        content:
          multipart/form-data:
            schema:
              type: object
              properties:
                files: { type: array, maxItems: 2, items: { type: string, format: binary } }
                meta: { type: object, required: [title], properties: { title: { type: string, minLength: 2 } } }
                flags: { type: array, items: { type: boolean } }
                tags: { type: array, items: { type: string } }
                lines: { type: array, items: { type: object, required: [sku], properties: { sku: { type: string } } } }
                note: { type: string }
                name: { type: string }
      responses: { "201": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/Photo" } } } } }
  /v1/photos/{id}/content:
    get:
      operationId: getContent
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { "200": { description: d, content: { "*/*": {} } } }
components:
  schemas:
    Photo:
      type: object
      required: [id]
      properties:
        id: { type: string, readOnly: true }
        name: { type: string }
        file_name: { type: string }
        meta: { type: object }
        flags: { type: array, items: { type: boolean } }
        tags: { type: array, items: { type: string } }
        lines: { type: array, items: { type: object } }
        note: { type: string }
x-understudy:
  collections: { photos: { schema: "#/components/schemas/Photo" } }
  operations:
    addPhoto: { create: photos }
    getContent: { download: photos }
`;

type Part = readonly [name: string, value: string | Blob, filename?: string];
// biome-ignore lint/suspicious/noExplicitAny: JSON of any operation
type Send = (parts: readonly Part[]) => Promise<{ status: number; body: any }>;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const toForm = (parts: readonly Part[]) => {
  const form = new FormData();
  for (const [name, value, filename] of parts)
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, filename);
  return form;
};

const HOSTS: Record<string, () => Promise<{ send: Send; read: (path: string) => Promise<string> }>> = {
  async "a server"() {
    const served = serveDocument(DOCUMENT);
    closing.push(() => served.understudy.close());
    return {
      send: (parts) => served.send("POST", "/v1/photos", { body: toForm(parts) }),
      read: async (path) => (await served.send("GET", path)).body.text(),
    };
  },
  async "the engine in the process"() {
    const sandbox = await createSandbox({ seed: 7 });
    closing.push(() => sandbox.close());
    await sandbox.operations.replace(DOCUMENT as never);
    const headers = { "api-key": sandbox.credentials.usr_dan };
    return {
      async send(parts) {
        const answer = await sandbox.fetch("/v1/photos", { method: "POST", headers, body: toForm(parts) });
        return { status: answer.status, body: await answer.json() };
      },
      read: async (path) => (await sandbox.fetch(path, { headers })).text(),
    };
  },
};
const makeJson = (value: unknown) => new Blob([JSON.stringify(value)], { type: "application/json" });

describe.each(Object.keys(HOSTS))("a form sent to %s", (name) => {
  it.each<[string, Part[], object]>([
    [
      "an object as a JSON part, as browsers send it",
      [["meta", makeJson({ title: "Ab" }), "blob"]],
      { meta: { title: "Ab" } },
    ],
    ["an object as JSON in a text field", [["meta", '{"title":"Ab"}']], { meta: { title: "Ab" } }],
    [
      "a list in several parts",
      [
        ["flags", "true"],
        ["flags", "false"],
      ],
      { flags: [true, false] },
    ],
    ["a list in one part", [["flags", "true"]], { flags: [true] }],
    [
      "a list in parts named with brackets",
      [
        ["tags[]", "a"],
        ["tags[]", "b"],
      ],
      { tags: ["a", "b"] },
    ],
    ["a list of texts in one part", [["tags", "a"]], { tags: ["a"] }],
    ["a list as JSON", [["tags", '["a","b"]']], { tags: ["a", "b"] }],
    [
      "a list of objects, one a part",
      [
        ["lines", '{"sku":"a"}'],
        ["lines", makeJson({ sku: "b" }), "blob"],
      ],
      { lines: [{ sku: "a" }, { sku: "b" }] },
    ],
    ["a list of one object", [["lines", '{"sku":"a"}']], { lines: [{ sku: "a" }] }],
  ])("is accepted for %s [interfaces 18]", async (_, parts, record) => {
    const { send } = await HOSTS[name]!();
    expect(await send(parts)).toMatchObject({ status: 201, body: record });
  });

  it.each(["files", "files[]"])(
    "stores each of several files in %s separately [interfaces 18]",
    async (field) => {
      const { send, read } = await HOSTS[name]!();
      const { status, body } = await send([
        [field, new Blob(["one"]), "1.txt"],
        [field, new Blob(["two!"]), "2.txt"],
      ]);
      expect([status, body.file_name]).toEqual([201, "1.txt"]);
      expect(await read(`/v1/photos/${body.id}/content`)).toBe("one");
    },
  );

  it("stores the name of the file beside a name that the form gives [interfaces 18]", async () => {
    const { send } = await HOSTS[name]!();
    const { body } = await send([
      ["name", "Sunset"],
      ["files", new Blob(["one"]), "1.txt"],
    ]);
    expect(body).toMatchObject({ name: "Sunset", file_name: "1.txt" });
  });

  it("is refused with more files than the document allows, or with a field twice [interfaces 18]", async () => {
    const { send } = await HOSTS[name]!();
    const files = ["1", "2", "3"].map((text): Part => ["files", new Blob([text]), `${text}.txt`]);
    expect(await send(files)).toMatchObject({
      status: 422,
      body: { error: { details: { field: "files" } } },
    });
    expect(
      await send([
        ["note", "a"],
        ["note", "b"],
      ]),
    ).toMatchObject({
      status: 422,
      body: { error: { message: "note was sent twice" } },
    });
  });

  it("names the wrong value within a JSON part in the refusal [G08]", async () => {
    const { send } = await HOSTS[name]!();
    for (const meta of ['{"title":3}', makeJson({ title: 3 })]) {
      const { status, body } = await send([["meta", meta, "blob"]]);
      expect([status, body.error.details]).toEqual([422, { field: "meta.title", value: 3 }]);
    }
    expect(await send([["note", makeJson("x"), "blob"]])).toMatchObject({ status: 422 });
  });

  it.each<[string, Part[], object]>([
    ["in its only part", [["flags", "maybe"]], { field: "flags[0]", value: "maybe" }],
    [
      "in its second part",
      [
        ["flags", "true"],
        ["flags", "maybe"],
      ],
      { field: "flags[1]", value: "maybe" },
    ],
    ["in a JSON text", [["flags", '[true,"maybe"]']], { field: "flags[1]", value: "maybe" }],
    ["in an object in its only part", [["lines", '{"sku":3}']], { field: "lines[0].sku", value: 3 }],
    [
      "in an object in its second part",
      [
        ["lines", '{"sku":"a"}'],
        ["lines", '{"sku":3}'],
      ],
      { field: "lines[1].sku", value: 3 },
    ],
  ])("names the wrong value of a list %s in the refusal [G08]", async (_, parts, details) => {
    const { send } = await HOSTS[name]!();
    const { status, body } = await send(parts);
    expect([status, body.error.details]).toEqual([422, details]);
  });
});

it.each(["application/pdf", "application/zip", "image/png"])(
  "the bytes of %s in a body are not a field of the record [interfaces 18]",
  async (type) => {
    const photo = 'application/json: { schema: { $ref: "#/components/schemas/Photo" } }';
    const { understudy, send } = serveDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /v1/photos:
    post:
      operationId: addPhoto
      requestBody: { required: true, content: { ${type}: { schema: { type: string, format: binary } } } }
      responses: { "201": { description: d, content: { ${photo} } } }
components: { schemas: { Photo: { type: object, properties: { id: { type: string }, size: { type: integer } } } } }
x-understudy:
  collections: { photos: { schema: "#/components/schemas/Photo" } }
  operations: { addPhoto: { create: photos } }
`);
    closing.push(() => understudy.close());
    const body = new TextEncoder().encode("bytes");
    const answer = await send("POST", "/v1/photos", { body, headers: { "content-type": type } });
    expect([answer.status, answer.body]).toEqual([201, { id: expect.any(String), size: 5 }]);
  },
);

it("bytes without a type are downloaded as octets, not as the types that the document allows [interfaces 18]", async () => {
  const types = '"image/*": { schema: { type: string, format: binary } }';
  const { understudy, send } = serveDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /v1/photos:
    post:
      operationId: addPhoto
      requestBody: { required: true, content: { ${types} } }
      responses: { "201": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/Photo" } } } } }
  /v1/photos/{id}/content:
    get:
      operationId: getContent
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { "200": { description: d, content: { ${types} } } }
components: { schemas: { Photo: { type: object, properties: { id: { type: string }, mime_type: { type: string } } } } }
x-understudy:
  collections: { photos: { schema: "#/components/schemas/Photo" } }
  operations: { addPhoto: { create: photos }, getContent: { download: photos } }
`);
  closing.push(() => understudy.close());
  const { body } = await send("POST", "/v1/photos", { body: new TextEncoder().encode("bytes") });
  expect(body.mime_type).toBe("application/octet-stream");
  const { headers } = await send("GET", `/v1/photos/${body.id}/content`);
  expect(headers.get("content-type")).toBe("application/octet-stream");
});

describe("a body that may be JSON or a form", () => {
  const PHOTO = '{ schema: { $ref: "#/components/schemas/Photo" } }';
  const TYPES = [
    ...["application/json", "text/json", "application/*+json"],
    ...["application/x-www-form-urlencoded", "multipart/form-data"],
  ];
  const serve = (types = TYPES) => {
    const served = serveDocument(`openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /v1/photos:
    get: { operationId: list, responses: { "200": { description: d, content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Photo" } } } } } } }
    post:
      operationId: add
      requestBody: { required: true, content: { ${types.map((one) => `"${one}": ${PHOTO}`).join(", ")} } }
      responses: { "201": { description: d, content: { application/json: ${PHOTO} } } }
  /v1/photos/{id}:
    get: { operationId: get, responses: { "200": { description: d, content: { application/json: ${PHOTO} } } } }
components:
  schemas:
    Photo:
      type: object
      required: [name]
      properties:
        id: { type: string, readOnly: true }
        name: { type: string }
        size: { type: integer }
        tags: { type: array, items: { type: string } }
        code: { oneOf: [{ type: integer }, { type: string }] }
        file: { type: string, format: binary, nullable: true }
`);
    closing.push(() => served.understudy.close());
    return (body: unknown, type?: string, headers: Record<string, string> = {}) =>
      served.send("POST", "/v1/photos", {
        body,
        headers: { ...headers, ...(type && { "content-type": type }) },
      });
  };
  const makeForm = (parts: readonly Part[]) => toForm(parts);

  it.each<[string, unknown, string | undefined]>([
    ["application/json", '{"name":"a","size":3,"tags":["x"]}', "application/json"],
    ["text/json", '{"name":"a","size":3,"tags":["x"]}', "text/json; charset=utf-8"],
    ["another name of JSON", '{"name":"a","size":3,"tags":["x"]}', "application/vnd.t+json"],
    ["a url-encoded form", "name=a&size=3&tags=x", "application/x-www-form-urlencoded"],
    [
      "a multipart form",
      makeForm([
        ["name", "a"],
        ["size", "3"],
        ["tags", "x"],
      ]),
      undefined,
    ],
  ])("is accepted as %s, with the types of its fields [interfaces 18]", async (_, body, type) => {
    const send = serve();
    const { status, body: photo } = await send(body, type);
    expect([status, photo]).toEqual([201, expect.objectContaining({ name: "a", size: 3, tags: ["x"] })]);
  });

  it("is validated in each format, and refused in any other [interfaces 18]", async () => {
    const send = serve();
    for (const [body, type] of [
      ['{"name":"a","size":"big"}', "text/json"],
      ["name=a&size=big", "application/x-www-form-urlencoded"],
      [
        makeForm([
          ["name", "a"],
          ["size", "big"],
        ]),
        undefined,
      ],
    ] as const) {
      const answer = await send(body, type);
      expect([answer.status, answer.body.error.details]).toEqual([422, { field: "size", value: "big" }]);
    }
    expect((await send("{", "text/json")).body.error.code).toBe("INVALID_JSON");
    expect((await send("name: a", "application/yaml")).status).toBe(415);
    expect((await send("{}", "text/json; charset=latin1")).status).toBe(415);
  });

  it("keeps a text that looks like a number, unless it came from a form [interfaces 18]", async () => {
    const send = serve();
    expect((await send({ name: "a", code: "7" })).body.code).toBe("7");
  });

  it("may be a url-encoded or a multipart form without JSON [interfaces 18]", async () => {
    const send = serve(TYPES.slice(3));
    expect((await send("name=a&size=3", TYPES[3])).body).toMatchObject({ name: "a", size: 3 });
    expect(
      (
        await send(
          makeForm([
            ["name", "a"],
            ["size", "3"],
          ]),
        )
      ).body,
    ).toMatchObject({ name: "a", size: 3 });
    expect((await send('{"name":"a"}', "application/json")).status).toBe(415);
  });

  it("may have a file in a form [interfaces 18]", async () => {
    const parts: Part[] = [
      ["name", "a"],
      ["file", new Blob(["one"]), "1.txt"],
    ];
    expect(await serve()(makeForm(parts))).toMatchObject({ status: 201, body: { name: "a", size: 3 } });
  });

  it("may be announced with Expect in each format [RFC 9110, 10.1.1]", async () => {
    const headers = { expect: "100-continue", "content-length": "6" };
    const send = serve();
    expect((await send("name=a", "application/x-www-form-urlencoded", headers)).status).toBe(201);
  });
});
