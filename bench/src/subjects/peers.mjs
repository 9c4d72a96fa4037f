// Alternatives to Understudy. Each starts with the least output and gets its cheapest comparable requests: a stored
// or static record of the workload's size, and a call that a real client would make.
import { mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { HIT_ROUTE, makeDepartment, reparent, routeNames } from "../../apps/workload.mjs";
import { writeScratchFile } from "../scratch.mjs";
import { defineNodeSubject, reparentBodies } from "./node-subject.mjs";

const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url));
const JSON_BODY = { "content-type": "application/json" };
const PATH = `/v1/${routeNames[HIT_ROUTE]}/dept_infra`;
const script = (name) => realpathSync(join(MODULES, name));

/** Creates a folder with a configuration file, in which the peer also runs (some write files next to it). */
const writeFolderWith = (file, content) => () => dirname(writeScratchFile(file, content));

function writeDatabase() {
  const rest = Array.from({ length: 99 }, (_, index) => ({ ...makeDepartment(), id: `dept_${index}` }));
  return { departments: [makeDepartment(), ...rest] };
}

// json-server writes its whole file at each change; it changes a record by PATCH.
const jsonServerCalls = {
  get: { path: "/departments/dept_infra" },
  post: { method: "PATCH", path: "/departments/dept_infra", bodies: reparentBodies, headers: JSON_BODY },
};
const jsonServer = defineNodeSubject({
  name: "json-server 0.17",
  kind: "peer",
  prepare: writeFolderWith("db.json", writeDatabase()),
  program: (port) => [
    script("json-server/lib/cli/bin.js"),
    ...["--quiet", "--host", "127.0.0.1", "--port", String(port), "db.json"],
  ],
  ...jsonServerCalls,
});
const jsonServer1 = defineNodeSubject({
  name: "json-server 1 beta",
  kind: "peer",
  prepare() {
    const folder = writeFolderWith("db.json", writeDatabase())();
    mkdirSync(join(folder, "public")); // it does not start without one
    return folder;
  },
  program: (port) => [
    script("json-server-1/lib/bin.js"),
    ...["--host", "127.0.0.1", "--port", String(port), "db.json"],
  ],
  ...jsonServerCalls,
});

function openApi() {
  const idParameter = { name: "id", in: "path", required: true, schema: { type: "string" } };
  const describeAnswer = (example) => ({
    200: { description: "OK", content: { "application/json": { schema: { type: "object" }, example } } },
  });
  const requestBody = {
    required: true,
    content: {
      "application/json": {
        schema: {
          type: "object",
          required: ["new_parent_id"],
          properties: { new_parent_id: { type: "string" }, reason: { type: "string" } },
        },
      },
    },
  };
  const paths = {};
  for (const name of routeNames) {
    paths[`/v1/${name}/{id}`] = {
      get: { parameters: [idParameter], responses: describeAnswer(makeDepartment()) },
    };
    paths[`/v1/${name}/{id}/reparent`] = {
      post: {
        parameters: [idParameter],
        requestBody,
        responses: describeAnswer(reparent(makeDepartment(), "dept_ops")),
      },
    };
  }
  return { openapi: "3.0.3", info: { title: "Departments", version: "1" }, paths };
}

const prism = defineNodeSubject({
  name: "Prism 5, quiet",
  kind: "peer",
  prepare: writeFolderWith("openapi.json", openApi()),
  program: (port) => [
    script("@stoplight/prism-cli/dist/index.js"),
    ...["mock", "--host", "127.0.0.1", "--port", String(port), "--verboseLevel", "silent", "openapi.json"],
  ],
  get: { path: PATH },
  post: { path: `${PATH}/reparent`, bodies: reparentBodies, headers: JSON_BODY },
});

function makeMockoonEnvironment() {
  const makeUuid = (index) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
  const makeRoute = ({ index, method, endpoint, body }) => ({
    uuid: makeUuid(index),
    type: "http",
    documentation: "",
    method,
    endpoint,
    responses: [
      {
        uuid: makeUuid(index + 1000),
        body: JSON.stringify(body),
        latency: 0,
        statusCode: 200,
        label: "",
        headers: [{ key: "Content-Type", value: "application/json" }],
        bodyType: "INLINE",
        filePath: "",
        databucketID: "",
        sendFileAsBody: false,
        rules: [],
        rulesOperator: "OR",
        disableTemplating: true,
        fallbackTo404: false,
        default: true,
        crudKey: "id",
        callbacks: [],
      },
    ],
    responseMode: null,
    streamingMode: null,
    streamingInterval: 0,
  });
  const moved = reparent(makeDepartment(), "dept_ops");
  const routes = routeNames.flatMap((name, index) => [
    makeRoute({ index, method: "get", endpoint: `v1/${name}/:id`, body: makeDepartment() }),
    makeRoute({ index: index + 100, method: "post", endpoint: `v1/${name}/:id/reparent`, body: moved }),
  ]);
  return {
    uuid: makeUuid(9000),
    lastMigration: 33,
    name: "Departments",
    endpointPrefix: "",
    latency: 0,
    port: 3000,
    hostname: "127.0.0.1",
    folders: [],
    routes,
    rootChildren: routes.map(({ uuid: id }) => ({ type: "route", uuid: id })),
    proxyMode: false,
    proxyHost: "",
    proxyRemovePrefix: false,
    tlsOptions: {
      enabled: false,
      type: "CERT",
      pfxPath: "",
      certPath: "",
      keyPath: "",
      caPath: "",
      passphrase: "",
    },
    cors: false,
    headers: [],
    proxyReqHeaders: [],
    proxyResHeaders: [],
    data: [],
    callbacks: [],
  };
}

const mockoon = defineNodeSubject({
  name: "Mockoon 9",
  kind: "peer",
  prepare: writeFolderWith("environment.json", makeMockoonEnvironment()),
  program: (port) => [
    script("@mockoon/cli/bin/run.js"),
    ...["start", "--data", "environment.json", "--hostname", "127.0.0.1", "--port", String(port)],
    ...["--disable-log-to-file", "--disable-admin-api", "--repair"],
  ],
  get: { path: PATH },
  post: { path: `${PATH}/reparent`, bodies: reparentBodies, headers: JSON_BODY },
});

// aimock serves model APIs only: its requests are the model list and a completion from a fixture.
const chat = { model: "gpt-4o", messages: [{ role: "user", content: `hello ${"x".repeat(134)}` }] };
const aimock = defineNodeSubject({
  name: "aimock 1",
  kind: "peer",
  prepare: writeFolderWith("fixtures.json", {
    fixtures: [{ match: { userMessage: "hello" }, response: { content: "A short answer." } }],
  }),
  program: (port) => [
    script("@copilotkit/aimock/dist/cli.js"),
    ...["--host", "127.0.0.1", "--port", String(port), "--fixtures", "fixtures.json"],
    ...["--log-level", "silent"],
  ],
  get: { path: "/v1/models" },
  post: { path: "/v1/chat/completions", bodies: [JSON.stringify(chat)], headers: JSON_BODY },
});

export const peers = [aimock, jsonServer1, jsonServer, prism, mockoon];
