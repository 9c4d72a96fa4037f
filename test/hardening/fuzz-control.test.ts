import fc from "fast-check";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { listSuccesses } from "../../src/engine/contract/operation.ts";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { breakValue, HOSTILE_TEXTS, hostileJson } from "../support/fuzz/values.ts";
import { type Api, type ApiResponse, EPOCH, startReference } from "../support/harness.ts";
import { FreshWorld, type Sent } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";

/**
 * `FUZZ_RUNS=10000 FUZZ_SEED=7 npx vitest run test/hardening/fuzz-control.test.ts` runs more calls, or another
 * sequence.
 */
const RUNS = Math.ceil(Number(process.env["FUZZ_RUNS"] ?? 2_000) / 8);
const SEED = Number(process.env["FUZZ_SEED"] ?? 20260315);
const COLLECTIONS = RESOURCES.flatMap(({ collections }) => collections)
  .filter(({ internal }) => internal !== true)
  .map(({ name }) => name);
/** Streams are left out: they never end. The tests of their sources cover them. */
const OPERATIONS = CONTROL_OPERATIONS.filter(
  (operation) => listSuccesses(operation)[0]!.events === undefined,
);
/** GET requests as plain data, which show whether the API can read a world that state calls made. */
const READS = RESOURCES.flatMap(({ operations }) => operations).flatMap((operation) =>
  RECIPES[operation.id]!.filter(({ request }) => request.length === 0).map((recipe) => ({
    operation,
    recipe,
  })),
);

let api: Api;
let logged = "";
beforeAll(async () => {
  const write = (line: string) => {
    logged += line;
  };
  api = await startReference({ log: pino({ level: "error" }, { write }) });
});
afterAll(() => api.close());

interface GeneratedRequest {
  method: string;
  path: string;
  query: string;
  body: string | undefined;
  type: string;
}

const KNOWN_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  collection: COLLECTIONS,
  snap: ["kept", "now"],
  a: ["kept", "now"],
  b: ["kept", "now"],
};
const IDS = [
  "org_acme",
  "usr_dan",
  "dept_eng",
  "dept_acme",
  "wh_ops",
  "mbsess_live",
  "thread_ada",
  "file_loose",
];

/** Valid bodies for each call. The test changes one place of them. */
const BODIES: readonly [RegExp, readonly unknown[]][] = [
  [/clock$/, [{ mode: "frozen", now: EPOCH }, { mode: "scaled", rate: 60 }, { mode: "real" }]],
  [/advance$/, [{ by: "90s" }, { by: 1000 }, { to: "2026-03-16T00:00:00Z" }, { next: true }]],
  [
    /sandboxes$/,
    [{ name: "made", seed: 3, clock: { mode: "frozen", now: EPOCH }, settings: { preview: "on" } }],
  ],
  [/fork$/, [{ name: "forked" }]],
  [/rewind$/, [{ to: "before" }, { to: "after" }]],
  [/repeat$/, [{}, { with: { effect: { error: "RESOURCE_NOT_FOUND" } } }]],
  [
    /reset$/,
    [{ fixture: "reference", seed: 4 }, { fixture: { epoch: EPOCH, organizations: [{ id: "org_a" }] } }],
  ],
  [/snapshots$/, [{ name: "other" }]],
  [
    /events$/,
    [{ event: "user.created", for: "usr_dan", data: { email: "a@b.test" } }, { event: "invoice.paid" }],
  ],
  [/receivers$/, [{ answers: [200, { status: 500, delay: "1ms" }, "hang"], secret: "whsec_1" }]],
  [/verify$/, [{ match: { operation: "threads.delete", path: "/v1/*" }, count: { min: 0, max: 2 } }]],
  [/active$/, [{ names: [] }]],
  [/faults$/, [{ match: { operation: "threads.*" }, effect: { error: "RESOURCE_NOT_FOUND" }, times: 2 }]],
  [/\/default$|world-\d+$/, [{ settings: { preview: "on", json_limit_mb: 5 } }]],
];

