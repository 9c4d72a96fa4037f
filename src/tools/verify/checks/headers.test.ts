import { describe, expect, it } from "vitest";
import type { Exchange } from "../target.ts";
import { Verdict } from "../verdict.ts";
import { headerChecks } from "./headers.ts";

/** A successful answer with the headers of a rate limit. */
function answer(remaining: number): Exchange {
  return {
    status: 200,
    operation: { id: "models.list" },
    method: "GET",
    path: "/v1/models",
    headers: new Headers({
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-reset": "1",
    }),
    sent: { headers: new Headers({ "api-key": "ak_one" }) },
    authenticated: true,
  } as unknown as Exchange;
}

describe("the check of rate limit headers", () => {
  it("names the count that did not change, not a later one [8]", () => {
    const check = headerChecks.find(({ id }) => id === "headers/rate-limit")!;
    const verdict = new Verdict();
    const exchanges = [...Array.from({ length: 10 }, () => answer(59)), answer(7)];
    check.run({ target: { exchanges }, verdict } as never);
    expect(verdict.failures).toContain(
      "GET /v1/models (200): X-RateLimit-Remaining is 59 in 10 answers of one window",
    );
  });
});
