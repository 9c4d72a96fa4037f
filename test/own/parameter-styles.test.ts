import { afterEach, describe, expect, it } from "vitest";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

const open: ServedDocument[] = [];

afterEach(async () => {
  for (const { understudy } of open.splice(0)) await understudy.close();
});

const NUMBERS = "type: array, minItems: 2, items: { type: integer }";
const OBJECT = "type: object, required: [role], properties: { role: { type: string }, n: { type: integer } }";

/** Sends a request to an operation whose only parameter is `v`, and returns the value that the operation read. */
async function read(
  place: string,
  parameter: string,
  sent: string,
): Promise<{ status: number; value: unknown; details: unknown }> {
  const path = place === "path" ? "/v1/read/{v}" : "/v1/read";
  const served = serveDocument(
    `openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  ${path}:
    get:
      operationId: get
      parameters: [{ name: v, in: ${place}, required: true, ${parameter} }]
      responses: { "200": { description: d } }
`,
    `openapi: ./openapi.yaml\noperations:\n  get: { answer: { value: "${place === "path" ? "{v}" : "{query.v}"}" } }\n`,
  );
  open.push(served);
  const headers: Record<string, string> =
    place === "header" ? { v: sent } : place === "cookie" ? { cookie: sent } : {};
  const target = place === "path" ? `/v1/read/${sent}` : place === "query" ? `/v1/read?${sent}` : "/v1/read";
  const { status, body } = await served.send("GET", target, { headers });
  return { status, value: body.value, details: body.error?.details };
}

describe("a parameter is accepted in its style", () => {
  it.each([
    ["path", `schema: { ${NUMBERS} }`, "3,4", [3, 4]],
    ["path", `style: label, schema: { ${NUMBERS} }`, ".3,4", [3, 4]],
    ["path", `style: label, schema: { ${NUMBERS} }`, ".3.4", [3, 4]],
    ["path", `style: label, explode: true, schema: { ${NUMBERS} }`, ".3.4", [3, 4]],
    ["path", "style: label, schema: { type: number }", ".3.5", 3.5],
    ["path", `style: matrix, schema: { ${NUMBERS} }`, ";v=3,4", [3, 4]],
    ["path", `style: matrix, explode: true, schema: { ${NUMBERS} }`, ";v=3;v=4", [3, 4]],
    ["path", "style: matrix, schema: { type: integer }", ";v=3", 3],
    ["path", `schema: { ${OBJECT} }`, "role,admin,n,3", { role: "admin", n: 3 }],
    ["path", `explode: true, schema: { ${OBJECT} }`, "role=admin,n=3", { role: "admin", n: 3 }],
    [
      "path",
      `style: label, explode: true, schema: { ${OBJECT} }`,
      ".role=admin.n=3",
      { role: "admin", n: 3 },
    ],
    ["path", `style: matrix, schema: { ${OBJECT} }`, ";v=role,admin,n,3", { role: "admin", n: 3 }],
    ["path", `style: matrix, explode: true, schema: { ${OBJECT} }`, ";role=a;n=3", { role: "a", n: 3 }],
    ["query", `explode: false, schema: { ${OBJECT} }`, "v=role,admin,n,3", { role: "admin", n: 3 }],
    ["query", `explode: false, schema: { ${NUMBERS} }`, "v=3,4", [3, 4]],
    ["query", `style: pipeDelimited, explode: false, schema: { ${NUMBERS} }`, "v=3%7C4", [3, 4]],
    ["header", `schema: { ${NUMBERS} }`, "3, 4", [3, 4]],
    ["cookie", "schema: { type: integer }", "v=3", 3],
  ])("in %s with %s: %s [interfaces 18]", async (place, parameter, sent, value) => {
    expect(await read(place, parameter, sent)).toMatchObject({ status: 200, value });
  });

  it.each([
    ["header", `schema: { ${NUMBERS} }`, "3, 4"],
    ["header", `schema: { ${OBJECT} }`, "role,admin,n,3"],
    ["header", `explode: true, schema: { ${OBJECT} }`, "role=admin,n=3"],
    ["cookie", "schema: { type: string, minLength: 6 }", "a=1; v=abc=def; b=2"],
    ["cookie", 'schema: { type: string, pattern: "^a b$" }', "v=a%20b"],
    ["cookie", 'schema: { type: string, pattern: "^ab$" }', 'v="ab"'],
    ["cookie", `explode: false, schema: { ${NUMBERS} }`, "v=3,4"],
    ["cookie", `explode: false, schema: { ${OBJECT} }`, "v=role,admin"],
  ])("in a %s with %s: %s [interfaces 18]", async (place, parameter, sent) => {
    expect((await read(place, parameter, sent)).status).toBe(200);
  });
});

describe("the refusal of a parameter contains the part and the value that were sent", () => {
  it.each([
    ["path", `schema: { ${NUMBERS} }`, "3,x", { field: "v[1]", value: "x" }],
    ["query", `schema: { ${NUMBERS} }`, "v=3&v=x", { field: "v[1]", value: "x" }],
    ["query", `style: deepObject, schema: { ${OBJECT} }`, "v[role]=a&v[n]=x", { field: "v.n", value: "x" }],
    [
      "query",
      "schema: { type: array, items: { type: integer, minimum: 5 } }",
      "v=03",
      { field: "v[0]", value: "03" },
    ],
    [
      "query",
      `content: { application/json: { schema: { ${OBJECT} } } }`,
      'v={"role":1}',
      { field: "v.role", value: 1 },
    ],
    ["header", `schema: { ${NUMBERS} }`, "3,x", { field: "v[1]", value: "x" }],
    ["query", "schema: { type: integer }", "v=x", { field: "v", value: "x" }],
    ["path", `schema: { ${OBJECT} }`, "role", { field: "v", value: "role" }],
  ])("in %s with %s: %s [G08]", async (place, parameter, sent, details) => {
    expect(await read(place, parameter, sent)).toMatchObject({ status: 422, details });
  });
});
