import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";
import { createUnderstudy } from "../../src/client/index.ts";
import { openDocument } from "../../src/documents/openapi/open-document.ts";
import { type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

let served: ServedDocument | undefined;
afterEach(async () => {
  await served?.understudy.close();
  served = undefined;
});

const makeJson = (schema: string) => `content: { application/json: { schema: ${schema} } }`;
const HOOK = `{ $ref: "#/components/schemas/Hook" }`;

/** A pair whose records are of one schema. */
function pair(
  path: string,
  { name, type = "string", body = HOOK }: { name: string; type?: string; body?: string },
) {
  const parameters = [...`${path}/{hook_id}`.matchAll(/\{(\w+)\}/g)].map(
    ([, one]) =>
      `{ name: ${one}, in: path, required: true, schema: { type: ${one === "hook_id" ? "string" : type} } }`,
  );
  const requestBody = `requestBody: { required: true, ${makeJson(body)} }`;
  const answer = (status: string, schema: string) =>
    `responses: { "${status}": { description: d, ${makeJson(schema)} } }`;
  return `  ${path}:
    parameters: [${parameters.slice(0, -1).join()}]
    get: { operationId: list${name}, ${answer("200", `{ type: array, items: ${HOOK} }`)} }
    post: { operationId: create${name}, ${requestBody}, ${answer("201", HOOK)} }
  ${path}/{hook_id}:
    parameters: [${parameters.join()}]
    get: { operationId: get${name}, ${answer("200", HOOK)} }
    patch: { operationId: update${name}, requestBody: { ${makeJson("{ type: object }")} }, ${answer("200", HOOK)} }
    put: { operationId: replace${name}, ${requestBody}, ${answer("200", HOOK)} }
    delete: { operationId: remove${name}, responses: { "204": { description: d } } }
`;
}

const makeDocument = (paths: string, { fields = "", more = "" } = {}) => `openapi: 3.0.3
info: { title: t, version: "1" }
paths:
${paths}components:
  schemas:
    Hook: { type: object, required: [id, url], properties: { id: { type: string, readOnly: true }, url: { type: string }, note: { type: string }${fields} }${more} }
`;
const serve = (text: string) => {
  served = serveDocument(text);
  return served.send;
};
const APPS = pair("/apps/{app_id}/hooks", { name: "Hook" });

it.each([
  ["string", "a", "b", ""],
  ["integer", "1", "2", ""],
  ["string", "a", "b", ", additionalProperties: false"],
])(
  "records are found below the outer id (%s) below which they were created, and not below another [interfaces 18]",
  async (type, one, other, more) => {
    const send = serve(makeDocument(pair("/apps/{app_id}/hooks", { name: "Hook", type }), { more }));
    const made = await send("POST", `/apps/${one}/hooks`, { body: { url: "u" } });
    expect([made.status, made.body]).toEqual([201, { id: made.body.id, url: "u" }]);
    const path = `/apps/${one}/hooks/${made.body.id}`;
    const wrongPath = path.replace(one, other);
    expect((await send("GET", `/apps/${one}/hooks`)).body).toEqual([made.body]);
    expect((await send("GET", `/apps/${other}/hooks`)).body).toEqual([]);
    expect((await send("GET", path)).body).toEqual(made.body);
    for (const [method, body] of [["GET"], ["PATCH", {}], ["PUT", { url: "x" }], ["DELETE"]] as const)
      expect((await send(method, wrongPath, { body })).status, method).toBe(404);
    const changed = await send("PATCH", path, { body: { note: "n", app_id: other } });
    expect(changed.body).toEqual({ ...made.body, note: "n" });
    expect((await send("PUT", path, { body: { url: "v" } })).body).toEqual({ id: made.body.id, url: "v" });
    expect((await send("GET", path)).status).toBe(200);
    expect((await send("DELETE", path)).status).toBe(204);
    expect((await send("GET", `/apps/${one}/hooks`)).body).toEqual([]);
  },
);

it("a record keeps the fields that its open schema allows [interfaces 18]", async () => {
  const send = serve(makeDocument(APPS));
  const made = await send("POST", "/apps/a/hooks", { body: { url: "u", extra: 1 } });
  expect(made.body).toEqual({ id: made.body.id, url: "u", extra: 1 });
});

it("an outer id is the record's field of that name in another case [interfaces 18]", async () => {
  const send = serve(
    makeDocument(pair("/apps/{appId}/hooks", { name: "Hook" }), { fields: ", app_id: { type: string }" }),
  );
  const made = await send("POST", "/apps/a/hooks", { body: { url: "u" } });
  expect(made.body).toEqual({ id: made.body.id, url: "u", app_id: "a" });
  expect((await send("GET", "/apps/b/hooks")).body).toEqual([]);
});

it("pairs of one schema below different outer ids do not mix their records [interfaces 18]", async () => {
  const send = serve(makeDocument(APPS + pair("/guilds/{guild_id}/hooks", { name: "Other" })));
  const made = await send("POST", "/apps/a/hooks", { body: { url: "u" } });
  expect((await send("GET", "/guilds/a/hooks")).body).toEqual([]);
  expect((await send("GET", `/guilds/a/hooks/${made.body.id}`)).status).toBe(404);
});

it("a pair keeps its collection if one with an outer id and another schema stands before it [interfaces 18]", async () => {
  const nested = APPS.replaceAll("schemas/Hook", "schemas/Nested");
  const text = makeDocument(nested + pair("/hooks", { name: "Other" }));
  const send = serve(
    `${text}    Nested: { type: object, properties: { id: { type: string }, size: { type: integer } } }\n`,
  );
  const made = await send("POST", "/hooks", { body: { url: "u" } });
  expect((await send("GET", `/hooks/${made.body.id}`)).body).toEqual(made.body);
});

it("an answer whose schema has the outer id shows it [interfaces 18]", async () => {
  const whole = `{ allOf: [${HOOK}, { type: object, required: [app_id], properties: { app_id: { type: string } } }] }`;
  const send = serve(
    makeDocument(APPS).replace(
      `"201": { description: d, ${makeJson(HOOK)}`,
      `"201": { description: d, ${makeJson(whole)}`,
    ),
  );
  const made = await send("POST", "/apps/a/hooks", { body: { url: "u" } });
  expect(made.body).toEqual({ id: made.body.id, url: "u", app_id: "a" });
  expect((await send("GET", "/apps/a/hooks")).body).toEqual([{ id: made.body.id, url: "u" }]);
});

it("state calls, fixtures, snapshots and restarts keep the outer id of a record [interfaces 18]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "understudy-nested-"));
  const file = join(folder, "openapi.yaml");
  writeFileSync(file, makeDocument(APPS));
  const begin = () =>
    createUnderstudy({ seed: 7, persist: { folder: join(folder, "worlds") }, openapi: [file] });
  let understudy = await begin();
  try {
    const fixture: object = { extends: "reference", hooks: [{ id: "h1", url: "u", app_id: "a" }] };
    const sandbox = await understudy.sandbox({ name: "mine", fixture });
    const list = async (app: string) => {
      const { credentials, url } = await understudy.open("mine");
      return (
        await fetch(`${url}/apps/${app}/hooks`, { headers: { "api-key": credentials.usr_dan } })
      ).json();
    };
    const hooks = sandbox.state("hooks" as "threads");
    await hooks.create({ id: "h2", url: "u" } as object);
    expect(await list("a")).toEqual([{ id: "h1", url: "u" }]);
    await sandbox.snapshots.save("before");
    const changed: object = await hooks.update("h2", { app_id: "b" } as object);
    expect(changed).toEqual({ id: "h2", url: "u", app_id: "b" });
    expect(await list("b")).toEqual([{ id: "h2", url: "u" }]);
    await sandbox.snapshots.restore("before");
    expect(await list("b")).toEqual([]);
    await understudy.close();
    understudy = await begin();
    expect(await list("a")).toEqual([{ id: "h1", url: "u" }]);
    expect(await list("b")).toEqual([]);
  } finally {
    await understudy.close();
    rmSync(folder, { recursive: true });
  }
});

