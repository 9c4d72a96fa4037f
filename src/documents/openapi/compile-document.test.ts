import { describe, expect, it, vi } from "vitest";
import { compile, describeCompileErrors, HEAD, NOTES } from "../../../test/support/openapi/compile-notes.ts";
import { toValidator } from "../../engine/contract/validator.ts";
import type { DocumentError } from "../../engine/documents/document-error.ts";
import { API } from "../../engine/resources/index.ts";
import { openDocument } from "./open-document.ts";

it("a valid document is read without compiling more than the bindings that it uses [interfaces 18]", async () => {
  let compiled = 0;
  // Fresh modules have compiled nothing yet: an earlier test in this process may have compiled the schema of bindings.
  vi.resetModules();
  const fresh = await import("./compile-document.ts");
  vi.stubGlobal(
    "Function",
    new Proxy(Function, {
      construct(target, given: string[]) {
        compiled += given.join("").length;
        return Reflect.construct(target, given) as object;
      },
    }),
  );
  try {
    const text = `${NOTES}x-understudy: { operations: { listNotes: { list: notes } } }\n`;
    const { operations } = fresh.compileDocument(openDocument(text, "a.yaml"), { available: API });
    expect(operations).toHaveLength(3);
  } finally {
    vi.unstubAllGlobals();
  }
  expect(compiled).toBeGreaterThan(0);
  expect(compiled).toBeLessThan(40_000);
});

describe("a chain of references", () => {
  const link: Record<string, (next: object, at: number) => object> = {
    allOf: (next, at) => ({
      allOf: [next, { type: "object", properties: { [`p${at}`]: { type: "string" } } }],
    }),
    oneOf: (next) => ({ oneOf: [next, { type: "integer" }] }),
    $ref: (next) => next,
    properties: (next) => ({ type: "object", properties: { next } }),
    circles: (next, at) => ({
      type: "object",
      properties: { next, first: ref(0), [`p${at}`]: ref((at * 7) % 300) },
    }),
  };
  const ref = (at: number) => ({ $ref: `#/components/schemas/S${at}` });
  const makeChain = (kind: string, length: number): string => {
    const schemas: Record<string, object> = { [`S${length}`]: { type: "object", required: ["id"] } };
    for (let at = 0; at < length; at++) schemas[`S${at}`] = link[kind]!(ref(at + 1), at);
    const content = { "application/json": { schema: ref(0) } };
    const post = { requestBody: { content }, responses: { 200: { description: "d", content } } };
    const info = { title: "t", version: "1" };
    return JSON.stringify({ openapi: "3.1.0", info, paths: { "/a": { post } }, components: { schemas } });
  };

  it.each(["allOf", "oneOf", "$ref", "properties", "circles"])(
    "of 300 by %s is validated and generated without overflowing the stack [interfaces 18]",
    (kind) => {
      const [operation] = compile(makeChain(kind, 300)).operations;
      const { schema } = operation!.body as { schema: object };
      const validate = toValidator(schema);
      const isDirect = kind !== "properties" && kind !== "circles";
      expect([validate({}), validate({ id: "a" })]).toEqual([!isDirect, true]);
    },
  );

  it.each(["allOf", "oneOf", "$ref"])("of 20,000 by %s is refused with its place [interfaces 18]", (kind) => {
    expect(describeCompileErrors(makeChain(kind, 20_000))).toMatch(
      /^a\.yaml:1:\d+: more than 1000 schemas are combined here, each by a reference within another/,
    );
  });
});

