import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answered, type Api, EPOCH, KEYS, startReference, type Who } from "./harness.ts";
import { stateRules } from "./state-rules.ts";

const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";
const CONFIGS = "/v1/admin/connector/auth-configs";
const TO_OPS = { new_parent_id: "dept_ops" };

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

async function restart(settings: NonNullable<Parameters<typeof startReference>[0]>["settings"]) {
  await api.close();
  api = await startReference({ settings });
}

const configs = (headers: Record<string, string> = {}, who?: Who) =>
  api.call(who, "GET", CONFIGS, undefined, headers);
const decision = ({ headers }: Answered) => headers.get("x-sandbox-decision");
/** One window's worth of requests less would do as well; this is the cheapest plan that has a limit. */
const limitTo = (organization: string, rate_limit: number) =>
  stateRules(api, "organizations").patch(organization, { rate_limit });

describe("section 5: credentials", () => {
  it.each([
    ["api-key", KEYS.ada],
    ["X-API-Key", KEYS.ada],
    ["Authorization", `Bearer ${KEYS.ada}`],
    ["Authorization", `bearer ${KEYS.ada}`],
  ])("5 takes an API key in %s: %s", async (name, value) => {
    expect((await configs({ [name]: value })).status).toBe(200);
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
  ])("5 a credential that is %s is 401 in envelope A, uncounted", async (_why, headers) => {
    const answer = await configs(headers as Record<string, string>);
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
    expect(decision(answer)).toBe("auth");
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
    expect(answer.headers.get("service-organization")).toBeNull();
  });

  it("5 every refusal of rule 2 is the same to the client, but for its ids", async () => {
    const bodies = await Promise.all(
      [KEYS.expired, KEYS.revoked, KEYS.finn, KEYS.gus, "ak_unknown"].map(async (key) => {
        const { body } = await configs({ "api-key": key });
        return JSON.stringify({ ...body.error, trace_id: "" });
      }),
    );
    expect(new Set(bodies).size).toBe(1);
  });

  it("5 a key expires on the sandbox's clock", async () => {
    stateRules(api, "api_keys").patch("apikey_ada", { expires_at: 1_000 });
    await api.advance(999);
    expect((await configs({}, "ada")).status).toBe(200);
    await api.advance(1);
    expect((await configs({}, "ada")).status).toBe(401);
  });

  it("5 a suspended account works again once it is active", async () => {
    stateRules(api, "users").patch("usr_finn", { account: "active" });
    expect((await configs({}, "finn")).body.error.code).toBe("INSUFFICIENT_PERMISSIONS");
  });

  it("G02 of two credentials the first of api-key, X-API-Key, Authorization decides", async () => {
    const bearer = { authorization: `Bearer ${KEYS.ada}` };
    expect((await configs({ "api-key": KEYS.dan, "x-api-key": KEYS.ada, ...bearer })).status).toBe(403);
    expect((await configs({ "api-key": KEYS.ada, "x-api-key": KEYS.dan })).status).toBe(200);
    expect((await configs({ "x-api-key": KEYS.dan, ...bearer })).status).toBe(403);
    // Also when it is not valid, and even when it is empty: what was sent first is what was meant.
    expect((await configs({ "api-key": "ak_wrong", ...bearer })).status).toBe(401);
    expect((await configs({ "api-key": "", ...bearer })).status).toBe(401);
  });
});

