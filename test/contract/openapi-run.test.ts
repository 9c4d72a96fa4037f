import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getEnvelope, toCodeInB } from "../../src/engine/contract/envelopes.ts";
import { CATALOGUE, type ErrorCode } from "../../src/engine/contract/errors.ts";
import { type AnyOperation, listErrorCodes, listSuccesses } from "../../src/engine/contract/operation.ts";
import { findRefusal } from "../../src/engine/contract/refusals.ts";
import { API } from "../../src/engine/resources/index.ts";
import { buildOpenApiDocument } from "../../src/tools/reports/openapi.ts";
import { type Api, type ApiResponse, startReference } from "../support/harness.ts";
import { AnswerValidator } from "../support/openapi/answer-validator.ts";
import { FreshWorld, type Sent } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";
import { findRefusalRecipe, UNREACHABLE_REFUSALS } from "../support/openapi/refusals.ts";

/**
 * For all operations on the reference world: causes each documented success and error over HTTP and compares status,
 * body and headers with our own OpenAPI document.
 */
const OPERATIONS = API.operations;
const VALIDATOR = new AnswerValidator(buildOpenApiDocument(API, "test"));

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

function expectDocumented(operation: AnyOperation, answer: ApiResponse): void {
  expect(VALIDATOR.problems(operation, answer)).toEqual([]);
}

function expectCode(operation: AnyOperation, answer: ApiResponse, code: ErrorCode): void {
  const { status } = CATALOGUE[code];
  expect(answer.status, answer.text).toBe(status);
  const envelope = getEnvelope({ code, status }, operation.envelope ?? "A", "operation");
  if (envelope === "A") expect(answer.body.error.code).toBe(code);
  if (envelope === "B") expect(answer.body.error.code).toBe(toCodeInB(code, operation.spellings));
  if (envelope === "C") expect(answer.body.status_code).toBe(status);
  expectDocumented(operation, answer);
}

/**
 * Returns whether the error's details derive from the request, not from the caller or the clock. Faults apply before
 * a form is read, so they do not know its fields.
 */
function hasRequestDetails(operation: AnyOperation, code: ErrorCode): boolean {
  const { body, envelope = "A" } = operation;
  const sources = Object.values(findRefusal(operation, code).details);
  const own = sources.every(
    (source) => source === "organization" || source === "sent" || typeof source === "object",
  );
  return own && sources.length > 0 && envelope === "A" && body?.kind !== "multipart";
}

const TRANSPORT_CODES: readonly ErrorCode[] = [
  "INVALID_JSON",
  "INVALID_DIGEST",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
];

const isAnswer = (value: Sent | ApiResponse): value is ApiResponse => "status" in value;

it("every registered operation has a recipe for each documented success", () => {
  const missing = OPERATIONS.flatMap((operation) =>
    listSuccesses(operation)
      .filter(({ status }) => !RECIPES[operation.id]?.some((recipe) => recipe.status === status))
      .map(({ status }) => `${operation.id} ${status}`),
  );
  expect(missing).toEqual([]);
});

it("an error without the details that its operation declares is reported as undocumented [7.1, G27]", async () => {
  const operation = OPERATIONS.find(({ id }) => id === "share_links.revoke")!;
  const world = await FreshWorld.create(api);
  const valid = await RECIPES[operation.id]![0]!.request(world);
  const spoiled = await findRefusalRecipe(operation, "RESOURCE_NOT_FOUND")!({ world, operation, valid });
  const answer = await world.call(operation.path, operation.method, spoiled as Sent);
  expect(VALIDATOR.problems(operation, answer)).toEqual([]);
  const { error } = answer.body;
  for (const details of [{}, { dashboard_id: "dsh_other" }]) {
    const text = JSON.stringify({ success: false, error: { ...error, details } });
    expect(VALIDATOR.problems(operation, { ...answer, text })).not.toEqual([]);
  }
  await world.delete();
});

