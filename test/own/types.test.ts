import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it, vi } from "vitest";
import { openDocument } from "../../src/documents/openapi/open-document.ts";
import { toOperationSource } from "../../src/documents/openapi/openapi-source.ts";
import { createJoinedApi, type OperationSource, toOperationsOption } from "../../src/engine/own/join.ts";
import { generateOwnTypes } from "../../src/tools/reports/own-types.ts";
import { writeLargeDocument } from "../support/own/large-document.ts";
import { readExample } from "../support/own/serve-document.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";
import * as operations from "./notes.ts";

vi.setConfig({ testTimeout: 120_000 });
afterAll(removeTempFolders);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const toSource = (text: string, name = "openapi.yaml"): OperationSource =>
  toOperationSource({ document: openDocument(text, name) });
const generateTypes = (...sources: OperationSource[]) => generateOwnTypes(createJoinedApi(sources).api);

/** Compiles these files in a user's strict project, and returns the errors. */
function compile(files: Record<string, string>, { installed = true, compiler = "typescript" } = {}): string {
  const folder = createTempFolder();
  if (installed) {
    const target = join(folder, "node_modules/understudy-sandbox");
    cpSync(join(ROOT, "package.json"), join(target, "package.json"));
    cpSync(join(ROOT, "dist/types"), join(target, "dist/types"), { recursive: true });
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const compilerOptions = {
    ...{ module: "nodenext", target: "es2023", strict: true, noEmit: true, types: [] },
    ...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noUnusedLocals: true },
    lib: ["es2023", "dom"],
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: Object.keys(files) }),
  );
  const args = [join(ROOT, "node_modules", compiler, "bin/tsc"), "-p", ".", "--pretty", "false"];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  return `${stdout}${stderr}` || (status === 0 ? "" : `the compiler ended with ${status}`);
}

const CLIENT = `
import { connect } from "understudy-sandbox";
import type { OwnInputs, OwnOperations, OwnSchemas } from "./types.js";

type Id = keyof OwnOperations;
declare function call<I extends Id>(id: I, input: {
  params: OwnOperations[I]["params"]; query?: OwnOperations[I]["query"]; body?: OwnOperations[I]["body"];
}): Promise<OwnOperations[I]["response"]>;

const params = { project_id: "prj_1" };
export async function right() {
  const issue = await call("createIssue", { params, body: { title: "First", priority: 1 } });
  const state: "open" | "closed" = issue.state;
  const closed: string | null = issue.closed_at;
  const { data, page } = await call("listIssues", { params, query: { limit: 5, sort: "-title" } });
  const next: string | null = page.next;
  const gone: undefined = await call("deleteIssue", { params: { ...params, issue_id: "iss_1" } });
  await call("uploadAttachment", { params: { issue_id: "iss_1" }, body: { file: new Blob() } });
  const bytes: Blob = await call("downloadAttachment", { params: { attachment_id: "att_1" } });
  const goal: OwnSchemas["Milestone"]["goal"] = { kind: "count", issues: 3 };
  // Only the server sets the id.
  const project: OwnInputs["Project"] = { key: "APP", name: "App" };
  const sandbox = await connect("http://127.0.0.1:4747").open("default");
  const made = await sandbox.state("projects").create(project);
  const key: string = made.key;
  const listed = (await sandbox.state("issues").list({ title: "First", limit: 1 })).items.map((one) => one.priority + 1);
  await sandbox.faults.add({ match: { operation: "createIssue" }, effect: { error: "RATE_LIMIT_EXCEEDED" } });
  await sandbox.events.trigger("project.created", { for: made.id });
  await sandbox.scenarios.activate("getProject-not-found");
  return [state, closed, data[0]?.title.length, next, gone, bytes, goal, key, listed];
}
export async function wrong() {
  // @ts-expect-error: an issue needs a title
  await call("createIssue", { params, body: { priority: 1 } });
  // @ts-expect-error: there is no such order
  await call("listIssues", { params, query: { sort: "size" } });
  // @ts-expect-error: a parameter is missing
  await call("getIssue", { params });
  // @ts-expect-error: there is no such operation
  await call("getIssues", { params });
  // @ts-expect-error: the server sets the id
  const project: OwnInputs["Project"] = { id: "prj_1", key: "APP", name: "App" };
  // @ts-expect-error: neither kind of goal
  const goal: OwnSchemas["Milestone"]["goal"] = { kind: "count", by: "2026-01-01" };
  const sandbox = await connect("http://127.0.0.1:4747").open("default");
  // @ts-expect-error: a project has no title
  await sandbox.state("projects").create({ title: "App" });
  // @ts-expect-error: there is no such collection
  await sandbox.state("projekts").list();
  // @ts-expect-error: there is no such operation
  await sandbox.faults.add({ match: { operation: "createIssues" }, effect: { error: "RATE_LIMIT_EXCEEDED" } });
  // @ts-expect-error: there is no such event
  await sandbox.events.trigger("project.lost");
  return [project, goal];
}
`;