describe("a text that is not an OpenAPI document", () => {
  it.each([
    ["a list", "[1, 2]", "a.yaml:1:1: this is not an OpenAPI document: it is not a map"],
    ["a fixture", "organizations: []", "a.yaml:1:1: this is not an OpenAPI document: it has no `openapi`"],
    ["Swagger 2", 'info: {}\nswagger: "2.0"', "a.yaml:2:10: this is a Swagger 2.0 document; convert it"],
    [
      "a later version",
      "openapi: 4.0.0",
      'a.yaml:1:10: OpenAPI "4.0.0" is not supported; 3.0, 3.1 and 3.2 are',
    ],
    [
      "a number as version",
      "openapi: 3.1",
      'a.yaml:1:10: the version must be a text with three numbers, such as "3.1.0", not 3.1',
    ],
    ["broken YAML", 'openapi: "3.1.0\npaths: {', "a.yaml:"],
    ["broken JSON", '{"openapi": "3.1.0",, }', "a.yaml:1:21: "],
    ["nothing", "", "a.yaml:1:1: this is not an OpenAPI document: it is empty"],
    ["paths that are a list", "openapi: 3.1.0\npaths: []", "a.yaml:2:8: paths must be a map"],
    [
      "properties without any",
      "openapi: 3.1.0\ncomponents: { schemas: { A: { required: [b], additionalProperties: false, properties: } } }",
      "properties must be a map from names to schemas",
    ],
  ])("is refused with its place: %s", (_, text, message) => {
    expect(describeCompileErrors(text)).toContain(message);
  });
});

describe("a text that YAML would misread", () => {
  const SPACE = "a no-break space (U+00A0) is here";
  it.each([
    [
      "a comment in JSON",
      '{"openapi": "3.1.0", // notes\n "paths": {}}',
      "a.json:1:22: JSON has no comments",
    ],
    ["a merge conflict", "openapi: 3.1.0\n<<<<<<< HEAD\n", "a.yaml:2:1: a merge conflict of Git"],
    ["an unusual space before a key", `${HEAD}paths:\n\u00a0\u00a0/a: {}\n`, `a.yaml:4:1: ${SPACE}`],
    ["one behind a dash", `${HEAD}tags:\n  -\u00a0name: a\n`, `a.yaml:4:4: ${SPACE}`],
    ["one before a dash", `${HEAD}tags:\n\u00a0\u00a0- a\n`, `a.yaml:4:1: ${SPACE}`],
    ["one behind a colon", "openapi: 3.1.0\ninfo:\n  title:\u00a0a\n", `a.yaml:3:9: ${SPACE}`],
    ["one in JSON", '{\n\u00a0"openapi": "3.1.0"}', `a.json:2:1: ${SPACE}`],
  ])("is refused with its place: %s [interfaces 18]", (_, text, message) => {
    const [file = ""] = message.split(":");
    const format = () => {
      try {
        return openDocument(text, file).file;
      } catch (error) {
        return (error as DocumentError).format();
      }
    };
    expect(format()).toContain(message);
  });

  it("is read if a text begins with an unusual space, also with merge keys [interfaces 18]", () => {
    const lines = ["a: |", "  Note:\u00a0x", "b: &b", "  c: '\u00a0- x'"];
    const expected = { a: "Note:\u00a0x\n", b: { c: "\u00a0- x" } };
    expect(openDocument(lines.join("\n"), "a.yaml").value).toEqual(expected);
    const merged = openDocument([...lines, "d: { <<: *b }"].join("\n"), "a.yaml").value;
    expect(merged).toEqual({ ...expected, d: expected.b });
  });

  it("has its problems on the right lines if carriage returns end them [interfaces 18]", () => {
    expect(describeCompileErrors("openapi: 3.1.0\rpaths: []\r")).toContain("a.yaml:2:8: paths must be a map");
  });
});

it("a JSON document that gives a key twice is refused with its place, and loses no operation [interfaces 18]", () => {
  const get = '{ "get": { "responses": {} } }';
  const start = '{ "openapi": "3.1.0", "info": { "title": "{\\"a\\":", "version": "1" }, "paths": {';
  const text = (name: string) => `${start}\n  "/a": ${get}, "/b": ${get},\n  ${name}: ${get}\n} }`;
  for (const name of ['"/a"', '"/a" ', '"/\\u0061"'])
    expect(describeCompileErrors(text(name))).toBe("a.yaml:3:3: the key `/a` is given twice");
  expect(describeCompileErrors(text('"/c"'))).toBe("");
});

