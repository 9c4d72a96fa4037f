import { describe, expect, it } from "vitest";
import { type Caller, EPOCH, KEYS } from "../support/harness.ts";
import { getDecision, REPARENT, TO_OPS, useReferencePerTest } from "../support/reference-per-test.ts";
import { getStateRules } from "../support/state-rules.ts";

const api = useReferencePerTest();
const { listConfigs, setRateLimit, restart } = api;

describe("credentials [section 5]", () => {
  it.each([
    ["api-key", KEYS.ada],
    ["X-API-Key", KEYS.ada],
    ["Authorization", `Bearer ${KEYS.ada}`],
    ["Authorization", `bearer ${KEYS.ada}`],
  ])("may be an API key in %s: %s [5]", async (name, value) => {
    expect((await listConfigs({ [name]: value })).status).toBe(200);
  });

  it.each([
    ["missing", {}],
    ["empty", { "api-key": "" }],
    ["malformed", { "api-key": "hello" }],
    ["unknown", { "api-key": "ak_nobodyKnowsThisKey000000000000000000000" }],
    ["one character off", { "api-key": `${KEYS.ada.slice(0, -1)}1` }],
    ["cut short", { "api-key": KEYS.ada.slice(0, -1) }],
    ["in another scheme", { authorization: `Basic ${KEYS.ada}` }],
    ["a scheme without a key", { authorization: "Bearer " }],
    ["no JWT", { authorization: "Bearer a.b" }],
    ["expired", { "api-key": KEYS.expired }],
    ["revoked", { "api-key": KEYS.revoked }],
    ["of a suspended account", { "api-key": KEYS.finn }],
    ["of a disabled account", { "api-key": KEYS.gus }],
  ])("are refused with 401 in envelope A, without counting a request, if %s [5]", async (_why, headers) => {
    const answer = await listConfigs(headers as Record<string, string>);
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({
      success: false,
      error: {
        code: "AUTHENTICATION_REQUIRED",
        message: expect.any(String),
        system_message: expect.any(String),
        type: "authentication_error",
        status: 401,
        details: {},
        trace_id: answer.headers.get("x-request-id"),
        timestamp: EPOCH,
      },
    });
    expect(getDecision(answer)).toBe("auth");
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
    expect(answer.headers.get("service-organization")).toBeNull();
  });

  it("get the same refusal for every case of rule 2, except for its ids [5]", async () => {
    const bodies = await Promise.all(
      [KEYS.expired, KEYS.revoked, KEYS.finn, KEYS.gus, "ak_unknown"].map(async (key) => {
        const { body } = await listConfigs({ "api-key": key });
        return JSON.stringify({ ...body.error, trace_id: "" });
      }),
    );
    expect(new Set(bodies).size).toBe(1);
  });

  it("expire by the sandbox's clock [5]", async () => {
    getStateRules(api, "api_keys").patch("apikey_ada", { expires_at: 1_000 });
    await api.advance(999);
    expect((await listConfigs({}, "ada")).status).toBe(200);
    await api.advance(1);
    expect((await listConfigs({}, "ada")).status).toBe(401);
  });

  it("of a suspended account work again once it is active [5]", async () => {
    getStateRules(api, "users").patch("usr_finn", { account: "active" });
    expect((await listConfigs({}, "finn")).body.error.code).toBe("INSUFFICIENT_PERMISSIONS");
  });

  it("are read from the first of api-key, X-API-Key and Authorization [G02]", async () => {
    const bearer = { authorization: `Bearer ${KEYS.ada}` };
    expect((await listConfigs({ "api-key": KEYS.dan, "x-api-key": KEYS.ada, ...bearer })).status).toBe(403);
    expect((await listConfigs({ "api-key": KEYS.ada, "x-api-key": KEYS.dan })).status).toBe(200);
    expect((await listConfigs({ "x-api-key": KEYS.dan, ...bearer })).status).toBe(403);
    // Only the first header counts, even if its key is invalid or empty.
    expect((await listConfigs({ "api-key": "ak_wrong", ...bearer })).status).toBe(401);
    expect((await listConfigs({ "api-key": "", ...bearer })).status).toBe(401);
  });
});

