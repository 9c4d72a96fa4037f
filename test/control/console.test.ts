import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";

describe("console", () => {
  let api: Api;
  beforeAll(async () => {
    api = await startReference();
  });
  afterAll(() => api.close());

  it.each([
    ["/_console", "text/html"],
    ["/_console/app.js", "text/javascript"],
    ["/_console/client.js", "text/javascript"],
    ["/_console/journal.js", "text/javascript"],
    ["/_console/style.css", "text/css"],
  ])("interfaces 2 %s is there, as the banner says", async (path, type) => {
    const { status, headers, text } = await api.call(undefined, "GET", path);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toContain(type);
    const policy = headers.get("content-security-policy");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(text.length).toBeGreaterThan(100);
  });

  it("interfaces 7 the console answers no page of another origin", async () => {
    const { status, body } = await api.call(undefined, "GET", "/_console", undefined, {
      origin: "http://elsewhere.test",
    });
    expect([status, body.type]).toEqual([403, "urn:understudy:problem:origin-not-allowed"]);
  });

  it("interfaces 2 the console has no other pages and takes nothing", async () => {
    expect((await api.call(undefined, "GET", "/_console/../understudy.ts")).status).toBe(404);
    expect((await api.call(undefined, "POST", "/_console")).status).toBe(405);
  });
});
