import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, EPOCH, startReference } from "../support/harness.ts";

let api: Api;
let made = 0;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `/_control/sandboxes${path}`, body);
async function createSandbox(settings: object = {}): Promise<string> {
  const name = `more-${++made}`;
  const clock = { mode: "frozen", now: EPOCH };
  expect((await control("POST", "", { name, clock, settings })).status).toBe(201);
  return name;
}

describe("a rule on a path outside the contract", () => {
  const arm = (name: string, rule: object) => control("POST", `/${name}/faults`, rule);

  it("serves its own response [interfaces 11]", async () => {
    const name = await createSandbox();
    const call = (method: string, path: string, body?: unknown) =>
      api.call("dan", method, `/_s/${name}${path}`, body);
    expect((await call("GET", "/v1/beta/tools")).status).toBe(404);
    const tools = { tools: [{ id: "tool_1" }] };
    expect((await arm(name, { match: { path: "/v1/beta/tools" }, effect: { body: tools } })).status).toBe(
      201,
    );
    const served = await call("GET", "/v1/beta/tools");
    expect([served.status, served.body]).toEqual([200, tools]);
    expect(served.headers.get("x-sandbox-decision")).toBe("fault:inline/fault_1");
    const { body: journal } = await control("GET", `/${name}/journal?limit=1`);
    expect(journal.entries[0]).toMatchObject({
      operation: null,
      status: 200,
      principal: "usr_dan",
      code: null,
    });
    const match = { path: "/v1/beta/**", method: "POST", principal: "usr_dan", body: { name: "x" } };
    const flaky = await arm(name, { match, sequence: [503, 201] });
    expect(flaky.status, flaky.text).toBe(201);
    expect((await call("POST", "/v1/beta/tools/run", { name: "y" })).status).toBe(404);
    const first = await call("POST", "/v1/beta/tools/run", { name: "x", more: 1 });
    expect([first.status, first.body.error.code]).toEqual([503, "HTTP_503"]);
    expect((await call("POST", "/v1/beta/tools/run", { name: "x" })).status).toBe(201);
    expect((await call("POST", "/v1/beta/tools/run", { name: "x" })).status).toBe(404);
    // Another method of an existing path.
    await arm(name, { match: { path: "/v1/models", method: "DELETE" }, effect: { status: 204 } });
    expect((await call("DELETE", "/v1/models")).status).toBe(204);
    await arm(name, { match: { path: "/v1/models", method: "PUT" }, effect: { status: 503 } });
    expect((await call("PUT", "/v1/models")).status).toBe(503);
    expect((await call("GET", "/v1/models")).body.models.length).toBeGreaterThan(0);
  });

  it("requires credentials and counts the caller, unless the rule is public [interfaces 11]", async () => {
    const name = await createSandbox();
    const ask = (as: "dan" | "finn" | undefined, path: string) => api.call(as, "GET", `/_s/${name}${path}`);
    const body = { tools: [] };
    await arm(name, { match: { path: "/v1/tools" }, times: 1, effect: { body } });
    await arm(name, { match: { path: "/v1/status" }, public: true, effect: { body } });
    const path = `/_s/${name}/v1/tools`;
    const delayed = await api.call(undefined, "GET", path, undefined, { "x-sandbox-delay": "1ms" });
    expect(delayed.status).toBe(401);
    const refused = await ask(undefined, "/v1/tools");
    expect([refused.status, refused.body.error.code]).toEqual([401, "AUTHENTICATION_REQUIRED"]);
    expect(refused.headers.get("x-sandbox-decision")).toBe("auth");
    // The user is suspended. Neither request has used up the single response.
    expect((await ask("finn", "/v1/tools")).status).toBe(401);
    const served = await ask("dan", "/v1/tools");
    expect([served.status, served.headers.get("x-ratelimit-remaining")]).toEqual([200, "999"]);
    expect((await ask(undefined, "/v1/status")).status).toBe(200);
    // Without a rule, the API's own refusal remains.
    expect((await ask(undefined, "/v1/others")).status).toBe(404);
    const odd = await arm(name, { match: { path: "/v1/models" }, public: true, effect: { delay: "1s" } });
    expect([odd.status, odd.body.detail]).toEqual([422, expect.stringContaining("`public`")]);
  });

  it("refuses callers of foreign organizations as the API's own operations do [interfaces 11]", async () => {
    const name = await createSandbox();
    const ask = (as: "dan" | "ada", path: string) => api.call(as, "GET", `/_s/${name}${path}`);
    const body = { tools: [] };
    await arm(name, { match: { path: "/v1/organizations/*/tools" }, times: 1, effect: { body } });
    await arm(name, { match: { path: "/v1/organizations/*/open" }, public: true, effect: { body } });
    await arm(name, { match: { path: "/v1/organizations/*/teas" }, sequence: [{ status: 418, body }] });
    for (const foreign of ["org_hooli", "org_nowhere"]) {
      const own = await ask("dan", `/v1/analytics/usage/limits/${foreign}`);
      for (const path of ["tools", "teas"]) {
        const refused = await ask("dan", `/v1/organizations/${foreign}/${path}`);
        expect([refused.status, refused.body.error.code]).toEqual([own.status, own.body.error.code]);
        expect(refused.body.error.details).toEqual(own.body.error.details);
        expect(refused.headers.get("x-sandbox-decision")).toBe("access");
        expect(refused.headers.get("x-ratelimit-remaining")).not.toBeNull();
      }
      expect((await ask("dan", `/v1/organizations/${foreign}/open`)).status).toBe(200);
    }
    // No refusal has used up the single response.
    expect((await ask("dan", "/v1/organizations/org_acme/tools")).body).toEqual(body);
    expect((await ask("dan", "/v1/organizations/org_acme/teas")).status).toBe(418);
  });

  it("answers the entries of a sequence with status, headers and body, or a code with details [interfaces 6]", async () => {
    const name = await createSandbox();
    const rule = {
      match: { path: "/v1/jobs/1" },
      sequence: [
        { status: 202, headers: { "X-Job": 1 }, body: { state: "queued" } },
        { error: "RESOURCE_NOT_FOUND", details: { job: "1" } },
        { body: "done" },
        "pass",
        { status: 204 },
      ],
    };
    const armed = await arm(name, rule);
    expect([armed.status, armed.body.sequence], armed.text).toEqual([201, rule.sequence]);
    const answers: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      const { status, body, text, headers } = await api.call("dan", "GET", `/_s/${name}/v1/jobs/1`);
      const shown = body?.error?.details ?? body ?? text;
      answers.push([status, shown, headers.get("x-job")]);
    }
    expect(answers).toEqual([
      [202, { state: "queued" }, "1"],
      [404, expect.objectContaining({ job: "1" }), null],
      [200, "done", null],
      [404, expect.anything(), null],
      [204, "", null],
    ]);
    const { body: journal } = await control("GET", `/${name}/journal?kind=request`);
    expect(JSON.stringify(journal)).toContain("entry 2 of 5: RESOURCE_NOT_FOUND");
  });

  it.each([
    [{ sequence: [{ status: 204, body: {} }] }, "sequence[0].body", "`body` cannot go with status 204"],
    [{ sequence: [503, { headers: { a: "b" } }] }, "sequence[1].headers", "goes with an answer only"],
    [{ sequence: [{}] }, "sequence[0]", ""],
    [{ sequence: [{ status: 200, wire: "reset" }] }, "sequence[0].wire", ""],
    [{ sequence: [{ error: "NOT_FOUND" }] }, "sequence[0].error", "not a code of the catalogue"],
    [{ match: { event: "*" }, sequence: [{ status: 500, body: "x" }] }, "sequence[0]", "a receiver answers"],
  ])(
    "is refused with an entry of a sequence that cannot work: %j [interfaces 6]",
    async (rule, place, sentence) => {
      const { status, text } = await arm("default", rule);
      expect([status, text]).toEqual([422, expect.stringContaining(place)]);
      expect(text).toContain(sentence);
    },
  );

  it("has every effect: codes, broken connections, delays, sequences [interfaces 11]", async () => {
    const name = await createSandbox();
    const ask = (path: string) => api.call("dan", "GET", `/_s/${name}${path}`);
    const armed = [
      { match: { path: "/v1/beta/gadgets/code" }, effect: { error: "INSUFFICIENT_PERMISSIONS" } },
      { match: { path: "/v1/beta/gadgets/wire" }, effect: { wire: "reset" } },
      { match: { path: "/v1/beta/gadgets/slow" }, effect: { body: { slow: true } } },
      { match: { path: "/v1/beta/gadgets/slow" }, effect: { delay: "30ms" } },
      { match: { path: "/v1/beta/gadgets/flaky" }, effect: { body: { found: true } } },
      { match: { path: "/v1/beta/gadgets/flaky" }, sequence: ["RATE_LIMIT_EXCEEDED", "pass", 503] },
    ];
    for (const rule of armed) expect((await arm(name, rule)).status, JSON.stringify(rule)).toBe(201);
    const denied = await ask("/v1/beta/gadgets/code");
    expect([denied.status, denied.body.error.code]).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
    await expect(ask("/v1/beta/gadgets/wire")).rejects.toThrow("ECONNRESET");
    const began = performance.now();
    expect((await ask("/v1/beta/gadgets/slow")).body).toEqual({ slow: true });
    expect(performance.now() - began).toBeGreaterThan(25);
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await ask("/v1/beta/gadgets/flaky")).status);
    expect(statuses).toEqual([429, 200, 503, 200]);
  });

  it("is explained by a dry run [interfaces 11]", async () => {
    const name = await createSandbox();
    await arm(name, {
      id: "tools",
      match: { path: "/v1/tools" },
      effect: { status: 418, body: "short and stout" },
    });
    const asked = { method: "GET", path: "/v1/tools", principal: "usr_dan" };
    const { body } = await control("POST", `/${name}/faults/explain`, asked);
    expect(body).toMatchObject({ operation: null, decision: "fault:inline/tools", status: 418 });
    expect(body.rules).toEqual([
      { rule: "inline/tools", phase: "before", triggers: true, why: "it triggers on every call" },
    ]);
    const other = await control("POST", `/${name}/faults/explain`, { method: "GET", path: "/v1/others" });
    expect(other.body).toMatchObject({ operation: null, decision: "route", status: 404 });
    expect(other.body.rules[0]).toMatchObject({ triggers: false, why: "path does not match /v1/tools" });
  });

  it.each([
    [
      { match: { path: "/internal/workspace/members/current" }, phase: "after", effect: { status: 200 } },
      "neither `operation` nor `phase: after`",
    ],
    [{ match: { path: "/v1/model" }, effect: { wire: "reset" } }, 'did you mean "/v1/models"?'],
    [{ match: { path: "/_control/x" }, effect: { status: 200 } }, "a path begins with a slash"],
    [
      { match: { path: "/v1/tools", operation: "models.list" }, effect: { status: 200 } },
      "is not a path of an operation",
    ],
  ])("is refused if it could never trigger: %j [interfaces 11]", async (rule, sentence) => {
    const { status, body } = await arm("default", rule);
    expect([status, body.detail]).toEqual([422, expect.stringContaining(sentence)]);
  });
});

