import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createUnderstudy } from "../../src/client/create-understudy.ts";
import { createSandbox } from "../../src/client/engine.ts";
import { waitUntilPasses } from "../support/eventually.ts";
import { createTempFolder, removeTempFolders, runCommand, startServer } from "../support/run-understudy.ts";

afterAll(removeTempFolders);

const makeTagsDocument = (field: string) => `openapi: 3.1.0
paths:
  /v1/tags:
    get:
      operationId: listTags
      responses: { "200": { description: d, content: { application/json: { schema: { type: object, properties: { ${field}: { type: array, items: { $ref: "#/components/schemas/Tag" } } } } } } } }
    post:
      operationId: createTag
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Tag" } } } }
      responses: { "201": { description: d, content: { application/json: { schema: { $ref: "#/components/schemas/Tag" } } } } }
components:
  schemas:
    Tag: { type: object, required: [id, name], properties: { id: { type: string, readOnly: true }, name: { type: string } } }
`;
const BINDINGS = `openapi: ./tags.yaml
collections:
  tags: { schema: "#/components/schemas/Tag", prefix: tag_ }
operations:
  listTags: { list: tags }
  createTag: { create: tags }
`;

function writeFiles(): { folder: string; document: string; bindings: string } {
  const folder = createTempFolder();
  const [document, bindings] = [join(folder, "tags.yaml"), join(folder, "bindings.yaml")];
  writeFileSync(document, makeTagsDocument("data"));
  writeFileSync(bindings, BINDINGS);
  return { folder, document, bindings };
}

it("a document is served by its bindings, keeps its records in edits, and an invalid edit does not replace it [interfaces 18]", async () => {
  const { document, bindings } = writeFiles();
  const server = await startServer(["--openapi", bindings]);
  const list = async () => (await fetch(`${server.ready.url}/v1/tags`)).json();
  try {
    const made = await fetch(`${server.ready.url}/v1/tags`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "red" }),
    });
    const tag = await made.json();
    expect([made.status, tag]).toEqual([201, { id: expect.stringMatching(/^tag_/), name: "red" }]);
    expect(await list()).toEqual({ data: [tag] });
    await waitUntilPasses(() =>
      expect(server.output().stdout).toMatch(/\n {2}Own {6}2 operations of \S*bindings\.yaml\n/),
    );

    writeFileSync(document, makeTagsDocument("items"));
    await waitUntilPasses(async () => expect(await list()).toEqual({ items: [tag] }));

    writeFileSync(
      document,
      makeTagsDocument("results").replace("components:\n  schemas:", "components:\n  shemas:"),
    );
    await waitUntilPasses(() =>
      expect(server.output().stderr).toMatch(
        /bindings\.yaml:\d+:\d+: \S*tags\.yaml has no schema #\/components\/schemas\/Tag/,
      ),
    );
    expect(await list()).toEqual({ items: [tag] });

    writeFileSync(document, makeTagsDocument("results"));
    await waitUntilPasses(async () => expect(await list()).toEqual({ results: [tag] }));
  } finally {
    await server.stop();
  }
});

it("a document that edited bindings name is followed, also if it was broken then [interfaces 18]", async () => {
  const { folder, bindings } = writeFiles();
  const moved = join(folder, "moved", "tags.yaml");
  const server = await startServer(["--openapi", bindings]);
  try {
    mkdirSync(join(folder, "moved"));
    writeFileSync(moved, "openapi: [");
    writeFileSync(bindings, BINDINGS.replace("./tags.yaml", "./moved/tags.yaml"));
    await waitUntilPasses(() =>
      expect(server.output().stderr).toContain("the operations were not reloaded:\n"),
    );
    writeFileSync(moved, makeTagsDocument("moved"));
    await waitUntilPasses(async () =>
      expect(await (await fetch(`${server.ready.url}/v1/tags`)).json()).toEqual({ moved: [] }),
    );
  } finally {
    await server.stop();
  }
});

