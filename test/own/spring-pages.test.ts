import { afterEach, describe, expect, it } from "vitest";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

const open: ServedDocument[] = [];
afterEach(async () => {
  for (const { understudy } of open.splice(0)) await understudy.close();
});

const makeContent = (schema: string) =>
  `content: { "*/*": { schema: { $ref: "#/components/schemas/${schema}" } } }`;
const SORT_OBJECT = '{ $ref: "#/components/schemas/Sort" }';

/** A document as springdoc writes it, with five owners. */
async function serveOwners({ parameters, sort = SORT_OBJECT }: { parameters: string; sort?: string }) {
  const served = serveDocument(`openapi: 3.0.1
info: { title: t, version: "1" }
paths:
  /owners:
    get: { parameters: [${parameters}], responses: { "200": { description: OK, ${makeContent("PageOwner")} } } }
    post: { requestBody: { required: true, ${makeContent("Owner")} }, responses: { "200": { description: OK, ${makeContent("Owner")} } } }
  /owners/{id}:
    get: { parameters: [{ name: id, in: path, required: true, schema: { type: integer } }], responses: { "200": { description: OK, ${makeContent("Owner")} } } }
components:
  schemas:
    Owner: { type: object, properties: { id: { type: integer, readOnly: true }, name: { type: string } } }
    Pageable: { type: object, properties: { page: { type: integer, minimum: 0 }, size: { type: integer, minimum: 1 }, sort: { type: array, items: { type: string } } } }
    Sort: { type: object, properties: { sorted: { type: boolean } } }
    PageOwner: { type: object, properties: { totalElements: { type: integer }, totalPages: { type: integer }, size: { type: integer }, sort: ${sort}, content: { type: array, items: { $ref: "#/components/schemas/Owner" } }, number: { type: integer } } }
`);
  open.push(served);
  for (let at = 1; at <= 5; at++) await served.send("POST", "/owners", { body: { name: "a" } });
  return async (query: string) => {
    const { status, body } = await served.send("GET", `/owners${query}`);
    const { content, totalElements, totalPages, number } = body;
    return [status, content?.map(({ id }: { id: number }) => id), totalElements, totalPages, number];
  };
}

const SEPARATE =
  "{ name: page, in: query, schema: { type: integer, minimum: 0, default: 0 } }, { name: size, in: query, schema: { type: integer, default: 20 } }";
const PAGEABLE =
  '{ name: pageable, in: query, required: true, schema: { $ref: "#/components/schemas/Pageable" } }';

describe.each([
  ["of their own", { parameters: SEPARATE }],
  ["in one object", { parameters: PAGEABLE }],
  ["beside a list of other things", { parameters: SEPARATE, sort: `{ type: array, items: ${SORT_OBJECT} }` }],
])("a list of Spring with parameters %s", (_, options) => {
  it("has pages that are counted from 0 [interfaces 18]", async () => {
    const list = await serveOwners(options);
    expect(await list("?page=0&size=2")).toEqual([200, [5, 4], 5, 3, 0]);
    expect(await list("?page=1&size=2")).toEqual([200, [3, 2], 5, 3, 1]);
    expect(await list("?page=2&size=2")).toEqual([200, [1], 5, 3, 2]);
    expect(await list("")).toEqual([200, [5, 4, 3, 2, 1], 5, 1, 0]);
  });
});

it("a page is counted from 1 if 0 is not allowed [interfaces 18]", async () => {
  const parameters = SEPARATE.replace("minimum: 0, default: 0", "minimum: 1");
  const list = await serveOwners({ parameters });
  expect(await list("?page=2&size=2")).toEqual([200, [3, 2], 5, 3, 2]);
});
