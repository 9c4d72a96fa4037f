import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeInB, envelopeFor } from "../../src/contract/envelopes.ts";
import { CATALOGUE, type ErrorCode } from "../../src/contract/errors.ts";
import { type AnyOperation, errorCodesOf, successesOf } from "../../src/contract/operation.ts";
import { openApiDocument } from "../../src/reports/openapi.ts";
import { RESOURCES } from "../../src/resources/index.ts";
import { type Answered, type Api, startReference } from "../support/harness.ts";
import { FreshWorld, type Sent } from "../support/openapi/fresh-world.ts";
import { Judge } from "../support/openapi/judge.ts";
import { RECIPES } from "../support/openapi/recipes.ts";
import { FORCED, refusalFor } from "../support/openapi/refusals.ts";

/**
 * Every registered operation on the reference world: each documented success and each documented error code
 * is reached over HTTP and compared with our own OpenAPI document, in status, body and headers.
 */
const OPERATIONS = RESOURCES.flatMap(({ operations }) => operations);
const JUDGE = new Judge(openApiDocument(OPERATIONS, "test"));

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

function expectDocumented(operation: AnyOperation, answer: Answered): void {
  expect(JUDGE.problems(operation, answer)).toEqual([]);
}

function expectCode(operation: AnyOperation, answer: Answered, code: ErrorCode): void {
  const { status } = CATALOGUE[code];
  expect(answer.status, answer.text).toBe(status);
  const envelope = envelopeFor({ code, status }, operation.envelope ?? "A", "operation");
  if (envelope === "A") expect(answer.body.error.code).toBe(code);
  if (envelope === "B") expect(answer.body.error.code).toBe(codeInB(code, operation.spellings));
  if (envelope === "C") expect(answer.body.status_code).toBe(status);
  expectDocumented(operation, answer);
}

const isAnswer = (value: Sent | Answered): value is Answered => "status" in value;

it("every registered operation has a recipe for each documented success", () => {
  const missing = OPERATIONS.flatMap((operation) =>
    successesOf(operation)
      .filter(({ status }) => !RECIPES[operation.id]?.some((recipe) => recipe.status === status))
      .map(({ status }) => `${operation.id} ${status}`),
  );
  expect(missing).toEqual([]);
});

it("every recipe and every forced code belongs to a registered operation", () => {
  const known = new Set(OPERATIONS.map(({ id }) => id));
  expect([...Object.keys(RECIPES), ...Object.keys(FORCED)].filter((id) => !known.has(id))).toEqual([]);
});

describe.each(OPERATIONS.map((operation) => [operation.id, operation] as const))("%s", (id, operation) => {
  const recipes = RECIPES[id] ?? [];

  it.each(recipes.map((recipe) => [recipe.status, recipe.name ?? "", recipe] as const))(
    `${operation.section} ${id} reaches %i as documented %s`,
    async (status, _name, recipe) => {
      const world = await FreshWorld.create(api);
      const answer = await world.call(operation.path, operation.method, await recipe.request(world));
      expect(answer.status, answer.text).toBe(status);
      expect(answer.headers.get("x-sandbox-decision")).toBe("ok");
      expectDocumented(operation, answer);
      await world.delete();
    },
  );

  it.each(errorCodesOf(operation).filter((code) => refusalFor(operation, code)))(
    `${operation.section} ${id} is really brought to answer %s`,
    async (code) => {
      const world = await FreshWorld.create(api);
      const good = await recipes[0]!.request(world);
      const spoiled = await refusalFor(operation, code)!({ world, operation, good });
      const answer = isAnswer(spoiled)
        ? spoiled
        : await world.call(operation.path, operation.method, spoiled);
      expectCode(operation, answer, code);
      expect(answer.headers.get("x-sandbox-decision")).not.toMatch(/^fault:/);
      await world.delete();
    },
  );

  const forced = Object.keys(FORCED[id] ?? {}) as ErrorCode[];
  it.each(forced)(`${operation.section} ${id} answers %s when a fault asks for it`, async (code) => {
    const world = await FreshWorld.create(api);
    const good = await recipes[0]!.request(world);
    const headers = { ...good.headers, "x-sandbox-fault": code };
    const answer = await world.call(operation.path, operation.method, { ...good, headers });
    expectCode(operation, answer, code);
    expect(answer.headers.get("x-sandbox-decision")).toBe(`fault:header/${code}`);
    await world.delete();
  });
});