it("a pair whose ids clients choose is not bound, as each outer id may have the same ones [interfaces 18]", async () => {
  const text = makeDocument(APPS.replaceAll("hook_id", "name"))
    .replace("{ id: {", "{ name: {")
    .replace("[id,", "[name,");
  const send = serve(text.replace("name: { type: string, readOnly: true }", "name: { type: string }"));
  for (const app of ["a", "b"])
    expect((await send("POST", `/apps/${app}/hooks`, { body: { name: "n", url: "u" } })).status).toBe(201);
});

/** Pairs of apps and of the hooks below them. */
const WITH_APPS =
  pair("/apps", { name: "App" }).replaceAll("schemas/Hook", "schemas/App").replaceAll("hook_id", "id") + APPS;
const makeApp = (type: string) =>
  `    App: { type: object, properties: { id: { type: ${type}, readOnly: true }, name: { type: string } } }\n`;

it.each([
  ["string", ""],
  ["integer", ""],
  ["integer", ", app_id: { type: integer }"],
])(
  "inner records exist only as long as their outer record, with ids of the type %s%s [interfaces 18]",
  async (type, fields) => {
    const paths = WITH_APPS.replaceAll(
      "name: app_id, in: path, required: true, schema: { type: string }",
      `name: app_id, in: path, required: true, schema: { type: ${type} }`,
    );
    const send = serve(makeDocument(paths, { fields }) + makeApp(type));
    expect((await send("GET", "/apps/9/hooks")).status).toBe(404);
    expect((await send("POST", "/apps/9/hooks", { body: { url: "u" } })).status).toBe(404);
    const { id } = (await send("POST", "/apps", { body: { name: "one" } })).body;
    const made = await send("POST", `/apps/${id}/hooks`, { body: { url: "u" } });
    expect(made.status).toBe(201);
    const changed = await send("PUT", `/apps/${id}/hooks/${made.body.id}`, { body: { url: "v" } });
    expect(changed.body).toEqual({ ...made.body, url: "v" });
    expect((await send("GET", `/apps/${id}/hooks`)).body).toEqual([changed.body]);
    const sandbox = served!.understudy.sandboxes.get("default")!;
    const countHooks = () =>
      sandbox.api.resources
        .flatMap((one) => one.collections)
        .filter((one) => one.name === "hooks")
        .map((one) => sandbox.world.read().all(one).size);
    expect(countHooks()).toEqual([1]);
    expect((await send("DELETE", `/apps/${id}`)).status).toBe(204);
    expect((await send("GET", `/apps/${id}/hooks`)).status).toBe(404);
    expect(countHooks()).toEqual([0]);
  },
);