describe.each(["typescript-5", "typescript"])("the types of a document's operations, by %s", (compiler) => {
  it("describe what a typed client and a test may send, and what they receive [interfaces 18]", () => {
    const types = generateTypes(toSource(readExample("issue-tracker/openapi.yaml")));
    expect(compile({ "types.ts": types, "client.ts": CLIENT }, { compiler })).toBe("");
  });

  it("compile without the installed package [interfaces 18]", () => {
    const types = generateTypes(toSource(readExample("issue-tracker/openapi.yaml")));
    expect(compile({ "types.ts": types }, { compiler, installed: false })).toBe("");
  });
});

/** Names and values that need quotes, and schemas that TypeScript can describe only in part. */
const ODD = {
  openapi: "3.1.0",
  info: { title: "Odd", version: "1" },
  paths: {
    "/v1/odd/{the-id}/*/x": {
      post: {
        operationId: 'it\'s "odd" */',
        parameters: [
          { name: "the-id", in: "path", required: true, schema: { type: ["integer", "null"] } },
          {
            name: "filter[of]",
            in: "query",
            schema: { type: "object", additionalProperties: { type: "number" } },
          },
          {
            name: "as json",
            in: "query",
            required: true,
            content: { "application/json": { schema: { type: "boolean" } } },
          },
        ],
        requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Node" } } } },
        responses: {
          "200": {
            description: "",
            content: { "application/json": { schema: { $ref: "#/components/schemas/a.b~1c" } } },
          },
          "202": { description: "", content: { "text/plain": {} } },
          "204": { description: "" },
        },
      },
      get: {
        operationId: "plain",
        parameters: [{ name: "the-id", in: "path", required: true, schema: true }],
        responses: {
          default: {
            description: "",
            content: {
              "application/json": {
                schema: { $ref: "#/paths/~1v1~1odd~1{the-id}~1*~1x/post/parameters/0/schema" },
              },
            },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Node: {
        type: "object",
        required: ["child", "secret", "id", "absent"],
        properties: {
          id: { type: "string", readOnly: true },
          secret: { type: "string", writeOnly: true },
          child: { anyOf: [{ $ref: "#/components/schemas/Node" }, { type: "null" }] },
          children: { type: "array", items: { $ref: "#/components/schemas/Node" } },
        },
      },
      "a.b/c": {
        allOf: [{ $ref: "#/components/schemas/Node" }, { required: ["x"] }],
        properties: {
          "new-line": { enum: ["a\nb", "\u2028", 'q"', null, 1, true, { deep: [1, "x"] }] },
          tuple: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false },
          list: { type: "array", items: { oneOf: [{ type: "string" }, { type: "integer" }] } },
          never: false,
          any: true,
          empty: { type: "object", additionalProperties: false },
          none: { enum: [] },
          constructor: { const: { a: { "b c": [] } } },
          "": { type: ["string", "null"] },
        },
      },
    },
  },
};

it("the type of a file is a Blob, also if only its media type says so [interfaces 18]", () => {
  const sound = { type: "string", contentMediaType: "application/octet-stream" };
  const page = { type: "string", contentMediaType: "text/html" };
  const content = { "multipart/form-data": { schema: { type: "object", properties: { sound, page } } } };
  const post = { operationId: "send", requestBody: { content }, responses: { "204": { description: "" } } };
  const document = {
    openapi: "3.1.0",
    info: { title: "Sounds", version: "1" },
    paths: { "/v2/sounds": { post } },
  };
  expect(generateTypes(toSource(JSON.stringify(document)))).toMatch(/sound\?: Blob;\s+page\?: string;/);
});

it("the type of a body is that of the media type which the server reads [interfaces 18]", () => {
  const schema = (type: string) => ({ schema: { type } });
  const toPath = (operationId: string, content: object) => ({
    post: {
      operationId,
      requestBody: { required: true, content },
      responses: { "204": { description: "" } },
    },
  });
  const paths = {
    "/v2/a": toPath("a", {
      "application/json-patch+json": schema("array"),
      "application/merge-patch+json": schema("integer"),
    }),
    "/v2/b": toPath("b", { "text/csv": schema("string"), "multipart/form-data": schema("boolean") }),
  };
  const document = { openapi: "3.1.0", info: { title: "Media", version: "1" }, paths };
  const types = generateTypes(toSource(JSON.stringify(document)));
  expect([...types.matchAll(/ body: (.+);/g)].map(([, type]) => type)).toEqual(["number", "boolean"]);
});

it("the type of an answer is that of a redirection, not that of other answers, which are errors [interfaces 18]", () => {
  const error = { description: "", content: { "application/json": { schema: { type: "string" } } } };
  const get = { operationId: "authorize", responses: { "302": { description: "" }, default: error } };
  const document = {
    openapi: "3.1.0",
    info: { title: "A", version: "1" },
    paths: { "/v2/authorize": { get } },
  };
  expect(generateTypes(toSource(JSON.stringify(document)))).toMatch(/response: undefined;/);
});

it("the type of a body whose reference leads nowhere is undefined, once [interfaces 18]", () => {
  const text = `openapi: 3.1.0
info: { title: T, version: "1" }
paths: { /a: { post: { operationId: add, requestBody: { $ref: "#/nowhere" }, responses: { 204: {} } } } }`;
  expect(generateTypes(toSource(text))).toContain("body: undefined;");
});

describe("the types of a document", () => {
  it("are valid and precise TypeScript for unusual names and schemas [interfaces 18]", () => {
    const types = generateTypes(toSource(JSON.stringify(ODD), "odd.json"));
    const use = `
import type { OwnInputs, OwnOperations, OwnSchemas } from "./types.js";
type Post = OwnOperations["it's \\"odd\\" */"];
export const params: Post["params"] = { "the-id": null };
export const query: Post["query"] = { "as json": true, "filter[of]": { price: 1 } };
// @ts-expect-error: a needed parameter
export const none: Post["query"] = {};
export const bodies: Post["body"][] = [undefined, { secret: "x", child: null, children: [{ secret: "y", child: null }] }];
// @ts-expect-error: only the server sets the id
export const ids: OwnInputs["Node"] = { id: "x", secret: "x", child: null };
export const answers: (answer: Post["response"]) => unknown = (answer) =>
  answer === undefined || typeof answer === "string" ? answer : [answer.child?.child?.id, answer.tuple?.[1].toFixed()];
export const value: OwnSchemas["a.b/c"]["new-line"][] = ["a\\nb", 'q"', null, 1, true, { deep: [1, "x"] }];
export const found: OwnOperations["plain"]["response"] = 3;
`;
    expect(compile({ "types.ts": types, "use.ts": use })).toBe("");
  });

  it("compile if it is large, recursive or of 3.0, and for two documents together [interfaces 18]", () => {
    const large = writeLargeDocument(500);
    const sources = [toSource(large, "large.json"), toSource(readExample("issue-tracker/openapi.yaml"))];
    const types = generateTypes(...sources);
    const use = `
import type { OwnOperations } from "./types.js";
export const page: OwnOperations["list_thing0"]["response"]["data"] = [];
export const read = (one: OwnOperations["get_thing0"]["response"]) => one;
// @ts-expect-error: an answer is a thing
read(1);
`;
    expect(compile({ "types.ts": types, "use.ts": use })).toBe("");
    const chain = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [
        `S${at}`,
        { type: "object", properties: { next: { $ref: `#/components/schemas/S${(at + 1) % 5_000}` } } },
      ]),
    );
    const document = {
      ...ODD,
      paths: {
        "/v1/chain": {
          get: {
            operationId: "chain",
            responses: {
              200: {
                description: "",
                content: { "application/json": { schema: { $ref: "#/components/schemas/S0" } } },
              },
            },
          },
        },
      },
      components: { schemas: chain },
    };
    expect(generateTypes(toSource(JSON.stringify(document), "chain.json"))).toContain(
      'next?: OwnSchemas["S0"];',
    );
  });
});

