import { describe, expect, it } from "vitest";
import { useReference } from "../support/use-reference.ts";

const api = useReference();
const isolated = useReference({ refuseDefault: true });

const ORIGIN = "http://localhost:5173";

/** The preflight and the request that a page at this origin sends. */
async function askFromPage(url: string, origin = ORIGIN) {
  const preflight = await fetch(url, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "api-key,x-trace",
    },
  });
  const { status, headers } = await fetch(url, { headers: { origin } });
  return {
    preflight: [preflight.status, preflight.headers.get("access-control-allow-origin")],
    allowedHeaders: preflight.headers.get("access-control-allow-headers"),
    answer: [status, headers.get("access-control-allow-origin")],
    decision: headers.get("x-sandbox-decision"),
    exposed: headers.get("access-control-expose-headers"),
    vary: headers.get("vary"),
  };
}

describe("a page can read why its request reached no sandbox [G30, interfaces 3, 16]", () => {
  const LOCAL: [string, number, string, () => Promise<string>][] = [
    ["an unknown sandbox", 404, "unknown-sandbox", async () => `${api.url}/_s/typo/v1/models`],
    ["`default` where each test has a sandbox", 421, "no-sandbox", async () => `${isolated.url}/v1/models`],
    [
      "a sandbox at another's port",
      421,
      "misdirected",
      async () => {
        const { body } = await api.call(undefined, "POST", "/_control/sandboxes", { origin: true });
        return `${body.origin}/_s/other/v1/models`;
      },
    ],
  ];

  it.each(LOCAL)("if it names %s", async (_, status, decision, findUrl) => {
    const url = await findUrl();
    const seen = await askFromPage(url);
    expect(seen).toMatchObject({
      preflight: [204, ORIGIN],
      answer: [status, ORIGIN],
      decision,
      vary: "Origin",
    });
    expect(seen.allowedHeaders).toMatch(/api-key.*x-trace/);
    expect(seen.exposed).toContain("X-Sandbox-Decision");
    const foreign = await askFromPage(url, "https://evil.example");
    expect(foreign).toMatchObject({
      preflight: [204, null],
      answer: [status, null],
      decision,
      vary: "Origin",
    });
    expect((await fetch(url)).headers.get("vary")).toBe("Origin");
  });
});
