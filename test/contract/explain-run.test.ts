import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { listErrorCodes } from "../../src/engine/contract/operation.ts";
import { API } from "../../src/engine/resources/index.ts";
import { type Api, type ApiResponse, KEYS, startReference } from "../support/harness.ts";
import { FreshWorld, type Sent } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";
import { findRefusalRecipe } from "../support/openapi/refusals.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/**
 * For all successes and refusals of all operations: `explain` predicts what the real request then gets, and changes
 * nothing.
 */
let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

/** `explain` accepts JSON bodies only. */
const canBeExplained = (sent: Sent | ApiResponse): sent is Sent =>
  !("status" in sent) &&
  typeof sent.body !== "string" &&
  !(sent.body instanceof FormData) &&
  !(sent.body instanceof Uint8Array) &&
  // Without a JSON body, a content type would not be compared.
  sent.headers?.["content-type"] === undefined;

function toExplainBody(id: string, path: string, { who, params, query, body, headers = {} }: Sent): object {
  const own = who === undefined ? headers : { "api-key": KEYS[who], ...headers };
  const all = path.includes("{") ? { params } : {};
  return { operation: id, ...all, headers: own, query: Object.fromEntries(new URLSearchParams(query)), body };
}

/** Reads everything of a sandbox that a client can see. */
async function readSandbox(world: FreshWorld): Promise<string> {
  const looks = ["", "/journal", "/history", "/state", "/clock/pending", "/faults", "/coverage", "/outbox"];
  const answers = await Promise.all(looks.map((path) => world.control("GET", path)));
  return answers.map(({ text }) => text).join("\n");
}

async function compare(
  { id, path, method, prepare }: (typeof API.operations)[number],
  world: FreshWorld,
  sent: Sent,
) {
  const before = await readSandbox(world);
  const { body: explanation } = await world.control("POST", "/faults/explain", toExplainBody(id, path, sent));
  expect(await readSandbox(world)).toBe(before);
  const real = await world.call(path, method, sent);
  const { body: journal } = await world.control("GET", "/journal?limit=1");
  const [entry] = journal.entries;
  expect(explanation.operation).toBe(id);
  // `explain` does not predict what an operation does with its input.
  if (prepare !== undefined && explanation.decision === null) {
    expect(explanation.steps.find(({ outcome }: { outcome: string }) => outcome === "skipped").step).toBe(
      "rule",
    );
    return;
  }
  expect([explanation.decision, explanation.status, explanation.code, explanation.principal]).toEqual([
    real.headers.get("x-sandbox-decision"),
    real.status,
    entry.code,
    entry.principal,
  ]);
  if (entry.code === null) return;
  const decides = explanation.steps.filter(({ outcome }: { outcome: string }) => outcome === "decides");
  expect(decides).toEqual([{ step: explanation.decision, outcome: "decides", says: entry.reasons.at(-1) }]);
}

describe.each(API.operations.map((operation) => [operation.id, operation] as const))(
  "%s",
  (id, operation) => {
    it(`explain predicts what ${id} answers when it succeeds [interfaces 11]`, async () => {
      let asked = 0;
      for (const recipe of RECIPES[id]!) {
        const world = await FreshWorld.create(api);
        const sent = await recipe.request(world);
        if (canBeExplained(sent) && operation.body?.kind !== "multipart") {
          await compare(operation, world, sent);
          asked += 1;
        }
        await world.delete();
      }
      // All operations with JSON bodies can be explained; those with bytes cannot.
      expect(asked > 0 || operation.body?.kind === "multipart" || operation.body?.kind === "stream").toBe(
        true,
      );
      if (asked > 0 || operation.body?.kind !== "multipart") return;
      const world = await FreshWorld.create(api);
      const params = Object.fromEntries(
        [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, "org_acme"]),
      );
      const { body } = await world.control("POST", "/faults/explain", {
        operation: id,
        params,
        principal: "usr_ada",
      });
      expect([body.decision, body.steps[4].outcome]).toEqual([null, "skipped"]);
      await world.delete();
    });

    const codes = listErrorCodes(operation).filter((code) => findRefusalRecipe(operation, code));
    it.each(codes)(`explain predicts %s of ${id} [interfaces 11]`, async (code) => {
      const world = await FreshWorld.create(api);
      const valid = await RECIPES[id]![0]!.request(world);
      const spoiled = await findRefusalRecipe(operation, code)!({ world, operation, valid });
      if (canBeExplained(spoiled)) await compare(operation, world, spoiled);
      else expect(operation.body ?? operation.prepare, "only bytes cannot be asked about").toBeDefined();
      await world.delete();
    });
  },
);