describe("section 7: envelopes", () => {
  it("7.1 G29 envelope A of a 403 and a 404 carries system_message, details and the trace id", async () => {
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

  it("G06 auth_errors guide gives every 401 and 403 in envelope C, and nothing else", async () => {
    await restart({ auth_errors: "guide" });
    expect((await configs()).body).toEqual({
      detail: expect.any(String),
      status_code: 401,
      error_type: "AuthenticationError",
    });
    expect((await configs({}, "dan")).body).toEqual({
      detail: expect.any(String),
      status_code: 403,
      error_type: "PermissionError",
    });
    const missing = await api.call("ada", "POST", REPARENT.replace("dept_ml", "dept_none"), TO_OPS);
    expect(missing.body.error.code).toBe("RESOURCE_NOT_FOUND");
  });
});

describe("G04: the order of the checks", () => {
  const broken = "{";
  const json = { "content-type": "application/json" };

  it("G04 an unknown route comes before credentials and is not counted", async () => {
    const answer = await api.call("ada", "GET", "/v1/nothing");
    expect([answer.status, answer.body.error.code, decision(answer)]).toEqual([
      404,
      "RESOURCE_NOT_FOUND",
      "route",
    ]);
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
    expect((await configs({}, "ada")).headers.get("x-ratelimit-remaining")).toBe("999");
  });

  it("G04 an unknown method is 405 with Allow, before credentials", async () => {
    const answer = await api.call(undefined, "DELETE", REPARENT);
    expect([answer.status, answer.body.error.code]).toEqual([405, "METHOD_NOT_ALLOWED"]);
    expect(answer.headers.get("allow")).toBe("POST");
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
  });

  it("G04 401 before 429 before 400 before 422 before 404 before 403 before the operation's own rules", async () => {
    limitTo("org_acme", 6);
    const seen: [number, string | undefined, string | null][] = [];
    const step = async (who: Who | undefined, path: string, body: unknown) => {
      const answer = await api.call(who, "POST", path, body, typeof body === "string" ? json : {});
      seen.push([answer.status, answer.body.error?.code, decision(answer)]);
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

describe("G08, G09: input", () => {
  it("G08 the path is judged before the body, the field named as it was declared", async () => {
    const path = "/v1/organizations/acme/departments/dept_ml/reparent";
    const { status, body } = await api.call("ada", "POST", path, { new_parent_id: 1 });
    expect([status, body.error.details]).toEqual([422, { field: "organization_id", value: "acme" }]);
  });

  it.each([
    ["no JSON", "{", {}],
    ["nothing", "", {}],
    ["invalid UTF-8", new Uint8Array([0x22, 0xff, 0x22]), {}],
    ["too deep", `${"[".repeat(5000)}${"]".repeat(5000)}`, {}],
  ])("G09 a body that is %s is 400 INVALID_JSON", async (_what, body, headers) => {
    const answer = await api.call("ada", "POST", REPARENT, body, {
      "content-type": "application/json",
      ...headers,
    });
    expect([answer.status, answer.body.error.code, answer.body.error.type]).toEqual([
      400,
      "INVALID_JSON",
      "client_error",
    ]);
  });

  it.each([[[]], ["text"], [7], [null]])(
    "G08 a body %j that is no object is 422 field body",
    async (value) => {
      const answer = await api.call("ada", "POST", REPARENT, JSON.stringify(value), {
        "content-type": "application/json",
      });
      expect([answer.status, answer.body.error.details.field]).toEqual([422, "body"]);
    },
  );

  it.each([
    ["text/plain", {}],
    ["application/x-www-form-urlencoded", {}],
    ["application/json", { "content-encoding": "gzip" }],
  ])("G09 content type %s %j is 415", async (type, headers) => {
    const answer = await api.call("ada", "POST", REPARENT, JSON.stringify(TO_OPS), {
      "content-type": type,
      ...headers,
    });
    expect([answer.status, answer.body.error.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
  });

  it.each(["application/json; charset=utf-8", "APPLICATION/JSON", "application/merge-patch+json"])(
    "G09 content type %s is JSON",
    async (type) => {
      const headers = { "content-type": type };
      expect((await api.call("ada", "POST", REPARENT, JSON.stringify(TO_OPS), headers)).status).toBe(200);
    },
  );

  it("G09 a body over json_limit_mb is 413, and the next request on a new connection is answered", async () => {
    await restart({ json_limit_mb: 0.001 });
    const large = { new_parent_id: null, note: "x".repeat(2_000) };
    const answer = await api.call("ada", "POST", REPARENT, large);
    expect([answer.status, answer.body.error.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect((await api.call("ada", "POST", REPARENT, TO_OPS)).status).toBe(200);
  });

  it("G09 unknown body fields are ignored with a warning in the journal", async () => {
    const { status } = await api.call("ada", "POST", REPARENT, { ...TO_OPS, surprise: 1 });
    expect(status).toBe(200);
    const [entry] = api.understudy.sandboxes.get("default")!.journal.entries().slice(-1);
    expect(entry!.warnings).toEqual([expect.stringContaining("surprise")]);
  });

  it("G09 unknown_fields reject makes them 422, and nothing happens", async () => {
    await restart({ unknown_fields: "reject" });
    const { status, body } = await api.call("ada", "POST", REPARENT, { ...TO_OPS, surprise: 1 });
    expect([status, body.error.details]).toEqual([422, { field: "surprise", value: 1 }]);
    expect(stateRules(api, "departments").get("dept_ml").parent_id).toBe("dept_eng");
  });

  it("G09 __proto__ in a body is a field like any other", async () => {
    const text = '{"new_parent_id":"dept_ops","__proto__":{"polluted":true},"constructor":1}';
    const { status } = await api.call("ada", "POST", REPARENT, text, { "content-type": "application/json" });
    expect(status).toBe(200);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("section 8: rate limits", () => {
  const limitOf = async (who: Who) => (await configs({}, who)).headers.get("x-ratelimit-limit");

  it("8 the plan of the key's organization decides: premium, standard, enterprise", async () => {
    expect([await limitOf("ada"), await limitOf("eve"), await limitOf("ivan")]).toEqual([
      "1000",
      "100",
      "5000",
    ]);
  });

  it("8 G07 both header families, on refusals too", async () => {
    await api.advance(19_000);
    const answer = await configs({}, "dan");
    expect(answer.status).toBe(403);
    const reset = Date.parse(EPOCH) / 1000 + 60;
    expect(
      Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith("x-ratelimit"))),
    ).toEqual({
      "x-ratelimit-limit": "1000",
      "x-ratelimit-remaining": "999",
      "x-ratelimit-reset": String(reset),
      "x-ratelimit-limit-requests": "1000",
      "x-ratelimit-remaining-requests": "999",
      "x-ratelimit-reset-requests": "41s",
      "x-ratelimit-limit-tokens": "1000000",
      "x-ratelimit-remaining-tokens": "1000000",
      "x-ratelimit-reset-tokens": "41s",
    });
  });

  it("G07 a whole window is written 1m0s", async () => {
    expect((await configs({}, "ada")).headers.get("x-ratelimit-reset-requests")).toBe("1m0s");
  });

  it.each([
    ["plain", true, false],
    ["alternative", false, true],
  ] as const)("G07 rate_headers %s sends one family", async (rate_headers, plain, alternative) => {
    await restart({ rate_headers });
    const { headers } = await configs({}, "ada");
    expect(headers.has("x-ratelimit-limit")).toBe(plain);
    expect(headers.has("x-ratelimit-remaining-tokens")).toBe(alternative);
  });

  it("G05 the request over the limit is 429 with details and Retry-After, in its envelope", async () => {
    limitTo("org_globex", 3);
    await api.advance(30_000);
    const remaining = [];
    for (let sent = 0; sent < 3; sent++) {
      remaining.push((await configs({}, "eve")).headers.get("x-ratelimit-remaining"));
    }
    expect(remaining).toEqual(["2", "1", "0"]);
    const answer = await configs({}, "eve");
    expect(answer.status).toBe(429);
    expect(answer.body.error).toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      type: "client_error",
      details: { limit: 3, window_seconds: 60, retry_after_seconds: 30 },
    });
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(decision(answer)).toBe("rate-limit");
  });

  it("G07 windows are minutes of the sandbox's clock: the next one is fresh", async () => {
    limitTo("org_globex", 1);
    await api.advance(59_000);
    expect((await configs({}, "eve")).status).toBe(200);
    expect((await configs({}, "eve")).headers.get("retry-after")).toBe("1");
    await api.advance(999);
    expect((await configs({}, "eve")).status).toBe(429);
    await api.advance(1);
    expect((await configs({}, "eve")).status).toBe(200);
    expect((await configs({}, "eve")).headers.get("retry-after")).toBe("60");
  });

  it("G07 counts per key, and a session token on its key", async () => {
    limitTo("org_acme", 3);
    const { body } = await api.call("ada", "POST", "/v1/auth/token");
    const bearer = { authorization: `Bearer ${body.access_token}` };
    const remaining = async (headers: Record<string, string>) =>
      (await configs(headers)).headers.get("x-ratelimit-remaining");
    expect(await remaining(bearer)).toBe("1");
    expect(await remaining({ "api-key": KEYS.ci })).toBe("2");
    expect(await remaining({ "api-key": KEYS.ada })).toBe("0");
    expect((await configs(bearer)).status).toBe(429);
    expect(await remaining({ "api-key": KEYS.ben })).toBe("2");
  });

  it("G04 requests refused by validation and access count, those without credentials do not", async () => {
    await configs();
    await api.call("ada", "POST", REPARENT, "{", { "content-type": "application/json" });
    await api.call("ada", "POST", REPARENT, { new_parent_id: 1 });
    await api.call("ada", "POST", REPARENT.replace("dept_ml", "dept_none"), TO_OPS);
    expect((await configs({}, "ada")).headers.get("x-ratelimit-remaining")).toBe("996");
  });

  it("8 a reset opens fresh windows", async () => {
    limitTo("org_globex", 1);
    await configs({}, "eve");
    api.understudy.sandboxes.get("default")!.reset();
    expect((await configs({}, "eve")).headers.get("x-ratelimit-remaining")).toBe("99");
  });

  it("8 sandboxes count apart", async () => {
    api.understudy.sandboxes.create({ name: "other", clock: { mode: "frozen", now: Date.parse(EPOCH) } });
    await configs({}, "eve");
    const { headers } = await configs({ "x-sandbox": "other" }, "eve");
    expect(headers.get("x-ratelimit-remaining")).toBe("99");
  });
});

describe("section 9: response headers", () => {
  it("9 every answer carries version, request id, processing time and organization", async () => {
    for (const answer of [
      await configs({}, "ada"),
      await configs({}, "dan"),
      await configs(),
      await api.call("ada", "GET", "/v1/nothing"),
    ]) {
      expect(answer.headers.get("service-api-version")).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(answer.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{16}$/);
      expect(answer.headers.get("service-processing-ms")).toMatch(/^\d+$/);
    }
  });

  it("9 request ids are unique, and the same for the same seed and request", async () => {
    const ids = async () => {
      const found = [];
      for (let sent = 0; sent < 20; sent++) found.push((await configs()).headers.get("x-request-id"));
      return found;
    };
    const first = await ids();
    expect(new Set(first).size).toBe(20);
    await restart({});
    expect(await ids()).toEqual(first);
  });

  it("G32 service-organization is that of the path, else the key's current one", async () => {
    const path = "/v1/organizations/org_globex/departments/dept_globex/reparent";
    const foreign = await api.call("ada", "POST", path, TO_OPS);
    expect(foreign.status).toBe(403);
    expect(foreign.headers.get("service-organization")).toBe("org_globex");
    expect((await configs({}, "ada")).headers.get("service-organization")).toBe("org_acme");
    expect((await configs({}, "hana")).headers.get("service-organization")).toBe("org_initech");
  });

  it("9 a hostile organization in the path cannot break the headers", async () => {
    const answer = await api.call(
      "ada",
      "POST",
      "/v1/organizations/org_%0d%0aevil:%20yes%e2%82%ac/departments/dept_ml/reparent",
      TO_OPS,
    );
    expect(answer.status).toBe(422);
    expect(answer.headers.get("evil")).toBeNull();
  });
});

describe("G30: browsers", () => {
  const preflight = (origin: string) =>
    api.call(undefined, "OPTIONS", REPARENT, undefined, {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "api-key,content-type",
    });

  it.each(["http://localhost:5173", "http://127.0.0.1:3000", "https://localhost", "http://[::1]:8080"])(
    "G30 a preflight from %s is answered",
    async (origin) => {
      const { status, headers } = await preflight(origin);
      expect(status).toBe(204);
      expect(headers.get("access-control-allow-origin")).toBe(origin);
      const allowed = headers.get("access-control-allow-headers")!.toLowerCase().split(", ");
      for (const name of [
        "api-key",
        "x-api-key",
        "authorization",
        "content-type",
        "x-sandbox",
        "x-sandbox-fault",
      ])
        expect(allowed).toContain(name);
      expect(headers.get("access-control-allow-methods")).toContain("DELETE");
    },
  );

  it.each(["https://evil.test", "http://localhost.evil.test", "http://127.0.0.1.evil.test", "null"])(
    "G30 %s is not let in",
    async (origin) => {
      expect((await preflight(origin)).headers.get("access-control-allow-origin")).toBeNull();
      const answer = await configs({ origin }, "ada");
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect(answer.headers.get("vary")).toContain("Origin");
    },
  );

  it("G30 cors_origins lets further origins in", async () => {
    await restart({ cors_origins: ["https://app.example.test"] });
    const { headers } = await configs({ origin: "https://app.example.test" }, "ada");
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example.test");
    expect((await preflight("https://app.example.test")).status).toBe(204);
    const other = await configs({ origin: "https://other.example.test" }, "ada");
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("G30 exposes the headers of sections 8 and 9 on answers and refusals alike", async () => {
    for (const who of ["ada", "dan", undefined] as const) {
      const { headers } = await configs({ origin: "http://localhost:5173" }, who);
      const exposed = headers.get("access-control-expose-headers")!.toLowerCase().split(", ");
      for (const name of [
        "x-ratelimit-remaining",
        "x-ratelimit-reset-tokens",
        "service-api-version",
        "service-organization",
        "service-processing-ms",
        "x-request-id",
        "retry-after",
        "etag",
        "content-disposition",
        "x-sandbox-decision",
      ])
        expect(exposed).toContain(name);
    }
  });
});

describe("hostile requests", () => {
  /** Bytes as they are, since no client library would send these. */
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const { port, hostname } = new URL(api.url);
      let answer = "";
      const socket = connect(Number(port), hostname, () => socket.end(text));
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      socket.on("close", () => resolve(answer));
      socket.on("error", reject);
    });
  const head = `GET ${CONFIGS} HTTP/1.1\r\nConnection: close\r\n`;

  it.each([
    ["two api-key headers", `Host: x\r\napi-key: ${KEYS.ada}\r\napi-key: ${KEYS.dan}\r\n`, 401],
    ["bytes outside ASCII in the key", "Host: x\r\napi-key: ak_\u00e9\u00e9\r\n", 401],
    ["a key of 20,000 characters", `Host: x\r\napi-key: ${"k".repeat(20_000)}\r\n`, 401],
    ["a token of 20,000 characters", `Host: x\r\nAuthorization: Bearer ${"a.".repeat(9_000)}b\r\n`, 401],
    ["headers over the limit", `Host: x\r\napi-key: ${"k".repeat(40_000)}\r\n`, 431],
    ["a broken header line", `Host: x\r\napi key ${KEYS.ada}\r\n`, 400],
    ["an odd Host", `Host: <script>\r\napi-key: ${KEYS.ada}\r\n`, 200],
  ])("G09 %s is answered and the server lives on", async (_what, headers, status) => {
    const answer = await raw(`${head}${headers}\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect((await configs({}, "ada")).status).toBe(200);
  });
});