describe("the coverage of all sandboxes", () => {
  it("includes deleted sandboxes and reported outcomes [interfaces 11]", async () => {
    const fetchCoverage = async () => (await api.call(undefined, "GET", "/_control/coverage")).body;
    interface Matrix {
      operations: { operation: string; outcomes: { status: number; hits: number }[] }[];
    }
    const countHits = ({ operations }: Matrix, operation: string, status: number): number =>
      operations.find((row) => row.operation === operation)!.outcomes.find((one) => one.status === status)!
        .hits;
    const before = countHits(await fetchCoverage(), "models.list", 200);
    const [one, two] = [await createSandbox(), await createSandbox()];
    await api.call("dan", "GET", `/_s/${one}/v1/models`);
    await api.call("dan", "GET", `/_s/${two}/v1/models`);
    await control("DELETE", `/${one}`);
    expect(countHits(await fetchCoverage(), "models.list", 200)).toBe(before + 2);
    const other = (await control("GET", `/${two}/coverage`)).body;
    const sum = await api.call(undefined, "POST", "/_control/coverage", other);
    expect([sum.status, countHits(sum.body, "models.list", 200)]).toEqual([200, before + 3]);
    expect(countHits(await fetchCoverage(), "models.list", 200)).toBe(before + 3);
    const [row] = other.operations;
    const wrong = await api.call(undefined, "POST", "/_control/coverage", {
      ...other,
      operations: [row, { ...row, operation: "models.lst" }],
    });
    expect([wrong.status, wrong.body.field, wrong.body.hint]).toEqual([
      422,
      "operations[1].operation",
      "models.list",
    ]);
    const page = await api.call(undefined, "GET", "/_control/coverage.html");
    expect(page.text).toContain("Coverage of all sandboxes");
  });
});