describe("a reference", () => {
  const schema = (ref: string) =>
    `${HEAD}components:\n  schemas:\n    A:\n      $ref: "${ref}"\n    Berry: { $anchor: berry }\n`;

  it.each([
    ["other file", "./b.yaml#/A", 'a.yaml:6:13: the reference "./b.yaml#/A" is not in this document'],
    ["other server", "https://x.test/a.yaml", "nothing is fetched"],
    ["itself", "#/components/schemas/A", "leads back to itself"],
    ["a text", "#/info/title", "leads to no object"],
  ])("is refused with its place: to %s", (_, ref, message) => {
    expect(describeCompileErrors(schema(ref))).toContain(message);
  });

  it.each([
    ["name", "#/components/schemas/Bery", "#/components/schemas/Berry"],
    ["anchor", "#bery", "#berry"],
  ])("to a missing %s is a warning with its place, and the rest is served", (_, ref, hint) => {
    const { warnings, operations } = compile(
      `${schema(ref)}paths: { /a: { get: { responses: {}, parameters: [{ $ref: "#/nowhere" }] } } }\n`,
    );
    expect(warnings.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
      `6:13 the reference ${JSON.stringify(ref)} leads nowhere, so any value fits (did you mean ${JSON.stringify(hint)}?)`,
      '8:59 the reference "#/nowhere" leads nowhere, so it is left out',
    ]);
    expect(operations).toHaveLength(1);
  });

  it("to a missing alternative takes any value, also beside one that fits", () => {
    const body = `content: { application/json: { schema: { oneOf: [{ type: integer }, { $ref: "#/nowhere" }] } } }`;
    const { operations } = compile(
      `${HEAD}paths: { /a: { post: { requestBody: { ${body} }, responses: {} } } }\n`,
    );
    const { schema: alternatives } = operations[0]!.body as { schema: object };
    expect([toValidator(alternatives)("a"), toValidator(alternatives)(1)]).toEqual([true, true]);
  });

  it("that is not a text is refused with its place", () => {
    const text = `${HEAD}components:\n  schemas:\n    A:\n      $ref: 7\n`;
    expect(describeCompileErrors(text)).toContain(
      'a.yaml:6:13: a reference must be a text such as "#/components/schemas/Tag"',
    );
  });

  it("may be circular through properties and lists", () => {
    const text = `${HEAD}components:
  schemas:
    Tree: { type: object, properties: { children: { type: array, items: { $ref: "#/components/schemas/Tree" } } } }
`;
    expect(describeCompileErrors(text)).toBe("");
  });

  it("within an example is only text", () => {
    const text = `${HEAD}components:\n  schemas:\n    A: { type: object, example: { $ref: "nowhere" } }\n`;
    expect(describeCompileErrors(text)).toBe("");
  });
});

describe("a schema that nothing can satisfy", () => {
  it.each([
    ["{ type: sting }", '"sting" is not a type'],
    ["{ minimum: 3, maximum: 2 }", "maximum is less than minimum, so no value fits"],
    ["{ enum: 1 }", "enum must be a list of values"],
    ["{ required: true }", "required must be a list"],
    ["{ minLength: -1 }", "minLength must be a whole number"],
    [
      "{ additionalProperties: false, required: [a] }",
      "a is required, but additionalProperties: false forbids it",
    ],
    ["{ properties: [] }", "properties must be a map"],
    ["{ allOf: [1] }", "allOf must be a list of schemas"],
    ["{ multipleOf: 0 }", "multipleOf must be greater than 0"],
    ['{ exclusiveMinimum: "5" }', "exclusiveMinimum must be a number, or in OpenAPI 3.0 true or false"],
    ["{ exclusiveMaximum: [1] }", "exclusiveMaximum must be a number, or in OpenAPI 3.0 true or false"],
    ["{ minContains: x }", "minContains must be a whole number from 0 on"],
    ["{ minContains: 3, maxContains: 2 }", "maxContains is less than minContains, so no value fits"],
    ['{ uniqueItems: "yes" }', "uniqueItems must be true or false"],
    ["{ dependentRequired: [a] }", "dependentRequired must be a map from names to lists of names"],
    ["{ dependentRequired: { a: b } }", "dependentRequired must be a map from names to lists of names"],
    ["{ items: 3 }", "items must be a schema"],
  ])("is refused with its place: %s", (schema, message) => {
    const found = describeCompileErrors(`${HEAD}components:\n  schemas:\n    A: ${schema}\n`);
    expect(found).toMatch(/^a\.yaml:5:\d+: /);
    expect(found).toContain(message);
  });

  it.each([
    ["a header", "headers: { x-left: { schema: { type: sting } } }"],
    ["a shared parameter", "parameters: { x-left: { name: x-left, in: header, schema: { type: sting } } }"],
    [
      "a shared answer",
      'responses: { x-left: { description: d, content: { "*/*": { schema: { type: sting } } } } }',
    ],
  ])("is refused also in %s whose name begins with x-", (_, component) => {
    expect(describeCompileErrors(`${HEAD}components:\n  ${component}\n`)).toContain('"sting" is not a type');
  });
});