it("a record that a state call makes is below an outer record, with an id that its paths accept [interfaces 18]", async () => {
  const text =
    makeDocument(WITH_APPS).replace("id: { type: string, readOnly", "id: { type: integer, readOnly") +
    makeApp("integer");
  const sandbox = await createSandbox({ openapi: [openDocument(text, "openapi.yaml").value as object] });
  const app: object = await sandbox.state("apps" as "threads").create({ name: "one" } as object);
  expect(app).toEqual({ id: "1", name: "one" });
  const hook = await sandbox.state("hooks" as "threads").create({ url: "u" } as object);
  expect(hook).toEqual({ id: "1", url: "u", app_id: "1" });
  const answer = await sandbox.fetch("/apps/1/hooks");
  expect(await answer.json()).toEqual([{ id: 1, url: "u" }]);
  await sandbox.close();
});

it("the owner of a record may have a number as its id [interfaces 18]", async () => {
  const bindings = `x-understudy:
  collections:
    apps: { schema: "#/components/schemas/App" }
    hooks: { schema: "#/components/schemas/Hook", belongs_to: { app_id: apps } }
  operations:
    { createApp: { create: apps }, removeApp: { delete: apps }, createHook: { create: hooks }, listHook: { list: hooks } }
`;
  const fields = ", app_id: { type: integer }";
  const paths = WITH_APPS.replaceAll(
    "name: app_id, in: path, required: true, schema: { type: string }",
    "name: app_id, in: path, required: true, schema: { type: integer }",
  );
  const send = serve(makeDocument(paths, { fields }) + makeApp("integer") + bindings);
  expect((await send("POST", "/apps", { body: { name: "one" } })).body.id).toBe(1);
  expect((await send("POST", "/apps/1/hooks", { body: { url: "u" } })).status).toBe(201);
  expect((await send("DELETE", "/apps/1")).status).toBe(204);
  expect((await send("POST", "/apps", { body: { name: "two" } })).body.id).toBe(1);
  expect((await send("GET", "/apps/1/hooks")).body).toEqual([]);
});