describe("a request from a page of another origin [G30]", () => {
  const origin = "https://app.example.test";
  const sendPreflight = (name: string, asked: string) =>
    fetch(`${api.url}/_s/${name}/v1/models`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "GET", "access-control-request-headers": asked },
    });

  it("may have the headers of cors_headers in addition to the API's own, and any with * [interfaces 11]", async () => {
    const named = await createSandbox({ cors_origins: [origin], cors_headers: ["X-Trace"] });
    const allowed = (await sendPreflight(named, "x-other")).headers
      .get("access-control-allow-headers")!
      .split(", ");
    expect([allowed.includes("X-Trace"), allowed.includes("api-key"), allowed.includes("x-other")]).toEqual([
      true,
      true,
      false,
    ]);
    const any = await createSandbox({ cors_origins: [origin], cors_headers: ["*"] });
    expect((await sendPreflight(any, "x-other,x-more")).headers.get("access-control-allow-headers")).toMatch(
      /api-key.*, x-other,x-more$/,
    );
    const foreign = await createSandbox({ cors_headers: ["*"] });
    expect((await sendPreflight(foreign, "x-other")).headers.get("access-control-allow-headers")).toBeNull();
  });

  it("may have credentials with cors_credentials, from allowed origins only [interfaces 11]", async () => {
    const name = await createSandbox({ cors_origins: [origin], cors_credentials: true });
    const answer = await fetch(`${api.url}/_s/${name}/v1/models`, { headers: { origin } });
    for (const { headers } of [await sendPreflight(name, ""), answer])
      expect([
        headers.get("access-control-allow-credentials"),
        headers.get("access-control-allow-origin"),
      ]).toEqual(["true", origin]);
    const other = await fetch(`${api.url}/_s/${name}/v1/models`, {
      headers: { origin: "https://else.example.test" },
    });
    expect(other.headers.get("access-control-allow-credentials")).toBeNull();
    const off = await createSandbox({ cors_origins: [origin] });
    expect((await sendPreflight(off, "")).headers.get("access-control-allow-credentials")).toBeNull();
  });

  it("is not affected by an invalid header name, which is refused [interfaces 11]", async () => {
    const { status, body } = await control("POST", "", { settings: { cors_headers: ["X Trace"] } });
    expect([status, body.field]).toEqual([422, "settings.cors_headers[0]"]);
  });
});

