import { describe, expect, it } from "vitest";
import { createFetchOutbound } from "./fetch-outbound.ts";

const DELIVERY = {
  url: "http://receiver.test/",
  method: "POST",
  headers: {},
  body: new Uint8Array(),
  timeoutMs: 1000,
};

describe("a redirect of a receiver is not followed [6.4]", () => {
  it("by a fetch that could", async () => {
    const modes: string[] = [];
    const outbound = createFetchOutbound(async ({ redirect }) => {
      modes.push(redirect);
      return new Response(null, { status: 302, headers: { Location: "/login" } });
    });
    expect((await outbound.send(DELIVERY)).response_code).toBe(302);
    expect(modes).toEqual(["manual"]);
  });

  it("in a page, which does not learn its status", async () => {
    const outbound = createFetchOutbound(async () =>
      Object.defineProperties(Response.error(), { type: { value: "opaqueredirect" } }),
    );
    expect(await outbound.send(DELIVERY)).toMatchObject({
      response_code: 0,
      error: { kind: "network", message: "the receiver redirects, and redirects are not followed" },
    });
  });
});
