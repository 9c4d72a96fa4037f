import { afterEach, expect, it } from "vitest";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

let served: ServedDocument;
afterEach(() => served.understudy.close());

const json = (schema: string) => `content: { application/json: { schema: ${schema} } }`;
const ref = (name: string) => `{ $ref: "#/components/schemas/${name}" }`;
const answer = (schema: string, status = "200") =>
  `responses: { "${status}": { description: d, ${json(schema)} } }`;
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
    const volume = `{ type: object, properties: { volume: ${ref("Volume")} } }`;
    const paths = `  /volumes:
    get: { operationId: list, ${answer(`{ type: object, properties: { volumes: { type: array, items: ${ref("Volume")} } } }`)} }
    post: { operationId: create, requestBody: { ${json("{ type: object, properties: { name: { type: string } } }")} }, ${answer(volume, "201")} }
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
  const one = `{ type: object, required: [server, links], properties: { server: ${ref("Server")}, links: { type: array, items: { type: string } } } }`;
  const many = `{ type: object, required: [servers, links], properties: { servers: { type: array, items: ${ref("Server")} }, links: { type: array, items: { type: string } } } }`;
  const send = serve(
    `  /servers:
    get: { operationId: list, ${answer(`{ type: object, properties: { servers: { type: array, items: ${ref("Server")} } } }`)} }
    post: { operationId: create, requestBody: { ${json("{ type: object, properties: { name: { type: string } } }")} }, ${answer(`{ oneOf: [${one}, ${many}] }`, "202")} }
  /servers/{server_id}:
    parameters: [{ name: server_id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: get, ${answer(`{ type: object, properties: { server: ${ref("Server")} } }`)} }`,
    "    Server: { type: object, properties: { id: { type: integer, readOnly: true }, name: { type: string } } }",
  );
  const made = await send("POST", "/servers", { body: { name: "web" } });
  expect([made.status, made.body]).toEqual([
    202,
    { server: { id: 1, name: "web" }, links: expect.any(Array) },
  ]);
});