describe("start --delay", () => {
  it("delays every answer of every sandbox, also after a reset, and rules come first [interfaces 11]", async () => {
    const slow = await startReference({ delay: "15ms" });
    const call = async () => (await slow.call("dan", "GET", "/v1/models")).headers.get("x-sandbox-decision");
    expect(await call()).toBe("fault:start/delay");
    await slow.call(undefined, "POST", "/_control/sandboxes/default/reset", {});
    expect(await call()).toBe("fault:start/delay");
    await slow.call(undefined, "POST", "/_control/sandboxes/default/faults", { effect: { delay: "1ms" } });
    expect(await call()).toBe("fault:inline/fault_1");
    const { body } = await slow.call(undefined, "POST", "/_control/sandboxes/default/faults/explain", {
      operation: "models.list",
    });
    expect(body.rules.at(-1)).toMatchObject({ rule: "start/delay", triggers: false });
    await slow.close();
  });

  it("draws percentiles from the seed, so that a reset repeats the delays [interfaces 11]", async () => {
    const slow = await startReference({ delay: { p50: 2, p99: 20 } });
    const drawAnswers = async () => {
      const reasons: string[] = [];
      for (let i = 0; i < 4; i++) await slow.call("dan", "GET", "/v1/models");
      const { body } = await slow.call(undefined, "GET", "/_control/sandboxes/default/journal");
      for (const entry of body.entries) reasons.push(entry.reasons.at(-1));
      return reasons;
    };
    const first = await drawAnswers();
    await slow.call(undefined, "POST", "/_control/sandboxes/default/reset", {});
    expect(await drawAnswers()).toEqual(first);
    expect(new Set(first).size).toBeGreaterThan(1);
    await slow.close();
  });
});
