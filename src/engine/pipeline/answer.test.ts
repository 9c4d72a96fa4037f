import { describe, expect, it } from "vitest";
import type { AnyDeclaration } from "../contract/operation.ts";
import { RawBody, Reply, StreamBody } from "../contract/reply.ts";
import { toAnswer } from "./answer.ts";

const operation = { success: { status: 200 } } as AnyDeclaration;

describe("the answer of a handler", () => {
  it.each([
    ["no body", undefined],
    ["JSON", { a: 1 }],
    ["bytes as they are", new RawBody("text/csv", "a,b")],
    ["a stream", new StreamBody("text/csv", () => ["a,b"])],
  ])("keeps status, headers and decision with %s", (_name, body) => {
    const reply = new Reply(202, body, { "X-A": "1" }, "example");
    expect(toAnswer(operation, reply)).toMatchObject({
      status: 202,
      headers: { "X-A": "1" },
      decision: "example",
    });
  });
});
