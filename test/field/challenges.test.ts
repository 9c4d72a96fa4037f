import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { runJava } from "../support/real-clients.ts";

const CHALLENGE = 'Bearer realm="service"';
const FAULTS = "/_control/sandboxes/default/faults";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const readChallenge = ({ status, headers }: { status: number; headers: Headers }) => [
  status,
  headers.get("www-authenticate"),
];

describe("a 401", () => {
  it.each([
    ["without credentials", "GET", "/v1/models", {}],
    ["with an unknown key", "GET", "/v1/models", { "api-key": "ak_none" }],
    ["in envelope B", "DELETE", "/v1/threads/thread_ada", {}],
    ["in envelope C", "POST", "/v1/auth/token", {}],
    ["asked for by a header", "GET", "/v1/models", { "x-sandbox-fault": "AUTHENTICATION_REQUIRED" }],
    ["asked for by Prefer", "GET", "/v1/models", { prefer: "code=401" }],
    ["to a page", "GET", "/v1/models", { origin: "http://localhost:5173" }],
  ])("by %s names its challenge [G41]", async (_name, method, path, headers) => {
    const body = method === "POST" ? {} : undefined;
    const answer = await api.call(undefined, method, path, body, headers as Record<string, string>);
    expect(readChallenge(answer)).toEqual([401, CHALLENGE]);
    if ("origin" in headers)
      expect(answer.headers.get("access-control-expose-headers")).toContain("WWW-Authenticate");
  });

  it("of a rule names the challenge, or the rule's own [G41]", async () => {
    const makeRule = (effect: object) => ({ match: { operation: "models.list" }, times: 1, effect });
    for (const effect of [{ error: "AUTHENTICATION_REQUIRED" }, { status: 401, body: {} }, { status: 401 }]) {
      await api.call(undefined, "POST", FAULTS, makeRule(effect));
      expect(readChallenge(await api.call("ada", "GET", "/v1/models"))).toEqual([401, CHALLENGE]);
    }
    await api.call(
      undefined,
      "POST",
      FAULTS,
      makeRule({ status: 401, headers: { "www-authenticate": "Basic" } }),
    );
    expect(readChallenge(await api.call("ada", "GET", "/v1/models"))).toEqual([401, "Basic"]);
  });

  it("has no challenge if the setting is off, and no other status has one [G41]", async () => {
    const quiet = { name: "quiet", settings: { auth_challenge: "off" } };
    expect((await api.call(undefined, "POST", "/_control/sandboxes", quiet)).status).toBe(201);
    expect(readChallenge(await api.call(undefined, "GET", "/_s/quiet/v1/models"))).toEqual([401, null]);
    expect(readChallenge(await api.call("ada", "GET", "/v1/models"))).toEqual([200, null]);
  });

  it("of the control API of a shared server has a challenge", async () => {
    const shared = await startReference({ shared: { token: "a-token-of-a-test" } });
    const own = 'Bearer realm="understudy control"';
    for (const [method, path, headers] of [
      ["GET", "/_control/sandboxes", {}],
      ["GET", "/_control/sandboxes", { authorization: "Bearer no" }],
      ["POST", "/_control/mcp", {}],
      ["POST", "/_console/login", {}],
    ] as const) {
      const body = method === "POST" ? { code: "no" } : undefined;
      expect(readChallenge(await shared.call(undefined, method, path, body, headers))).toEqual([401, own]);
    }
    await shared.close();
  });

  it("is read as a status by Java's HttpClient with an Authenticator", {
    timeout: 120_000,
  }, async (test) => {
    const printed = await runJava(
      test,
      `var authenticator = new Authenticator() {
        protected PasswordAuthentication getPasswordAuthentication() {
          return new PasswordAuthentication("ada", new char[0]);
        }
      };
      var client = HttpClient.newBuilder().authenticator(authenticator).build();
      var request = HttpRequest.newBuilder(URI.create(args[0])).build();
      System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode());`,
      `${api.url}/v1/models`,
    );
    expect(printed).toBe("401");
  });
});