it("a list of alternatives that is empty takes any value [interfaces 18]", () => {
  const schemas =
    "A: { oneOf: [], discriminator: { propertyName: kind, mapping: { b: B } } }\n    B: { anyOf: [], allOf: [] }\n";
  const body = 'content: { application/json: { schema: { $ref: "#/components/schemas/A" } } }';
  const { warnings, operations } = compile(
    `${HEAD}paths: { /a: { post: { requestBody: { ${body} }, responses: {} } } }\ncomponents:\n  schemas:\n    ${schemas}`,
  );
  expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
    "6 not supported: an allOf, anyOf or oneOf without a schema (any value fits it) and 2 more of them",
  ]);
  const { schema } = operations[0]!.body as { schema: object };
  expect([toValidator(schema)({}), toValidator(schema)(1)]).toEqual([true, true]);
});

it("a document with another problem may have a bound beyond 2^53", () => {
  const schemas =
    "components:\n  schemas:\n    A: { type: integer, minimum: -9223372036854775808 }\n    A: {}\n";
  const found = describeCompileErrors(HEAD + schemas);
  expect(found).toContain("a.yaml:6:5: ");
  expect(found).not.toContain("too large");
});

describe("two operations that clash", () => {
  const makeOperation = (id: string) => `{ operationId: ${id}, responses: {} }`;

  const read = (text: string) => {
    const { operations, warnings } = compile(text);
    return [
      operations.map(({ id, path }) => `${id} ${path}`),
      warnings.map(({ line, column, message }) => `${line}:${column} ${message}`),
    ];
  };

  it("are served but for the later one if they have the same path, even with other parameter names", () => {
    const text = `${HEAD}paths:\n  /a/{x}:\n    get: ${makeOperation("a")}\n  /a/{y}:\n    get: ${makeOperation("b")}\n`;
    expect(read(text)).toEqual([
      ["a /a/{x}"],
      ["7:5 GET /a/{y} is not served: GET /a/{x} is an operation on the same path"],
    ]);
  });

  it("are served if an operation of the reference has the id [interfaces 18]", () => {
    const binding = "x-understudy: { operations: { models.list: { answer: [] } } }\n";
    const text = `${HEAD}${binding}paths:\n  /a:\n    get: ${makeOperation("models.list")}\n`;
    expect(read(text)).toEqual([
      ["getA /a"],
      [
        expect.stringMatching(
          /^6:25 the operationId models\.list is already used by GET \/v1\/\S+ of the built-in API, so GET \/a is called getA$/,
        ),
      ],
    ]);
  });

  it("keep their id if the reference has it for the same endpoint [interfaces 18]", () => {
    const text = `${HEAD}paths:\n  /v1/models:\n    get: ${makeOperation("models.list")}\n`;
    expect(read(text)).toEqual([["models.list /v1/models"], []]);
  });

  it("are both served if they have the same id, of which the later one gets another", () => {
    const text = `${HEAD}paths:\n  /a:\n    get: ${makeOperation("a")}\n  /b:\n    get: ${makeOperation("a")}\n`;
    expect(read(text)).toEqual([
      ["a /a", "getB /b"],
      ["7:25 the operationId a is already used by GET /a, so GET /b is called getB"],
    ]);
  });
});

