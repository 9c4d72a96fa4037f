import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atMost, makeRow, ratioAtLeast } from "../rows.mjs";
import { computeMedian, computeMedianRatio } from "../statistics.mjs";
import { asEve, BENCH_FIXTURE, startUnderstudy } from "../subjects/understudy.mjs";

export const about =
  "list and create of an OpenAPI document's bound operations beside the reference's, in this process; start with ten documents of 50 operations";

const DIST = fileURLToPath(new URL("../../../dist/", import.meta.url));
const TURNS = 7;
const LISTS = 4000;
const CREATES = 1500;
const STARTS = 5;
const RECORDS = 20;

const HOOK = { url: "https://hooks.example.test/a", events: ["user.created"] };
const BUILT_IN = { path: "/webhooks", body: HOOK };
const BOUND = { path: "/v1/hooks", body: HOOK };

export async function measure({ log }) {
  const { createSandbox } = await import(`${DIST}client/engine.js`);
  const sandbox = await createSandbox({
    fixture: BENCH_FIXTURE,
    openapi: [writeDocument(2, "hook", "/v1/hooks")],
  });
  const json = { ...asEve, "content-type": "application/json" };
  const list = ({ path }) => sandbox.fetch(`${path}?limit=20`, { headers: asEve });
  const create = ({ path, body }) =>
    sandbox.fetch(path, { method: "POST", headers: json, body: JSON.stringify(body) });
  const speeds = { list: [[], []], create: [[], []] };
  for (let turn = 0; turn <= TURNS; turn++) {
    log(`turn ${turn} of ${TURNS}`);
    for (const [at, subject] of [BUILT_IN, BOUND].entries()) {
      await sandbox.reset();
      for (let n = 0; n < RECORDS; n++) await succeed(create, subject);
      const times = [await repeat(list, subject, LISTS), await repeat(create, subject, CREATES)];
      // The first turn warms up.
      if (turn === 0) continue;
      speeds.list[at].push(times[0]);
      speeds.create[at].push(times[1]);
    }
  }
  await sandbox.close();
  const compared = Object.entries(speeds).map(([what, [builtIn, bound]]) =>
    makeRow({
      what: `${what} of an OpenAPI document`,
      value: computeMedian(bound),
      unit: "req/s",
      baseline: "the reference's",
      ratio: computeMedianRatio(bound, builtIn),
      goal: ratioAtLeast(0.8),
    }),
  );
  return [...compared, await measureStart(log)];
}

async function measureStart(log) {
  const folder = mkdtempSync(join(tmpdir(), "understudy-bench-"));
  const files = Array.from({ length: 10 }, (_, at) => join(folder, `${at}.json`));
  for (const [at, file] of files.entries())
    writeFileSync(file, JSON.stringify(writeDocument(50, `r${at}`, `/v1/r${at}`)));
  const args = files.flatMap((file) => ["--openapi", file]);
  const [plain, loaded] = [[], []];
  for (let turn = 0; turn <= STARTS; turn++) {
    log(`start ${turn} of ${STARTS}`);
    for (const [times, given] of [
      [plain, []],
      [loaded, args],
    ]) {
      const server = await startUnderstudy({ fixture: "reference", args: given });
      await server.stop();
      if (turn > 0) times.push(server.firstAnswerMs);
    }
  }
  rmSync(folder, { recursive: true });
  const value = computeMedian(loaded) - computeMedian(plain);
  return makeRow({
    what: "start with ten documents of 50 operations, more",
    value,
    unit: "ms",
    goal: atMost(300),
  });
}

async function repeat(call, subject, times) {
  const start = performance.now();
  for (let n = 0; n < times; n++) await succeed(call, subject);
  return (times * 1000) / (performance.now() - start);
}

async function succeed(call, subject) {
  const answer = await call(subject);
  if (answer.status >= 300)
    throw new Error(`${subject.path} answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Writes a document with pairs of list and create operations, each with its own collection. */
function writeDocument(operations, name, path) {
  const paths = {};
  const schemas = {};
  const collections = {};
  for (let at = 0; at < operations / 2; at++) {
    const own = at === 0 ? name : `${name}_${at}`;
    const ref = { $ref: `#/components/schemas/${own}` };
    const makeResponse = (schema) => ({ description: "", content: { "application/json": { schema } } });
    schemas[own] = RECORD;
    collections[`${own}s`] = {
      schema: ref.$ref,
      prefix: "own_",
      belongs_to: { organization_id: "organizations" },
    };
    const page = {
      type: "object",
      properties: { data: { type: "array", items: ref }, total: { type: "integer" } },
    };
    const limit = { name: "limit", in: "query", schema: { type: "integer", maximum: 100, default: 20 } };
    paths[at === 0 ? path : `${path}_${at}`] = {
      get: {
        ...{ operationId: `list_${own}`, parameters: [limit], responses: { 200: makeResponse(page) } },
        "x-understudy": {
          list: `${own}s`,
          where: { organization_id: "{caller.organization_id}" },
          access: "member",
        },
      },
      post: {
        ...{ operationId: `create_${own}`, responses: { 201: makeResponse(ref) } },
        requestBody: { required: true, content: { "application/json": { schema: ref } } },
        "x-understudy": { create: `${own}s`, access: "admin" },
      },
    };
  }
  const components = { schemas };
  return { openapi: "3.1.0", "x-understudy": { collections }, paths, components };
}

const text = { type: "string", readOnly: true };
const RECORD = {
  type: "object",
  required: ["id", "organization_id", "url", "events", "is_active", "created_at"],
  properties: {
    ...{ id: text, organization_id: text },
    url: { type: "string", format: "uri" },
    events: { type: "array", items: { type: "string" }, minItems: 1 },
    is_active: { type: "boolean", readOnly: true },
    created_at: { ...text, format: "date-time" },
  },
};