describe("envelopes [section 7]", () => {
  it("of a 403 and a 404 are A, with system_message, details and the trace id [7.1, G29]", async () => {
    for (const [who, path, status, type] of [
      ["dan", REPARENT, 403, "authorization_error"],
      ["ada", REPARENT.replace("dept_ml", "dept_none"), 404, "client_error"],
    ] as const) {
      const answer = await api.call(who, "POST", path, TO_OPS);
      expect(answer.status).toBe(status);
      expect(answer.body.success).toBe(false);
      expect(answer.body.error).toMatchObject({ type, status, timestamp: EPOCH });
      expect(answer.body.error.system_message.length).toBeGreaterThan(20);
      expect(answer.body.error.trace_id).toBe(answer.headers.get("x-request-id"));
    }
  });

  it("of every 401 and 403 are C with auth_errors guide, and no others [G06]", async () => {
    await restart({ auth_errors: "guide" });
    expect((await listConfigs()).body).toEqual({
      detail: expect.any(String),
      status_code: 401,
      error_type: "AuthenticationError",
    });
    expect((await listConfigs({}, "dan")).body).toEqual({
      detail: expect.any(String),
      status_code: 403,
      error_type: "PermissionError",
    });
    const missing = await api.call("ada", "POST", REPARENT.replace("dept_ml", "dept_none"), TO_OPS);
    expect(missing.body.error.code).toBe("RESOURCE_NOT_FOUND");
  });
});

describe("the order of the checks [G04]", () => {
  const broken = "{";
  const json = { "content-type": "application/json" };

  it("checks an unknown route before credentials, and does not count it [G04]", async () => {
    const answer = await api.call("ada", "GET", "/v1/nothing");
    expect([answer.status, answer.body.error.code, getDecision(answer)]).toEqual([
      404,
      "RESOURCE_NOT_FOUND",
      "route",
    ]);
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
    expect((await listConfigs({}, "ada")).headers.get("x-ratelimit-remaining")).toBe("999");
  });

  it.each(["/v1/threads/", "/webhooks/", "/v1/dashboards/shared/"])(
    "has no route for any method of %s [G04]",
    async (path) => {
      for (const method of ["GET", "DELETE", "PUT"]) {
        const { status, body } = await api.call("ada", method, path);
        expect([status, body.error.code]).toEqual([404, "RESOURCE_NOT_FOUND"]);
      }
    },
  );

  it("checks an unknown method before credentials, and answers 405 with Allow [G04]", async () => {
    const answer = await api.call(undefined, "DELETE", REPARENT);
    expect([answer.status, answer.body.error.code]).toEqual([405, "METHOD_NOT_ALLOWED"]);
    expect(answer.headers.get("allow")).toBe("POST");
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
  });

  it("is 401, 429, 400, 422, 404, 403, then the operation's own rules [G04]", async () => {
    setRateLimit("org_acme", 6);
    const seen: [number, string | undefined, string | null][] = [];
    const step = async (who: Caller | undefined, path: string, body: unknown) => {
      const answer = await api.call(who, "POST", path, body, typeof body === "string" ? json : {});
      seen.push([answer.status, answer.body.error?.code, getDecision(answer)]);
    };
    const nowhere = REPARENT.replace("org_acme", "org_nowhere");
    const malformed = nowhere.replace("dept_ml", "ml");
    await step(undefined, malformed, broken);
    await step("dan", malformed, broken);
    await step("dan", malformed, { new_parent_id: 1 });
    await step("dan", nowhere, { new_parent_id: 1 });
    await step("dan", nowhere, { new_parent_id: "dept_ml" });
    await step("dan", REPARENT, { new_parent_id: "dept_ml" });
    await step("dan", REPARENT, { new_parent_id: "dept_ml" });
    await step("dan", malformed, broken);
    await step("ada", REPARENT, { new_parent_id: "dept_ml" });
    expect(seen).toEqual([
      [401, "AUTHENTICATION_REQUIRED", "auth"],
      [400, "INVALID_JSON", "validation"],
      [422, "INVALID_INPUT", "validation"],
      [422, "INVALID_INPUT", "validation"],
      [404, "ORGANIZATION_NOT_FOUND", "access"],
      [403, "INSUFFICIENT_PERMISSIONS", "access"],
      [403, "INSUFFICIENT_PERMISSIONS", "access"],
      [429, "RATE_LIMIT_EXCEEDED", "rate-limit"],
      [422, "DEPARTMENT_CYCLE_DETECTED", "rule"],
    ]);
  });
});
