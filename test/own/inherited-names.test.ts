import { afterAll, beforeAll, expect, it } from "vitest";
import { CONTROL } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";
import { serveDocument } from "../support/own/serve-document.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

/** The plain pair, whose collection is found by comparing its schemas (interfaces 18). */
function describeThings(field: string) {
  const thing = { type: "object", properties: { id: { type: "string" }, [field]: { type: "object" } } };
  const content = { "application/json": { schema: thing } };
  const list = { "application/json": { schema: { type: "array", items: thing } } };
  const byId = { name: "id", in: "path", required: true, schema: { type: "string" } };
  const answer = (status: number, described: object) => ({
    [status]: { description: "", content: described },
  });
  return {
    openapi: "3.1.0",
    info: { title: "Things", version: "1" },
    paths: {
      "/things": {
        get: { operationId: "list", responses: answer(200, list) },
        post: { operationId: "create", requestBody: { content }, responses: answer(201, content) },
      },
      "/things/{id}": {
        parameters: [byId],
        get: { operationId: "get", responses: answer(200, content) },
        patch: { operationId: "change", requestBody: { content }, responses: answer(200, content) },
      },
    },
  };
}

it("a path named like an inherited field has a collection [interfaces 18]", async () => {
  const document = JSON.stringify(describeThings("name")).replaceAll("/things", "/constructor");
  const { send, understudy } = serveDocument(document);
  const { body } = await send("POST", "/constructor", { body: { name: {} } });
  expect((await send("GET", "/constructor")).body).toEqual([body]);
  await understudy.close();
});

it.each(["toString", "valueOf", "constructor", "hasOwnProperty", "then", "toJSON", "length"])(
  "records with a field %s are stored, matched and compared like others [interfaces 10, 18]",
  async (field) => {
    const control = (method: string, path: string, body?: object) =>
      api.call(undefined, method, `${CONTROL}/${path}`, body);
    await control("PUT", "operations", { openapi: describeThings(field) });
    await control("POST", "reset");
    const makeValue = (text: string) => ({ [field]: { [field]: text } });
    const { body: made } = await api.call("dan", "POST", "/things", makeValue("a"));
    expect(made).toEqual({ id: expect.any(String), ...makeValue("a") });
    await control("POST", "snapshots", { name: field });
    await api.call("dan", "PATCH", `/things/${made.id}`, makeValue("b"));
    await control("PATCH", `state/things/${made.id}`, makeValue("b"));
    const [same, changed] = (await control("GET", "history")).body.entries;
    expect(changed.changes).toEqual({ things: { added: 0, removed: 0, changed: 1 } });
    expect(same.changes).toEqual({});
    const changes = (await control("GET", `history/${changed.id}/changes`)).body;
    expect(changes.things).toEqual([
      { id: made.id, before: { id: made.id, ...makeValue("a") }, after: { id: made.id, ...makeValue("b") } },
    ]);
    const { body: diff } = await control("GET", `snapshots/${field}/diff/now`);
    expect(diff.changed.things).toHaveLength(1);
    const match = { operation: "change", body: makeValue("b") };
    expect((await control("POST", "journal/verify", { match, count: 1 })).body).toMatchObject({ ok: true });
  },
);
