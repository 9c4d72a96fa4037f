import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getEnvelope, toCodeInB } from "../../src/engine/contract/envelopes.ts";
import { CATALOGUE, type ErrorCode } from "../../src/engine/contract/errors.ts";
import { type AnyOperation, listErrorCodes } from "../../src/engine/contract/operation.ts";
import { API } from "../../src/engine/resources/index.ts";
import { buildOpenApiDocument } from "../../src/tools/reports/openapi.ts";
import { type Api, type ApiResponse, startReference } from "../support/harness.ts";
import { AnswerValidator } from "../support/openapi/answer-validator.ts";

/**
 * Tests generated from the declarations: what all operations have in common. Responses are validated against our own
 * OpenAPI document.
 */
const OPERATIONS = API.operations;
// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON
const DOCUMENT = buildOpenApiDocument(API, "test") as any;
const VALIDATOR = new AnswerValidator(DOCUMENT);

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

/** A path whose parameters are well-formed, or all malformed. */
function toPath(operation: AnyOperation, malformed = false): string {
  const properties = (operation.params?.properties ?? {}) as Record<string, { examples?: string[] }>;
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    malformed ? "!!" : (properties[name]?.examples?.[0] ?? "example"),
  );
}

function expectError(operation: AnyOperation, answer: ApiResponse, code: ErrorCode): void {
  const { status } = CATALOGUE[code];
  expect(answer.status, answer.text).toBe(status);
  expect(listErrorCodes(operation)).toContain(code);
  expect(VALIDATOR.problems(operation, answer)).toEqual([]);
  const envelope = getEnvelope({ code, status }, operation.envelope ?? "A", "operation");
  if (envelope === "A") expect(answer.body.error.code).toBe(code);
  if (envelope === "B") expect(answer.body.error.code).toBe(toCodeInB(code, operation.spellings));
  if (envelope === "C") expect(answer.body.status_code).toBe(status);
}

describe.each(OPERATIONS.map((operation) => [operation.id, operation] as const))("%s", (_id, operation) => {
  it(`${operation.section} ${operation.id} is documented in the OpenAPI document`, () => {
    const documented = DOCUMENT.paths[operation.path][operation.method.toLowerCase()];
    expect(documented.operationId).toBe(operation.id);
    const shared = DOCUMENT.components.responses as Record<string, { "x-error-codes"?: string[] }>;
    const codes = Object.values(documented.responses as Record<string, { $ref?: string }>).flatMap(
      ({ $ref }) => shared[$ref?.split("/").at(-1) ?? ""]?.["x-error-codes"] ?? [],
    );
    expect(codes).toEqual(expect.arrayContaining([...listErrorCodes(operation)]));
  });

  if (operation.credentials !== false) {
    it(`${operation.section} ${operation.id} answers 401 without credentials`, async () => {
      const answer = await api.call(undefined, operation.method, toPath(operation));
      expectError(operation, answer, "AUTHENTICATION_REQUIRED");
      expect(answer.headers.get("x-sandbox-decision")).toBe("auth");
    });

    it.each(["finn", "gus", "expired", "revoked"] as const)(
      `${operation.section} ${operation.id} answers 401 to a credential that no longer counts (%s)`,
      async (who) => {
        expectError(
          operation,
          await api.call(who, operation.method, toPath(operation)),
          "AUTHENTICATION_REQUIRED",
        );
      },
    );
  }

  it.each(listErrorCodes(operation))(
    `${operation.section} ${operation.id} answers %s in its envelope when a fault asks for it`,
    async (code) => {
      const who = operation.credentials === false ? undefined : "ivan";
      const answer = await api.call(who, operation.method, toPath(operation), undefined, {
        "x-sandbox-fault": code,
      });
      expectError(operation, answer, code);
      expect(answer.headers.get("x-sandbox-decision")).toBe(`fault:header/${code}`);
    },
  );

  it(`${operation.id} refuses to be asked for a code that it never answers [interfaces 3]`, async () => {
    const never = (Object.keys(CATALOGUE) as ErrorCode[]).find(
      (code) => code !== "INTERNAL_ERROR" && !listErrorCodes(operation).includes(code),
    )!;
    const answer = await api.call("ivan", operation.method, toPath(operation), undefined, {
      "x-sandbox-fault": never,
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
  });

  if (operation.body?.kind === "json") {
    const who = operation.credentials === false ? undefined : "ivan";
    it(`${operation.id} answers 400 to a body that is not JSON [G09]`, async () => {
      const answer = await api.call(who, operation.method, toPath(operation), '{"broken', {
        "content-type": "application/json",
      });
      expectError(operation, answer, "INVALID_JSON");
    });

    it(`${operation.id} answers 415 to another content type [G09]`, async () => {
      const answer = await api.call(who, operation.method, toPath(operation), "a=1", {
        "content-type": "text/plain",
      });
      expectError(operation, answer, "UNSUPPORTED_MEDIA_TYPE");
    });

    it(`${operation.id} answers 422 to a body that is not an object [G08]`, async () => {
      const answer = await api.call(who, operation.method, toPath(operation), "[]", {
        "content-type": "application/json",
      });
      expectError(operation, answer, "INVALID_INPUT");
    });
  }

  const patterned = Object.values(
    (operation.params?.properties ?? {}) as Record<string, { pattern?: string }>,
  ).some(({ pattern }) => pattern !== undefined);
  if (patterned && operation.credentials !== false && operation.body?.kind !== "multipart") {
    it(`${operation.id} answers 422 to a malformed identifier [G08]`, async () => {
      const body = operation.body ? {} : undefined;
      const answer = await api.call("ivan", operation.method, toPath(operation, true), body);
      expectError(operation, answer, "INVALID_INPUT");
      if ((operation.envelope ?? "A") === "A") expect(answer.body.error.details.value).toBe("!!");
    });
  }

  it(`${operation.id} answers 405 with Allow to a method its path does not know [G04]`, async () => {
    const method = ["DELETE", "PATCH", "PUT", "GET"].find(
      (candidate) => DOCUMENT.paths[operation.path][candidate.toLowerCase()] === undefined,
    )!;
    const answer = await api.call("ivan", method, toPath(operation));
    // Another route with a literal segment may support this method on the same path.
    if (answer.status === 405) {
      expect(answer.headers.get("allow")?.split(", ")).toContain(operation.method);
      expect(answer.body.error.code).toBe("METHOD_NOT_ALLOWED");
      expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
    } else expect(OPERATIONS.some((other) => other !== operation && other.method === method)).toBe(true);
  });
});