it("two documents with an operationId in common are both served [interfaces 18]", async () => {
  const describeHealth = (name: string) => ({
    openapi: "3.1.0",
    info: { title: name, version: "1" },
    "x-understudy": { operations: { health: { answer: { name } } } },
    paths: {
      [`/${name}/health`]: { get: { operationId: "health", responses: { 200: { description: "" } } } },
    },
  });
  const sandbox = await createSandbox({ openapi: ["one", "two"].map(describeHealth) });
  for (const name of ["one", "two"])
    expect(await (await sandbox.fetch(`/${name}/health`)).json()).toEqual({ name });
  await sandbox.close();
});

it("several documents are served together, from options and from the configuration [interfaces 18]", async () => {
  const { folder, bindings } = writeFiles();
  const health = join(folder, "health.yaml");
  writeFileSync(
    health,
    `openapi: 3.1.0
x-understudy: { operations: { health: { answer: { status: ok } } } }
paths: { /v1/health: { get: { operationId: health, responses: { "200": { description: d } } } } }
`,
  );
  const config = join(folder, "understudy.config.yaml");
  writeFileSync(config, `openapi: [${JSON.stringify(bindings)}, ${JSON.stringify(health)}]\n`);
  for (const options of [
    ["--openapi", bindings, "--openapi", health],
    ["--config", config],
  ]) {
    const server = await startServer(options);
    try {
      const read = async (path: string) => (await fetch(server.ready.url + path)).json();
      expect([await read("/v1/tags"), await read("/v1/health")]).toEqual([{ data: [] }, { status: "ok" }]);
    } finally {
      await server.stop();
    }
  }
});

describe("a file that cannot be used prevents the start with one sentence", () => {
  it.each([
    [
      "no document",
      { "tags.yaml": "organizations: []\n" },
      "tags.yaml",
      /tags\.yaml:1:1: this is not an OpenAPI document/,
    ],
    ["no file", {}, "nowhere.yaml", /there is no file .*nowhere\.yaml/],
    [
      "a document elsewhere",
      { "b.yaml": "openapi: https://x.test/a.yaml\n" },
      "b.yaml",
      /b\.yaml:1:10: https:\/\/x\.test\/a\.yaml is not a file; nothing is fetched/,
    ],
    [
      "a version that is no number",
      { "a.yaml": "openapi: v3.1\npaths: {}\n" },
      "a.yaml",
      /a\.yaml:1:10: the version must be a text with three numbers, such as "3\.1\.0", not "v3\.1"/,
    ],
    [
      "a document that is not there",
      { "b.yaml": "openapi: ./a.yaml\n" },
      "b.yaml",
      /there is no file .*a\.yaml/,
    ],
    [
      "a document with a date as its name, which is not there",
      { "b.yaml": "openapi: 2026-03-15.yaml\n" },
      "b.yaml",
      /there is no file .*2026-03-15\.yaml/,
    ],
    [
      "bindings with a wrong key",
      { "b.yaml": `${BINDINGS}operation: 3\n` },
      "b.yaml",
      /b\.yaml:7:1: .*operation/,
    ],
  ])("%s [interfaces 18]", async (_, files, named, message) => {
    const { folder } = writeFiles();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text as string);
    const { code, stderr } = await runCommand(["start", "--port", "0", "--openapi", join(folder, named)]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});

it("the library takes files and objects, with a server and without [interfaces 8]", async () => {
  const { bindings } = writeFiles();
  const hello = {
    openapi: "3.1.0",
    paths: { "/v1/hello": { get: { "x-understudy": { answer: "hi" }, responses: {} } } },
  };
  const understudy = await createUnderstudy({ openapi: [bindings, hello] });
  const sandbox = await createSandbox({ openapi: [hello] });
  try {
    expect(await (await fetch(`${understudy.url}/v1/tags`)).json()).toEqual({ data: [] });
    expect(await (await sandbox.fetch("/v1/hello")).json()).toBe("hi");
    const { total, collections } = await sandbox.operations.replace(
      makeTagsDocument("data"),
      BINDINGS.replace("openapi: ./tags.yaml\n", ""),
    );
    expect([total, collections]).toEqual([3, ["tags"]]);
    expect(await (await sandbox.fetch("/v1/tags")).json()).toEqual({ data: [] });
    await sandbox.operations.clear();
    expect((await sandbox.operations.list()).total).toBe(1);
  } finally {
    await sandbox.close();
    await understudy.close();
  }
});

it("the document of a sandbox resolves references to any part of the user's document [interfaces 18]", async () => {
  const understudy = await createUnderstudy();
  const sandbox = await understudy.sandbox({ name: "referring" });
  const $ref = "#/components/schemas/User/properties/address";
  const toAnswer = (schema: object) => ({
    responses: { "200": { description: "d", content: { "application/json": { schema } } } },
  });
  const address = { type: "object", properties: { street: { type: "string" } } };
  await sandbox.operations.replace({
    openapi: "3.1.0",
    info: { title: "Users", version: "1" },
    paths: {
      "/v1/addresses": {
        get: {
          operationId: "showAddress",
          ...toAnswer({ $ref }),
          "x-understudy": { answer: { street: "A" } },
        },
      },
    },
    components: { schemas: { User: { type: "object", properties: { address } } } },
  });
  const answer = await fetch(`${understudy.url}/_control/sandboxes/referring/openapi.json`);
  const document = (await answer.json()) as {
    paths: Record<string, object>;
    components: { schemas: object };
  };
  await understudy.close();
  const [, name] = /"#\/components\/schemas\/(Own[^"]*)"/.exec(
    JSON.stringify(document.paths["/v1/addresses"]),
  )!;
  expect(document.components.schemas).toMatchObject({ [name!]: address });
});

