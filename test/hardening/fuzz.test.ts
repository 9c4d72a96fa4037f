import { Agent, type IncomingMessage, request } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnyOperation } from "../../src/engine/contract/operation.ts";
import { API } from "../../src/engine/resources/index.ts";
import { buildOpenApiDocument } from "../../src/tools/reports/openapi.ts";
import { type FuzzedRequest, generateRequests, type Prepared } from "../support/fuzz/requests.ts";
import { type Api, startReference } from "../support/harness.ts";
import { AnswerValidator, type CheckedAnswer } from "../support/openapi/answer-validator.ts";

/** For more (quality 2.3): `FUZZ_RUNS=10000 npx vitest run test/hardening/fuzz.test.ts`. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 2_000);
const SEED = Number(process.env["FUZZ_SEED"] ?? 20260315);
const OPERATIONS = API.operations;
const DOCUMENT = buildOpenApiDocument(API, "test");
const VALIDATOR = new AnswerValidator(DOCUMENT);
const S = "/_control/sandboxes/default";

let api: Api;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
beforeAll(async () => {
  api = await startReference();
});
afterAll(async () => {
  agent.destroy();
  await api.close();
});

/** Makes a world in which every operation can succeed, and saves it as a snapshot. */
async function prepare(): Promise<Prepared> {
  for (const id of ["org_acme", "org_globex", "org_initech"])
    await api.call(undefined, "PATCH", `${S}/state/organizations/${id}`, {
      plan: "enterprise",
      rate_limit: 10 * RUNS,
    });
  await api.call(undefined, "PATCH", S, { settings: { preview: "on" } });
  const createUpload = async (filename: string, file_size: number) => {
    const announced = { filename, file_size, mime_type: "text/plain" };
    const { body } = await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload-url", announced);
    return body as { upload_url: string; gcs_path: string };
  };
  const open = await createUpload("open.txt", 12);
  const ready = await createUpload("ready.txt", 5);
  const { pathname, search } = new URL(ready.upload_url);
  await api.call(undefined, "PUT", pathname + search, "hello", { "content-type": "text/plain" });
  const token = await api.call("dan", "POST", "/v1/auth/token");
  await api.call(undefined, "POST", `${S}/snapshots`, { name: "prepared" });
  return {
    upload_id: new URL(open.upload_url).searchParams.get("upload_id")!,
    gcs_path: ready.gcs_path,
    refresh_token: token.body.refresh_token,
  };
}

const restore = () => api.call(undefined, "POST", `${S}/snapshots/prepared/restore`);

function send({ method, target, headers, body }: FuzzedRequest): Promise<CheckedAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url);
    const length = body ? { "content-length": String(body.length) } : {};
    const sending = request(
      { agent, hostname, port, method, path: target, headers: { ...length, ...headers } },
      (response) => void collect(response).then(resolve, reject),
    );
    sending.on("error", reject);
    sending.end(body);
  });
}

async function collect(response: IncomingMessage): Promise<CheckedAnswer> {
  const chunks: Buffer[] = [];
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value));
  for await (const chunk of response) {
    chunks.push(chunk);
    // The stream of a running session has no end, so its first part is enough.
    if (headers.get("content-type")?.startsWith("text/event-stream")) break;
  }
  return { status: response.statusCode!, headers, text: Buffer.concat(chunks).toString() };
}

/** The operation that handles this request according to the document; undefined if none does. */
function findOperation({ method, target }: FuzzedRequest): AnyOperation | undefined {
  const path = target.split("?")[0]!;
  const fits = OPERATIONS.filter(
    (operation) =>
      operation.method === method &&
      new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
  // A literal segment takes precedence over a parameter.
  return fits.sort((one, other) => one.path.split("{").length - other.path.split("{").length)[0];
}

function findProblems(sent: FuzzedRequest, answer: CheckedAnswer): string[] {
  if (answer.status >= 500) return [`answered ${answer.status}: ${answer.text}`];
  const operation = findOperation(sent);
  // The server refused the request by its head, before it looked for an operation.
  if (answer.status === 417) return "expect" in sent.headers ? [] : ["417 without an Expect header"];
  if (answer.headers.get("x-sandbox-decision") !== "route") {
    return operation
      ? VALIDATOR.problems(operation, answer)
      : [`nothing should have answered: ${answer.status}`];
  }
  if (sent.method === "HEAD") return [404, 405].includes(answer.status) ? [] : [`HEAD gave ${answer.status}`];
  const { error } = JSON.parse(answer.text);
  const known = { 404: "RESOURCE_NOT_FOUND", 405: "METHOD_NOT_ALLOWED" }[answer.status];
  if (error.code !== known) return [`${answer.status} ${error.code} is not an answer of the router`];
  return [];
}

describe("requests generated from our own OpenAPI document [quality 2.3]", () => {
  it(`${RUNS} valid and broken requests get documented answers, and the server keeps running [G08, G09]`, async () => {
    const tally = new Map<number, number>();
    const prepared = await prepare();
    await fc.assert(
      fc.asyncProperty(generateRequests(DOCUMENT, OPERATIONS, prepared), async (sent) => {
        await restore();
        const answer = await send(sent);
        tally.set(answer.status, (tally.get(answer.status) ?? 0) + 1);
        const problems = findProblems(sent, answer);
        if (problems.length > 0) throw new Error(problems.join("\n"));
      }),
      // The report of fast-check has the seed and the path; FUZZ_SEED sets another seed.
      {
        numRuns: RUNS,
        seed: SEED,
        includeErrorInReport: true,
        endOnFailure: process.env["FUZZ_SHRINK"] === undefined,
      },
    );
    expect((await api.call(undefined, "GET", "/_control/health")).status).toBe(200);
    const good = [...tally].filter(([status]) => status < 400).reduce((sum, [, count]) => sum + count, 0);
    if (process.env["FUZZ_TALLY"]) process.stdout.write(`${JSON.stringify([...tally].sort())}\n`);
    // If the server refused nearly all requests, the test would prove little.
    expect(good / RUNS).toBeGreaterThan(0.15);
    expect(tally.size).toBeGreaterThan(8);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  }, 600_000);
});