function generateRequest(
  records: Readonly<Record<string, unknown>>,
  sandbox: string,
): fc.Arbitrary<GeneratedRequest> {
  return fc.constantFrom(...OPERATIONS).chain(({ method, path }) => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
    const parameters = fc.record(
      Object.fromEntries(
        names.map((name) => [name, name === "name" ? fc.constant(sandbox) : makeParameter(name)]),
      ),
    );
    return parameters.chain((given) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name]!);
      return fc.record({
        method: fc.constant(method as string),
        path: fc.constant(filled),
        query: fc.constantFrom(
          "",
          "",
          "limit=2&offset=1",
          "limit=-1",
          "silent=true&actor=usr_ben",
          "since=x",
          "a=%ff",
        ),
        body:
          method === "GET"
            ? fc.constant(undefined)
            : generateBody(filled, records[given["collection"] ?? ""]),
        type: fc.constantFrom(...Array.from({ length: 9 }, () => "application/json"), "text/plain"),
      });
    });
  });
}

function makeParameter(name: string): fc.Arbitrary<string> {
  const known = KNOWN_PARAMETERS[name] ?? IDS;
  const hostile = fc
    .constantFrom(...HOSTILE_TEXTS)
    .map((text) => encodeURIComponent(Buffer.from(text).toString()));
  return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, hostile);
}

function generateBody(path: string, record: unknown): fc.Arbitrary<string> {
  const samples = BODIES.find(([pattern]) => pattern.test(path))?.[1] ?? [record ?? {}];
  const good = fc.constantFrom(...samples);
  return fc
    .oneof(
      { weight: 3, arbitrary: good },
      { weight: 6, arbitrary: good.chain(breakValue) },
      { weight: 1, arbitrary: hostileJson },
    )
    .map((value) => JSON.stringify(value) ?? "null");
}

/** A record of each collection without its id, as a sample of a valid record. */
async function sampleRecords(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const name of COLLECTIONS) {
    const { body } = await api.call(undefined, "GET", `/_control/sandboxes/default/state/${name}?limit=1`);
    const { id: _id, key: _key, ...record } = body.items[0] ?? {};
    found[name] = record;
  }
  return found;
}

function findProblems({ status, headers, text }: ApiResponse): string[] {
  if (status >= 500) return [`answered ${status}: ${text}\n${logged.slice(-3_000)}`];
  const type = headers.get("content-type");
  if (status >= 400 && type !== "application/problem+json") return [`${status} came as ${type}: ${text}`];
  return [];
}

describe("the control API [interfaces 4]", () => {
  it(`answers ${RUNS} valid and broken calls without a 500, with problems as problem+json, and stays usable [interfaces 4]`, async () => {
    const records = await sampleRecords();
    const tally = new Map<number, number>();
    const look = fc.constantFrom(...READS);
    await fc.assert(
      fc.asyncProperty(
        fc.array(generateRequest(records, "SANDBOX"), { minLength: 1, maxLength: 4 }),
        look,
        async (calls, seen) => {
          const world = await FreshWorld.create(api);
          await world.control("POST", "/snapshots", { name: "kept" });
          for (const { method, path, query, body, type } of calls) {
            const target = path.replace("SANDBOX", world.name) + (query ? `?${query}` : "");
            const answer = await api.call(
              undefined,
              method,
              target,
              body,
              body ? { "content-type": type } : {},
            );
            tally.set(answer.status, (tally.get(answer.status) ?? 0) + 1);
            const problems = findProblems(answer);
            if (problems.length > 0) throw new Error(problems.join("\n"));
          }
          const sent = (await seen.recipe.request(world)) as Sent;
          const { status, text } = await world.call(seen.operation.path, seen.operation.method, sent);
          if (status >= 500)
            throw new Error(`${seen.operation.id} then answers ${text}\n${logged.slice(-3_000)}`);
          for (const name of [world.name, "made", "forked"])
            await api.call(undefined, "DELETE", `/_control/sandboxes/${name}`);
        },
      ),
      {
        numRuns: RUNS,
        seed: SEED,
        includeErrorInReport: true,
        endOnFailure: process.env["FUZZ_SHRINK"] === undefined,
      },
    );
    expect((await api.call(undefined, "GET", "/_control/health")).status).toBe(200);
    expect([...tally.keys()]).toEqual(expect.arrayContaining([200, 201, 204, 404, 422]));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  }, 600_000);
});