it("an answer or a header that another operation has is not called a schema in the document of the server [interfaces 18]", async () => {
  const understudy = await createUnderstudy();
  const sandbox = await understudy.sandbox({ name: "referring" });
  const street = { name: "street", in: "query", schema: { type: "string" } };
  const ok = { description: "d", headers: { "X-Page": { schema: { type: "integer" } } } };
  const first = "#/paths/~1v1~1addresses/get";
  await sandbox.operations.replace({
    openapi: "3.1.0",
    info: { title: "Users", version: "1" },
    paths: {
      "/v1/addresses": {
        get: { operationId: "listAddresses", parameters: [street], responses: { "200": ok } },
      },
      "/v1/streets": {
        get: {
          operationId: "listStreets",
          parameters: [{ $ref: `${first}/parameters/0` }],
          responses: {
            "200": { $ref: `${first}/responses/200` },
            "206": {
              description: "d",
              content: { "application/json": { schema: { $ref: "#/components/schemas/requestBody" } } },
              headers: { "X-Page": { $ref: `${first}/responses/200/headers/X-Page` } },
            },
          },
        },
      },
    },
    components: { schemas: { requestBody: { type: "string" } } },
  });
  const answer = await fetch(`${understudy.url}/_control/sandboxes/referring/openapi.json`);
  // biome-ignore lint/suspicious/noExplicitAny: a document of any shape
  const { paths, components } = (await answer.json()) as any;
  await understudy.close();
  const { parameters, responses } = paths["/v1/streets"].get;
  const find = ({ $ref }: { $ref: string }, kind: string) => {
    expect($ref).toMatch(new RegExp(`^#/components/${kind}/Own`));
    return components[kind][$ref.split("/").at(-1)!];
  };
  expect(parameters).toEqual([street]);
  expect(find(responses["200"], "responses")).toEqual(ok);
  expect(find(responses["206"].content["application/json"].schema, "schemas")).toEqual({ type: "string" });
  expect(find(responses["206"].headers["X-Page"], "headers")).toEqual(ok.headers["X-Page"]);
});

it("the document of the server contains the parts of a user's document, and the parts to which they refer [interfaces 18]", async () => {
  const { bindings } = writeFiles();
  const understudy = await createUnderstudy({ openapi: [bindings] });
  const answer = await fetch(`${understudy.url}/_control/openapi.json`);
  // biome-ignore lint/suspicious/noExplicitAny: a document of any shape
  const document = (await answer.json()) as any;
  await understudy.close();
  const { post } = document.paths["/v1/tags"];
  const ref = post.requestBody.content["application/json"].schema.$ref;
  expect(ref).toMatch(/^#\/components\/schemas\//);
  expect(document.components.schemas[ref.split("/").at(-1)].properties).toMatchObject({
    name: { type: "string" },
  });
  expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(["201", "422"]));
});