describe("two paths without bindings, one with an id", () => {
  it("use a collection of the path's name", () => {
    const { collections, operations } = compile(NOTES);
    expect(collections.map(({ name }) => name)).toEqual(["notes"]);
    expect(operations.map(({ id, reads }) => [id, reads])).toEqual([
      ["listNotes", true],
      ["createNote", false],
      ["getNote", true],
    ]);
  });

  it.each([
    ["noteId", "noteId"],
    ["note_id", "noteId"],
    ["task_gid", "gid"],
    ["NoteSid", "sid"],
    ["note_slug", "slug"],
  ])("name a record by {%s} if its id is %s [interfaces 18]", (parameter, field) => {
    const text = NOTES.replaceAll("note_id", parameter).replace("[id, text]", `[${field}, text]`);
    const { collections } = compile(text.replace("properties: { id:", `properties: { ${field}:`));
    expect(collections.map(({ idField }) => idField)).toEqual([field]);
  });

  it("are not bound to a collection of the reference whose id is another field [interfaces 18]", () => {
    const { operations, warnings } = compile(NOTES.replaceAll("/v1/notes", "/v9/webhooks"));
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^the built-in API or another document has a collection webhooks with another schema/,
      ),
    ]);
    expect(operations.every(({ reads }) => reads)).toBe(true);
  });

  it("say that they answer with examples if no collection can have the name of their path [interfaces 18]", () => {
    for (const [path, name] of [
      ["/v1/2fa", "2fa"],
      ["/用户", "_"],
    ] as const) {
      const { warnings, operations } = compile(NOTES.replaceAll("/v1/notes", path));
      expect(warnings.map(({ message }) => message)).toEqual([
        `no collection can have the name "${name}", so these operations answer with examples: listNotes, createNote, getNote; bind them to a collection with another name`,
      ]);
      expect(operations.every(({ reads }) => reads)).toBe(true);
    }
  });

  it("say that they answer with examples if a collection of the reference lacks the outer id [interfaces 18]", () => {
    const text = NOTES.replaceAll("/v1/notes", "/v9/accounts/{account}/threads").replaceAll(
      "{ in: path, name: note_id",
      "{ in: path, name: account, required: true, schema: { type: string } }, { in: path, name: note_id",
    );
    expect(compile(text).warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/has a collection threads with another schema, so these operations answer/),
    ]);
  });

  it("are bound to a declared collection whose schema has the outer id in another spelling [interfaces 18]", () => {
    const text = NOTES.replaceAll("/v1/notes", "/v9/tasks/{ThreadId}/notes");
    const collections = 'x-understudy: { collections: { notes: { schema: "#/components/schemas/Note" } } }\n';
    const { operations, warnings } = compile(text + collections);
    expect(warnings).toEqual([]);
    expect(operations.map(({ id, reads }) => [id, reads])).toContainEqual(["createNote", false]);
  });

  it("are not bound to a declared collection that lacks the outer id [interfaces 18]", () => {
    const text = NOTES.replaceAll("/v1/notes", "/v9/accounts/{account}/notes");
    const collections = 'x-understudy: { collections: { notes: { schema: "#/components/schemas/Note" } } }\n';
    expect(compile(text + collections).warnings.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^the document has a collection notes with another schema/),
    );
  });

  it("name the fields that a collection of the reference does not store [interfaces 18]", () => {
    const text = NOTES.replaceAll("/v1/notes", "/v9/threads").replace(
      "text: { type: string }",
      "text: { type: string }, title: { type: string }",
    );
    expect(compile(text).warnings.map(({ message }) => message)).toEqual([
      "not supported: the field text of a body, which records of threads do not have (it is not stored)",
      "not supported: the field thread_id of a body, which records of threads do not have (it is not stored)",
    ]);
  });

  it("are not bound if a parameter before has the name of the record's id [interfaces 18]", () => {
    const { collections } = compile(
      NOTES.replace("/v1/notes:", "/v1/users/{id}/notes:").replace("/v1/notes/", "/v1/users/{id}/notes/"),
    );
    expect(collections).toEqual([]);
  });

  it("are not bound if the schemas differ", () => {
    const other = NOTES.replace(
      'items: { $ref: "#/components/schemas/Note" }',
      "items: { type: object, properties: { a: { type: string } } }",
    );
    expect(compile(other).collections).toEqual([]);
  });
});