it("every recipe and every forced code belongs to a registered operation", () => {
  const known = new Set(OPERATIONS.map(({ id }) => id));
  expect(
    [...Object.keys(RECIPES), ...Object.keys(UNREACHABLE_REFUSALS)].filter((id) => !known.has(id)),
  ).toEqual([]);
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

  it.each(listErrorCodes(operation).filter((code) => findRefusalRecipe(operation, code)))(
    `${operation.section} ${id} answers %s as documented`,
    async (code) => {
      const world = await FreshWorld.create(api);
      const valid = await recipes[0]!.request(world);
      const spoiled = await findRefusalRecipe(operation, code)!({ world, operation, valid });
      const answer = isAnswer(spoiled)
        ? spoiled
        : await world.call(operation.path, operation.method, spoiled);
      expectCode(operation, answer, code);
      expect(answer.headers.get("x-sandbox-decision")).not.toMatch(/^fault:/);
      await world.delete();
    },
  );

  it.each(
    listErrorCodes(operation).filter(
      (code) => findRefusalRecipe(operation, code) && hasRequestDetails(operation, code),
    ),
  )(`${id} as a fault has the details of its real %s [interfaces 6]`, async (code) => {
    const world = await FreshWorld.create(api);
    const valid = await recipes[0]!.request(world);
    const spoiled = await findRefusalRecipe(operation, code)!({ world, operation, valid });
    if (isAnswer(spoiled)) throw new Error("a request was expected");
    const real = await world.call(operation.path, operation.method, spoiled);
    const headers = { ...spoiled.headers, "x-sandbox-fault": code };
    const fault = await world.call(operation.path, operation.method, { ...spoiled, headers });
    expect(fault.headers.get("x-sandbox-decision")).toBe(`fault:header/${code}`);
    const likeliest = Object.keys(findRefusal(operation, code).details);
    expect(Object.keys(fault.body.error.details)).toEqual(likeliest);
    // The code may have another reason, such as an unknown parent instead of an unknown department.
    if (likeliest.every((name) => name in real.body.error.details))
      expect(fault.body.error.details).toEqual(real.body.error.details);
    await world.delete();
  });

  // The limit of all uploads of a sandbox belongs to the server; faults do not know it.
  const refusedForBody = TRANSPORT_CODES.filter(
    (code) =>
      listErrorCodes(operation).includes(code) &&
      findRefusalRecipe(operation, code) &&
      `${id} ${code}` !== "uploads.put PAYLOAD_TOO_LARGE",
  );
  it.each(refusedForBody)(
    `${id} as a fault has the details of its real %s [interfaces 6, G09]`,
    async (code) => {
      const world = await FreshWorld.create(api);
      const valid = await recipes[0]!.request(world);
      const spoiled = await findRefusalRecipe(operation, code)!({ world, operation, valid });
      const real = isAnswer(spoiled) ? spoiled : await world.call(operation.path, operation.method, spoiled);
      const sent = isAnswer(spoiled) ? valid : spoiled;
      const headers = { ...sent.headers, "x-sandbox-fault": code };
      const fault = await world.call(operation.path, operation.method, { ...sent, headers });
      expectCode(operation, fault, code);
      // A fault does not know the content of a form.
      const { value: _sent, ...details } = real.body.error.details;
      expect(Object.keys(fault.body.error.details)).toEqual(Object.keys(real.body.error.details));
      expect(fault.body.error.details).toMatchObject(details);
      await world.delete();
    },
  );

  const forced = Object.keys(UNREACHABLE_REFUSALS[id] ?? {}) as ErrorCode[];
  it.each(forced)(`${operation.section} ${id} answers %s when a fault asks for it`, async (code) => {
    const world = await FreshWorld.create(api);
    const valid = await recipes[0]!.request(world);
    const headers = { ...valid.headers, "x-sandbox-fault": code };
    const answer = await world.call(operation.path, operation.method, { ...valid, headers });
    expectCode(operation, answer, code);
    expect(answer.headers.get("x-sandbox-decision")).toBe(`fault:header/${code}`);
    await world.delete();
  });
});
