import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, KEYS, startReference } from "../support/harness.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const ORIGIN = "http://localhost:5173";

/** The value of a header in an answer to which a rule adds headers. */
async function readHeader(effect: Record<string, unknown>, name: string): Promise<string | null> {
  await api.call(undefined, "POST", "/_control/sandboxes/default/faults", {
    match: { operation: "models.list" },
    times: 1,
    effect,
  });
  const headers = { "api-key": KEYS.ada, origin: ORIGIN };
  return (await fetch(`${api.url}/v1/models`, { headers })).headers.get(name);
}

const SINGLE = [
  "X-RateLimit-Remaining",
  "x-ratelimit-reset",
  "x-request-id",
  "service-api-version",
  "Service-Organization",
  "Access-Control-Allow-Origin",
  "Retry-After",
  "Content-Type",
];

describe("a header of a rule", () => {
  it.each(SINGLE)("replaces the answer's own %s", async (name) => {
    for (const answer of [{ error: "RATE_LIMIT_EXCEEDED" }, { status: 503 }, { status: 200, body: {} }])
      expect(await readHeader({ ...answer, headers: { [name]: "7" } }, name), JSON.stringify(answer)).toBe(
        "7",
      );
  });

  it("adds to Vary, and does not hide the decision", async () => {
    const body = {};
    expect(await readHeader({ body, headers: { Vary: "Accept" } }, "vary")).toBe("Origin, Accept");
    const decision = await readHeader(
      { body, headers: { "x-sandbox-decision": "ok" } },
      "x-sandbox-decision",
    );
    expect(decision).toContain("fault:inline/");
  });
});