describe("a feature that is not supported", () => {
  it("is named once, with its first place, and the rest of the document is served", () => {
    const text = `${NOTES}    Other: { type: string, pattern: "(?i)a" }\n`.replace(
      "components:",
      "  /v1/other:\n    trace: { responses: {} }\n    get:\n      callbacks: {}\n      responses: {}\ncomponents:",
    );
    const { warnings, operations } = compile(text);
    expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
      "19 not supported: operations with the method TRACE (they are not served)",
      "21 not supported: callbacks (nothing is called)",
      "29 not supported: a pattern that JavaScript cannot read (any text fits)",
    ]);
    expect(operations).toHaveLength(4);
  });

  it.each([
    ["/v1/a?b=1", "paths with a query, a fragment, or braces without a name in them (they are not served)"],
    ["/v1/a/{}/c", "paths with a query, a fragment, or braces without a name in them (they are not served)"],
    ["/v1/a/{b", "paths with a query, a fragment, or braces without a name in them (they are not served)"],
    ["/_control/a", "paths that begin with /_, which are Understudy's own (they are not served)"],
  ])("is named for the path %s, which no request has [interfaces 18]", (path, feature) => {
    const { warnings, operations } = compile(`${HEAD}paths:\n  "${path}":\n    get: { responses: {} }\n`);
    expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
      `5 not supported: ${feature}`,
    ]);
    expect(operations).toEqual([]);
  });

  it("is named for a path parameter that the path does not have, which no request could send [interfaces 18]", () => {
    const parameter = "{ name: ident, in: path, required: true, schema: { type: string } }";
    const text = `${HEAD}paths:\n  "/v1/a/{id}":\n    get: { parameters: [${parameter}], responses: {} }\n`;
    const { warnings, operations } = compile(text);
    expect(warnings.map(({ message }) => message)).toEqual([
      "not supported: path parameters that their path does not have (they are not read)",
    ]);
    expect(operations).toHaveLength(1);
  });

  it("is named for the path of a server that begins with /_, without which its operations are served [interfaces 18]", () => {
    const makeServers = (url: string) => `servers: [{ url: "${url}" }]`;
    const own = `{ ${makeServers("/_a")}, get: { responses: {} }, put: { ${makeServers("/b")}, responses: {} } }`;
    const operations = `{ ${makeServers("/c")}, get: { ${makeServers("/_d")}, responses: {} }, put: { ${makeServers("/_d")}, responses: {} } }`;
    const text = `${HEAD}paths:\n  /own: ${own}\n  /operations: ${operations}\n`;
    const compiled = compile(text);
    const served = compiled.operations.map(({ method, path }) => `${method} ${path}`);
    expect(served.sort()).toEqual(["GET /operations", "GET /own", "PUT /b/own", "PUT /operations"]);
    expect(compiled.warnings.map(({ message }) => message)).toEqual([
      "not supported: the path /_a of a server, as paths that begin with /_ are Understudy's own (its operations are served without it)",
      "not supported: the path /_d of a server, as paths that begin with /_ are Understudy's own (its operations are served without it)",
    ]);
  });

  it.each([
    ["GET with a body", "get", "{ application/json: {} }", "a body of GET (it is not read)"],
    [
      "XML beside JSON",
      "post",
      "{ application/json: {}, application/xml: { schema: {} } }",
      "a body in application/xml beside application/json (only the latter is read)",
    ],
    [
      "multipart other than a form",
      "post",
      "{ multipart/related: { schema: {} } }",
      "a body in multipart/related (only multipart/form-data is read)",
    ],
    [
      "a form with any fields",
      "post",
      "{ multipart/form-data: { schema: { type: object } } }",
      "a form without named fields (its files are not read)",
    ],
    [
      "a format that is not known",
      "post",
      "{ application/x-ndjson: { schema: {} } }",
      "a body in application/x-ndjson (any bytes are accepted)",
    ],
  ])("is named for a body that cannot be read: %s [interfaces 18]", (_, method, content, feature) => {
    const text = `${HEAD}paths:\n  /v1/a:\n    ${method}:\n      requestBody:\n        content: ${content}\n      responses: {}\n`;
    const [warning, ...others] = compile(text).warnings;
    expect([warning!.message, others]).toEqual([`not supported: ${feature}`, []]);
    expect(warning!.line).toBeGreaterThan(5);
  });

  it.each([
    "{ application/json: {}, application/merge-patch+json: {} }",
    "{ text/plain: {} }",
    "{ image/png: {} }",
    '{ "*/*": {} }',
    "{ application/x-www-form-urlencoded: { schema: { type: object } } }",
    "{ multipart/form-data: { schema: { type: object, properties: { file: { type: string, format: binary } } } } }",
  ])("is not named for a body that can be read: %s [interfaces 18]", (content) => {
    const text = `${HEAD}paths:\n  /v1/a:\n    post:\n      requestBody:\n        content: ${content}\n      responses: {}\n`;
    expect(compile(text).warnings).toEqual([]);
  });

  const makeAnswering = (content: string) =>
    `${HEAD}paths:\n  /v1/a:\n    get:\n      responses:\n        "200": { description: d, content: ${content} }\n`;

  it.each([
    ["application/xml", "{ schema: { type: object, properties: { a: { type: string } } } }"],
    ["application/xml", "{ schema: { type: object }, example: { a: 1 } }"],
    ["text/csv", "{ schema: { type: array, items: { type: object } } }"],
  ])("is named for an answer whose body is empty: %s: %s [interfaces 18]", (type, media) => {
    const { warnings } = compile(makeAnswering(`{ ${type}: ${media} }`));
    expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
      `7 not supported: an answer in ${type} without a text as its example (its body is empty)`,
    ]);
  });

  it.each([
    '{ application/xml: { schema: { type: object }, example: "<a/>" } }',
    "{ text/plain: { schema: { type: string } } }",
    "{ image/png: { schema: { type: string, format: binary } } }",
    "{ application/xml: { schema: { type: object } }, application/json: { schema: { type: object } } }",
  ])("is not named for an answer that has a body: %s [interfaces 18]", (content) => {
    expect(compile(makeAnswering(content)).warnings).toEqual([]);
  });

  const makeBoundAnswer = (method: string, binding: string, type = "application/xml") =>
    `${HEAD}paths:\n  /v1/a/{id}:\n    ${method}:\n      operationId: op\n      responses:\n        "200": { description: d, content: { ${type}: { schema: { type: object } } } }\nx-understudy:\n  collections: { things: { schema: "#/components/schemas/Thing" } }\n  operations: { op: { ${binding} } }\ncomponents:\n  schemas: { Thing: { type: object, properties: { id: { type: string } } } }\n`;

  it.each([
    ["get", "list: things", "it is JSON"],
    ["get", "retrieve: things", "its body is empty"],
    ["delete", "delete: things", "its body is empty"],
    ["get", "answer: { a: 1 }", "it is JSON"],
  ])(
    "is named for the answer of a bound operation that is only XML: %s with `%s` [interfaces 18]",
    (method, binding, sent) => {
      const { warnings } = compile(makeBoundAnswer(method, binding));
      expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
        `8 not supported: an answer in application/xml of a bound operation (${sent})`,
      ]);
    },
  );

  it.each([
    ["download: things", "image/png"],
    ['answer: "<a/>"', "application/xml"],
    ["retrieve: things", "application/json"],
  ])(
    "is not named for a bound operation that has such an answer: %s in %s [interfaces 18]",
    (binding, type) => {
      expect(compile(makeBoundAnswer("get", binding, type)).warnings).toEqual([]);
    },
  );
});
