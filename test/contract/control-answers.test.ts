import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { createControl } from "../../src/control/handle-control.ts";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { Problem } from "../../src/control/problem.ts";
import { ApiError } from "../../src/engine/contract/errors.ts";
import type { AnyDeclaration } from "../../src/engine/contract/operation.ts";
import type { ProblemKind } from "../../src/engine/contract/problems.ts";
import { noContent, RawBody, Reply, StreamBody } from "../../src/engine/contract/reply.ts";
import { ClosedObject } from "../../src/engine/contract/schema.ts";
import {
  checkAnswer,
  checkRefusal,
  checkRefusals,
  UndeclaredAnswer,
} from "../support/openapi/control-answers.ts";

const Body = ClosedObject({ name: Type.String() });
const declare = (more: Partial<AnyDeclaration>): AnyDeclaration => ({
  id: "things.show",
  section: "interfaces 4",
  method: "GET",
  path: "/_control/things/{kind}",
  summary: "Show a thing",
  errors: ["unknown-record"],
  success: { status: 200, schema: Body },
  ...more,
});
const check = (value: unknown, more: Partial<AnyDeclaration> = {}) =>
  checkAnswer(declare(more), { kind: "round" }, value);

describe("an answer of the control API is checked against its declaration", () => {
  it("passes if it fits [interfaces 11]", () => {
    expect(check({ name: "a" })).toEqual({ name: "a" });
    // JSON has no undefined, so the field is absent.
    expect(() => check({ name: "a", note: undefined })).not.toThrow();
    expect(() => check(noContent(), { success: { status: 204 } })).not.toThrow();
    const page = new RawBody("text/html; charset=utf-8", "<p>");
    expect(() => check(page, { success: { status: 200, content_types: ["text/html"] } })).not.toThrow();
  });

  it.each<[string, unknown, Partial<AnyDeclaration>]>([
    ["a field that is not declared", { name: "a", size: 1 }, {}],
    ["a field that is missing", {}, {}],
    ["a field of another type", { name: 1 }, {}],
    ["no body where there is one", undefined, {}],
    ["a body where there is none", {}, { success: { status: 200 } }],
    ["a status that is not declared", new Reply(201, { name: "a" }), {}],
    ["bytes of a type that is not declared", new RawBody("text/css", "a {}"), {}],
    [
      "the fields of another kind",
      { name: "a" },
      {
        success: {
          status: 200,
          schema: Body,
          variants: { parameter: "kind", schemas: { round: ClosedObject({}) } },
        },
      },
    ],
  ])("is a defect if it has %s [interfaces 11]", (_what, value, more) => {
    expect(() => check(value, more)).toThrow(UndeclaredAnswer);
  });

  it("is checked event by event if it is a stream [interfaces 11]", async () => {
    const success = { status: 200, content_types: ["text/event-stream"], events: Body };
    const stream = (data: object) =>
      new StreamBody("text/event-stream", () => [": hello\n\n", `id: 1\ndata: ${JSON.stringify(data)}\n\n`]);
    const readChunks = async (data: object) => {
      const { body } = check(stream(data), { success }) as Reply<StreamBody>;
      const chunks: string[] = [];
      for await (const chunk of body.chunks(new AbortController().signal)) chunks.push(String(chunk));
      return chunks;
    };
    expect(await readChunks({ name: "a" })).toHaveLength(2);
    await expect(readChunks({ nme: "a" })).rejects.toThrow(UndeclaredAnswer);
  });

  it("is a defect if it is a refusal that is not declared [interfaces 11]", () => {
    const checkError = (error: unknown) => checkRefusal(declare({}), error);
    expect(checkError(new Problem("unknown-record", { detail: "There is none." }))).toBeUndefined();
    expect(checkError(new ApiError("INVALID_INPUT", { details: { field: "a", value: 1 } }))).toBeUndefined();
    expect(checkError(new Problem("name-in-use", { detail: "It is taken." }))).toBeInstanceOf(
      UndeclaredAnswer,
    );
    const odd = new Problem("unknown-record", { detail: "There is none.", extension: { size: 1 } as object });
    expect(checkError(odd)).toBeInstanceOf(UndeclaredAnswer);
    // Other errors are a 500 already.
    expect(checkError(new TypeError("oh"))).toBeUndefined();
  });

  it("is a defect also if a step before the handler refuses that way [interfaces 11]", async () => {
    const refuse = (kind: ProblemKind) => () => {
      throw new Problem(kind, { detail: "It is refused." });
    };
    const steps = [
      { name: "sandbox", run: refuse("unknown-sandbox") },
      { name: "body", run: async () => refuse("payload-too-large")() },
      { name: "query", run: refuse("invalid-input") },
    ];
    checkRefusals(steps);
    const [sandbox, body, query] = steps.map(({ run }) => run as (exchange: object) => void | Promise<void>);
    const exchange = { operation: declare({}) };
    expect(() => sandbox!(exchange)).toThrow(UndeclaredAnswer);
    await expect(body!(exchange)).rejects.toThrow(UndeclaredAnswer);
    expect(() => query!(exchange)).toThrow(Problem);
    // No operation has this path.
    expect(() => sandbox!({ operation: undefined })).toThrow(Problem);
  });

  it("is a defect in every server of a test, if the step that reads the query refuses that way [interfaces 11]", async () => {
    const fleet = CONTROL_OPERATIONS.find(({ id }) => id === "server.fleet")!;
    const { query } = fleet;
    const call = { method: "GET", target: "/_control/fleet?limit=x", headers: {}, body: [] } as never;
    const control = createControl({} as never);
    await expect(control(call)).rejects.toThrow(Problem);
    try {
      // The step that reads the query refuses with a problem that the operation does not declare.
      Object.defineProperty(fleet, "query", {
        get: () => {
          throw new Problem("name-in-use", { detail: "It is taken." });
        },
        configurable: true,
      });
      await expect(control(call)).rejects.toThrow(UndeclaredAnswer);
    } finally {
      Object.defineProperty(fleet, "query", { value: query, writable: true, configurable: true });
    }
  });
});
