import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CoverageMatrix } from "../../src/tools/reports/coverage.ts";
import { arm, CONTROL } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

async function readMatrix(): Promise<CoverageMatrix> {
  return (await api.call(undefined, "GET", `${CONTROL}/coverage`)).body;
}

function listHits({ operations }: CoverageMatrix, id: string): Record<string, number> {
  const row = operations.find(({ operation }) => operation === id)!;
  return Object.fromEntries(
    row.outcomes
      .filter(({ hits }) => hits > 0)
      .map(({ status, code, hits }) => [`${status} ${code ?? ""}`.trim(), hits]),
  );
}

describe("coverage", () => {
  it("lists every operation with its documented outcomes, none seen at first [interfaces 4]", async () => {
    const empty = await readMatrix();
    expect(empty).toMatchObject({ percent: 0, covered: 0 });
    expect(empty.total).toBe(empty.operations.reduce((sum, { outcomes }) => sum + outcomes.length, 0));
    const reparent = empty.operations.find(({ operation }) => operation === "departments.reparent")!;
    expect(reparent.outcomes).toContainEqual({ status: 200, code: null, hits: 0 });
    expect(reparent.outcomes).toContainEqual({ status: 422, code: "DEPARTMENT_CYCLE_DETECTED", hits: 0 });
    expect(reparent.outcomes).toContainEqual({ status: 429, code: "RATE_LIMIT_EXCEEDED", hits: 0 });
  });

  it("counts real answers, refusals in any envelope, and faults [interfaces 4]", async () => {
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
    await api.call(undefined, "DELETE", "/v1/threads/thread_long");
    await arm(api, { times: 1, effect: { error: "RATE_LIMIT_EXCEEDED" } });
    await api.call("dan", "DELETE", "/v1/threads/thread_long");
    await arm(api, { times: 1, effect: { status: 503 } });
    await api.call("dan", "DELETE", "/v1/threads/thread_long");
    await arm(api, { times: 1, effect: { wire: "reset" } });
    await api.call("dan", "DELETE", "/v1/threads/thread_long").catch(() => {});
    const seen = await readMatrix();
    expect(listHits(seen, "threads.delete")).toEqual({
      "200": 1,
      "401 AUTHENTICATION_REQUIRED": 1,
      "404 RESOURCE_NOT_FOUND": 2,
      "429 RATE_LIMIT_EXCEEDED": 1,
    });
    const row = seen.operations.find(({ operation }) => operation === "threads.delete")!;
    expect(row.other).toEqual([
      { outcome: "HTTP_503", hits: 1 },
      { outcome: "0", hits: 1 },
    ]);
    expect(row.percent).toBe(Math.floor((4 / row.outcomes.length) * 1000) / 10);
    expect(seen.covered).toBe(4);
    expect(seen.percent).toBe(Math.floor((4 / seen.total) * 1000) / 10);
  });

  it("is separate for each sandbox, survives a reset, and can be cleared [interfaces 4]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "sb" });
    await api.call("dan", "DELETE", "/_s/sb/v1/threads/thread_none");
    expect((await readMatrix()).covered).toBe(0);
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await api.call(undefined, "POST", `${CONTROL}/reset`);
    expect((await readMatrix()).covered).toBe(1);
    expect((await api.call(undefined, "DELETE", `${CONTROL}/coverage`)).status).toBe(204);
    expect((await readMatrix()).covered).toBe(0);
  });

  it("is shown as a heat map that needs neither network nor scripts [interfaces 4]", async () => {
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    const answer = await api.call(undefined, "GET", `${CONTROL}/coverage.html`);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.text).toMatch(/^<!doctype html>/);
    expect(answer.text).not.toMatch(/<script|https?:\/\/|url\(|src=|<link/i);
    const rows = answer.text.match(/<tr><th scope="row".*<\/tr>/g)!;
    const { operations } = await readMatrix();
    expect(rows).toHaveLength(operations.length);
    const thread = rows.find((row) => row.includes("threads.delete"))!;
    expect(thread.match(/class="hit"/g)).toHaveLength(1);
    const documented = operations.find(({ operation }) => operation === "threads.delete")!.outcomes.length;
    expect(thread.match(/class="never"/g)).toHaveLength(documented - 1);
  });
});
