import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { serveDocument } from "../support/own/serve-document.ts";

it.each([
  "{ type: null }",
  "{ type: [string, null] }",
  "{ type: [null, string], enum: [null] }",
  "{ anyOf: [{ type: string }, { type: null }] }",
])("the type null needs no quotes in YAML: %s [interfaces 18]", async (schema) => {
  const content = `content: { application/json: { schema: ${schema} } }`;
  const { send, understudy } = serveDocument(`openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /a:
    get: { responses: { "200": { description: d, ${content} } } }
    put: { responses: { "200": { description: d, content: { application/json: { example: { type: null } } } } } }
    post: { requestBody: { required: true, ${content} }, responses: { "204": { description: d } } }
`);
  const { status, body } = await send("GET", "/a");
  expect([status, typeof body === "string" || body === null]).toEqual([200, true]);
  const post = async (sent: unknown) => (await send("POST", "/a", { body: sent })).status;
  expect([await post(null), await post(1)]).toEqual([204, 422]);
  const answer = await understudy.fetch(new Request("http://x.test/_control/openapi.json"));
  const { paths } = JSON.parse(await answer.text());
  const toContent = (method: string) => paths["/a"][method].responses["200"].content["application/json"];
  const validate = new Ajv2020().compile(toContent("get").schema);
  expect([validate(null), validate(1)]).toEqual([true, false]);
  expect(toContent("put").example).toEqual({ type: null });
  await understudy.close();
});