it("the types of declarations compile and contain every answer of an operation [interfaces 18]", async () => {
  const { operations: declared = [] } = await toOperationsOption(operations);
  const types = generateTypes(...declared);
  const use = `
import { connect } from "understudy-sandbox";
import type { OwnOperations } from "./types.js";
export const body: OwnOperations["notes.create"]["body"] = { text: "Hello" };
export const gone: OwnOperations["notes.delete"]["response"] = undefined;
export const read = async () => {
  const sandbox = await connect("http://127.0.0.1:4747").open("default");
  await sandbox.scenarios.activate("notes-delete-not-found");
  const { items } = await sandbox.state("notes").list();
  return items.map(({ text, created_at }) => text.length + Date.parse(created_at));
};
`;
  expect(compile({ "types.ts": types, "use.ts": use })).toBe("");
});

const DECLARATION = `
import { defineCollection, defineEvent, defineOperation, id, integer, optional, record, refuse, string } from "understudy-sandbox/operations";
export const notes = defineCollection({ name: "notes", fields: { author_id: id("usr_", { belongsTo: "users" }), text: string() } });
export const noteCreated = defineEvent({ name: "note.created", about: notes, data: ["id", "text"] });
export const list = defineOperation({
  id: "notes.list", method: "GET", path: "/v1/notes/{thread_id}", uses: { notes },
  query: { limit: integer({ default: 5 }), text: optional(string()) },
  response: { title: string(), thread: record("threads") }, errors: ["RESOURCE_NOT_FOUND"],
  handle({ world, params, query, principal }) {
    const thread = world.threads.require(params.thread_id);
    const page: number = query.limit;
    const text: string | undefined = query.text;
    const first: string | undefined = world.notes.where({ author_id: principal.user_id }).first()?.text;
    // @ts-expect-error: there is no such collection
    world.threadz;
    // @ts-expect-error: a note has no title
    world.notes.where({ title: "x" });
    // @ts-expect-error: the query has no offset
    query.offset;
    // @ts-expect-error: the path has no such parameter
    params.note_id;
    // @ts-expect-error: there is no such code
    if (page > 5) throw refuse("RESOURCE_NOT_FUND");
    // @ts-expect-error: there is no such event
    world.emit("thread.creatd", thread);
    return { title: String(text ?? first ?? thread.title), thread };
  },
});
export const wrong = [
  // @ts-expect-error: there is no such code
  defineOperation({ id: "a", method: "GET", path: "/v1/a", errors: ["NOPE"], handle: () => ({}) }),
  // @ts-expect-error: there is no such method
  defineOperation({ id: "b", method: "FETCH", path: "/v1/b", handle: () => ({}) }),
  // @ts-expect-error: there is no such collection
  record("threadz"),
  // @ts-expect-error: a note has no title
  defineEvent({ name: "note.changed", about: notes, data: ["title"] }),
];
`;

it("the types of a declaration are literal: an unknown name does not compile [interfaces 18]", () => {
  expect(compile({ "notes.ts": DECLARATION })).toBe("");
});
