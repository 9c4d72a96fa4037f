import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ASSERTED_DELAY_SLACK_MS, arm, CONTROL, getDecision } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";
const DEPARTMENT = "/state/departments/dept_ml";

async function readParent(): Promise<string> {
  return (await api.call(undefined, "GET", CONTROL + DEPARTMENT)).body.parent_id;
}

describe("an override for one request", () => {
  it("by X-Sandbox-Fault answers a code as the operation itself would [interfaces 3]", async () => {
    const answer = await api.call("dan", "DELETE", "/v1/threads/thread_welcome", undefined, {
      "x-sandbox-fault": "RESOURCE_NOT_FOUND",
    });
    const real = await api.call("dan", "DELETE", "/v1/threads/thread_none");
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual(real.body);
    expect(getDecision(answer)).toBe("fault:header/RESOURCE_NOT_FOUND");
    const still = await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
    expect(still.status).toBe(200);
  });

  it("by CODE! forces a known code that the operation never answers [interfaces 3]", async () => {
    const refused = await api.call("dan", "DELETE", "/v1/threads/thread_welcome", undefined, {
      "x-sandbox-fault": "SESSION_NOT_FOUND",
    });
    expect(refused.status).toBe(400);
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
    expect(refused.body.detail).toContain("threads.delete never answers SESSION_NOT_FOUND");
    const forced = await api.call("dan", "DELETE", "/v1/threads/thread_welcome", undefined, {
      "x-sandbox-fault": "SESSION_NOT_FOUND!",
    });
    expect(forced.status).toBe(404);
    expect(forced.body.error.code).toBe("SESSION_NOT_FOUND");
  });

  it.each([
    ["x-sandbox-fault", "RATE_LIMIT_EXCEDED", "RATE_LIMIT_EXCEEDED"],
    ["x-sandbox-fault", "restt", "reset"],
    ["x-sandbox-fault", "slow-netwrk", "slow-network"],
    ["x-sandbox-fault", "receiver-down", "has no rule for threads.delete"],
    ["x-sandbox-delay", "5 secs", "5s"],
    ["x-sandbox-delay", "soon", "must be a duration"],
    ["x-sandbox-delay", "-1s", "must be a duration"],
    ["prefer", "code=abc", "is not a status"],
    ["prefer", "code", "is not a status"],
    ["prefer", "respond-async, code", "is not a status"],
    ["prefer", "code=418", "documents no answer with status 418"],
    ["prefer", "code=", "is not a status"],
    ["prefer", `code=${"x".repeat(300)}`, `code=${"x".repeat(40)} is not a status`],
  ])("by %s: %s is refused with 400 and the right form [interfaces 3]", async (header, value, hint) => {
    const answer = await api.call("dan", "DELETE", "/v1/threads/thread_welcome", undefined, {
      [header]: value,
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body.detail).toContain(hint);
    expect((await api.call("dan", "DELETE", "/v1/threads/thread_welcome")).status).toBe(200);
  });

  it("by Prefer: code=N answers the first documented error code with that status [interfaces 3]", async () => {
    const answer = await api.call(
      "ada",
      "POST",
      REPARENT,
      { new_parent_id: "dept_ops" },
      { prefer: "code=404" },
    );
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({
      code: "ORGANIZATION_NOT_FOUND",
      details: { organization_id: "org_acme" },
    });
    const among = await api.call(
      "ada",
      "POST",
      REPARENT,
      { new_parent_id: "dept_ops" },
      { prefer: "wait=5, code=422" },
    );
    expect(among.body.error.code).toBe("DEPARTMENT_CYCLE_DETECTED");
    expect(await readParent()).toBe("dept_eng");
  });

  it("by Prefer for a success or another preference changes nothing [interfaces 3]", async () => {
    for (const prefer of ["code=200", "respond-async", "return=minimal"]) {
      const answer = await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" }, { prefer });
      expect(answer.status).toBe(200);
      expect(getDecision(answer)).toBe("ok");
    }
  });

  it("by an unreadable Prefer is refused, also beside X-Sandbox-Fault [interfaces 3]", async () => {
    const fault: Record<string, string> = { "x-sandbox-fault": "RATE_LIMIT_EXCEEDED" };
    const prefer = "code=teapot";
    for (const headers of [{ prefer }, { prefer, ...fault }]) {
      const answer = await api.call("ada", "GET", "/v1/models", undefined, headers);
      expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining("is not a status")]);
    }
    const both = { prefer: "code=200", ...fault };
    expect((await api.call("ada", "GET", "/v1/models", undefined, both)).status).toBe(429);
  });

  it("by X-Sandbox-Delay waits on the wall clock of a frozen sandbox [interfaces 3]", async () => {
    const before = performance.now();
    const answer = await api.call("dan", "DELETE", "/v1/threads/thread_welcome", undefined, {
      "x-sandbox-delay": "250ms",
    });
    expect(performance.now() - before).toBeGreaterThan(250 - ASSERTED_DELAY_SLACK_MS);
    expect(answer.status).toBe(200);
    expect(getDecision(answer)).toBe("fault:header/delay");
    const clock = await api.call(undefined, "GET", `${CONTROL}/clock`);
    expect(clock.body.now).toBe("2026-03-15T12:00:00.000Z");
  });

  it("is named after the step that decided if it only delayed the answer [interfaces 3]", async () => {
    const answer = await api.call("dan", "DELETE", "/v1/threads/thread_none", undefined, {
      "x-sandbox-delay": "1ms",
    });
    expect(answer.status).toBe(404);
    expect(getDecision(answer)).toBe("access");
  });

  it("by a scenario's name applies its rule once, regardless of its schedule [interfaces 3]", async () => {
    const header = { "x-sandbox-fault": "flaky-ten-percent" };
    for (let i = 0; i < 3; i++) {
      const answer = await api.call("dan", "DELETE", "/v1/threads/thread_welcome", undefined, header);
      expect(answer.status).toBe(503);
      expect(getDecision(answer)).toBe("fault:header/failure");
    }
    expect((await api.call("dan", "DELETE", "/v1/threads/thread_welcome")).status).toBe(200);
  });

  it("by a scenario triggers after the commit if the rule says so [interfaces 3]", async () => {
    const answer = await api.call(
      "ada",
      "POST",
      REPARENT,
      { new_parent_id: "dept_ops" },
      { "x-sandbox-fault": "lost-answers" },
    );
    expect(answer.status).toBe(503);
    expect(getDecision(answer)).toBe("fault:header/lost-post");
    expect(await readParent()).toBe("dept_ops");
  });

  it("in a header takes precedence over an inline rule, and that over a scenario [interfaces 3]", async () => {
    await api.call(undefined, "PUT", `${CONTROL}/scenarios/active`, { names: ["outage-with-recovery"] });
    const call = (headers = {}) =>
      api.call("dan", "DELETE", "/v1/threads/thread_welcome", undefined, headers);
    expect(getDecision(await call())).toBe("fault:outage-with-recovery/outage");
    await arm(api, { id: "mine", effect: { error: "INSUFFICIENT_PERMISSIONS" } });
    expect(getDecision(await call())).toBe("fault:inline/mine");
    expect(getDecision(await call({ "x-sandbox-fault": "RATE_LIMIT_EXCEEDED" }))).toBe(
      "fault:header/RATE_LIMIT_EXCEEDED",
    );
  });

  it("is refused by a server that allows none, and only then [interfaces 3]", async () => {
    const closed = await startReference({ overrides: false });
    const ask = (headers: Record<string, string>) =>
      closed.call("ada", "GET", "/v1/models", undefined, headers);
    for (const headers of [
      { "x-sandbox-fault": "RATE_LIMIT_EXCEEDED" },
      { "x-sandbox-fault": "hang" },
      { "x-sandbox-fault": "no such thing" },
      { "x-sandbox-delay": "1h" },
      { prefer: "return=minimal, code=429" },
    ]) {
      const answer = await ask(headers as unknown as Record<string, string>);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ type: "urn:understudy:problem:override-refused" });
      expect(answer.body.detail).toContain("--no-overrides");
    }
    expect((await ask({ prefer: "return=minimal" })).status).toBe(200);
    await arm(closed, { match: { operation: "models.list" }, effect: { error: "RATE_LIMIT_EXCEEDED" } });
    expect((await ask({})).status).toBe(429);
    await closed.close();
  });

  it("does not apply to a route that does not exist [G04]", async () => {
    await arm(api, { effect: { status: 503 } });
    expect(
      (await api.call("dan", "GET", "/v1/nothing", undefined, { "x-sandbox-fault": "nonsense" })).status,
    ).toBe(404);
  });
});

describe("the answer of a fault", () => {
  it("has the operation's envelope only for a 5xx status [interfaces 6]", async () => {
    await arm(api, { effect: { status: 503 } });
    const a = await api.call("ada", "POST", REPARENT, { new_parent_id: null });
    expect(a.status).toBe(503);
    expect(a.body).toMatchObject({
      success: false,
      error: { code: "HTTP_503", type: "server_error", status: 503 },
    });
    expect(a.body.error.trace_id).toBe(a.headers.get("x-request-id"));
    expect(a.body.error.message).toBe("The service is unavailable.");
    const b = await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
    expect(b.body.error).toMatchObject({ code: "HTTP_503", type: "server_error" });
    await arm(api, { effect: { status: 418 } });
    const refused = await api.call("ada", "POST", REPARENT, { new_parent_id: null });
    expect(refused.body.error).toMatchObject({
      code: "HTTP_418",
      type: "client_error",
      message: "The request was refused.",
      system_message: "The service answered with status 418.",
    });
    await arm(api, { effect: { status: 503 } });
    const c = await api.call(undefined, "POST", "/v1/auth/token", {});
    expect(c.body).toMatchObject({ status_code: 503 });
    expect(await readParent()).toBe("dept_eng");
  });

  it("is exactly the given status, body and headers [interfaces 6]", async () => {
    await arm(api, {
      id: "json",
      times: 1,
      effect: { status: 418, body: { a: [1] }, headers: { "X-Own": "1" } },
    });
    const json = await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
    expect([json.status, json.body, json.headers.get("x-own")]).toEqual([418, { a: [1] }, "1"]);
    await arm(api, {
      effect: { status: 502, body: "<h1>Bad Gateway</h1>", headers: { "content-type": "text/html" } },
    });
    const html = await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
    expect([html.status, html.text, html.headers.get("content-type")]).toEqual([
      502,
      "<h1>Bad Gateway</h1>",
      "text/html",
    ]);
  });

  it("names the departments of the request for DEPARTMENT_CYCLE_DETECTED [interfaces 6]", async () => {
    await arm(api, { effect: { error: "DEPARTMENT_CYCLE_DETECTED" } });
    const { body } = await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" });
    expect(body.error.details).toEqual({ department_id: "dept_ml", new_parent_id: "dept_ops" });
  });

  it("names a limit for a 413, whatever body the operation takes [7.4, interfaces 6]", async () => {
    const announced = { filename: "a.txt", file_size: 5, mime_type: "text/plain" };
    const { body } = await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload-url", announced);
    const { pathname, search } = new URL(body.upload_url);
    const fault = { "x-sandbox-fault": "PAYLOAD_TOO_LARGE" };
    for (const [method, path, sent] of [
      ["PUT", pathname + search, "hello"],
      ["POST", "/v1/organizations/org_acme/files/upload", undefined],
      ["POST", REPARENT, { new_parent_id: null }],
    ] as const) {
      const refused = await api.call("ada", method, path, sent, fault);
      expect([path, refused.status]).toEqual([path, 413]);
      expect(refused.body.error.details.limit_bytes, path).toBeGreaterThan(0);
    }
  });

  it("looks like the real one for a 429, headers and details, and counts nothing [G05]", async () => {
    await arm(api, { times: 1, effect: { error: "RATE_LIMIT_EXCEEDED" } });
    const path = "/v1/analytics/usage/limits/org_globex";
    await api.advance(13_000);
    const fault = await api.call("eve", "GET", path);
    expect(fault.status).toBe(429);
    expect(fault.headers.get("retry-after")).toBe("47");
    let real = await api.call("eve", "GET", path);
    expect(real.headers.get("x-ratelimit-remaining")).toBe("99");
    for (let i = 0; i < 100; i++) real = await api.call("eve", "GET", path);
    expect(real.status).toBe(429);
    const { trace_id: _fault, ...faulted } = fault.body.error;
    const { trace_id: _real, ...refused } = real.body.error;
    expect(faulted).toEqual(refused);
    const listNames = (answer: typeof real) =>
      [...answer.headers.keys()].filter((name) => name !== "x-sandbox-decision").sort();
    expect(listNames(fault)).toEqual(listNames(real));
    for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"]) {
      expect(fault.headers.get(name), name).toBe(real.headers.get(name));
    }
  });

  it.each([
    ["organization", 1000],
    ["api_total", 600],
    ["api_key", 200],
  ])("shows the caller's own limit for an exhausted budget (%s) [G05]", async (scope, limit) => {
    await api.call(undefined, "PUT", `${CONTROL}/scenarios/active`, {
      names: [`budget-exhausted-${scope.replace("_", "-")}`],
    });
    const body = { model: "any", inputs: [{ role: "user", content: "hi" }] };
    const answer = await api.call("ben", "POST", "/v1/model/response", body);
    expect(answer.status).toBe(429);
    expect(answer.body.error).toMatchObject({
      code: "SPENDING_LIMIT_EXCEEDED",
      details: { scope, monthly_limit: limit, current_usage: limit },
    });
    expect(answer.headers.get("retry-after")).toBeNull();
  });

  it("follows the setting for authentication errors [G06]", async () => {
    await api.call(undefined, "PATCH", CONTROL, { settings: { auth_errors: "guide" } });
    const answer = await api.call("dan", "DELETE", "/v1/threads/thread_welcome", undefined, {
      "x-sandbox-fault": "AUTHENTICATION_REQUIRED",
    });
    expect(answer.body).toMatchObject({ status_code: 401, error_type: "AuthenticationError" });
  });

  it("is decided before credentials are checked [G04]", async () => {
    await arm(api, { effect: { error: "INSUFFICIENT_PERMISSIONS" } });
    expect((await api.call(undefined, "DELETE", "/v1/threads/thread_welcome")).status).toBe(403);
  });
});

describe("the phase of a fault", () => {
  it("is after: the change is committed, the answer is a 503, and a retry finds it done [interfaces 6]", async () => {
    await arm(api, {
      id: "lost",
      match: { operation: "departments.reparent" },
      times: 1,
      phase: "after",
      effect: { status: 503 },
    });
    const lost = await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" });
    expect(lost.status).toBe(503);
    expect(getDecision(lost)).toBe("fault:inline/lost");
    expect(await readParent()).toBe("dept_ops");
    const retry = await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" });
    expect(retry.body.parent_id).toBe("dept_ops");
  });

  it("is after: a refused request has committed nothing, and the rule does not apply [interfaces 6]", async () => {
    await arm(api, { phase: "after", effect: { status: 503 } });
    expect((await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ml" })).status).toBe(422);
    const { body } = await api.call(undefined, "GET", `${CONTROL}/faults`);
    expect(body.items[0].hits).toBe(0);
  });

  it("is before: nothing has changed [interfaces 6]", async () => {
    await arm(api, { effect: { status: 500 } });
    expect((await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" })).status).toBe(500);
    expect(await readParent()).toBe("dept_eng");
  });

  it("can match a body that the operation then reads and validates [interfaces 6]", async () => {
    await arm(api, { match: { body: { new_parent_id: "dept_archive" } }, effect: { status: 503 } });
    expect((await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" })).status).toBe(200);
    expect((await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_archive" })).status).toBe(503);
    expect(
      (await api.call("ada", "POST", REPARENT, '{"broken', { "content-type": "application/json" })).status,
    ).toBe(400);
    const huge = `{"new_parent_id": "${"x".repeat(11 * 1024 * 1024)}"}`;
    expect(
      (await api.call("ada", "POST", REPARENT, huge, { "content-type": "application/json" })).status,
    ).toBe(413);
  });

  it("can match a body that begins with a byte order mark, as verify does [interfaces 6]", async () => {
    const match = { operation: "departments.reparent", body: { new_parent_id: "dept_ops" } };
    await arm(api, { match, times: 1, effect: { status: 503 } });
    const body = `\ufeff${JSON.stringify(match.body)}`;
    const send = () => api.call("ada", "POST", REPARENT, body, { "content-type": "application/json" });
    expect([(await send()).status, (await send()).status]).toEqual([503, 200]);
    const found = await api.call(undefined, "POST", `${CONTROL}/journal/verify`, { match, count: 2 });
    expect(found.body).toMatchObject({ ok: true, found: 2 });
  });
});

describe("an inline rule over the control API", () => {
  it("is added, shown with its hits, and removed [interfaces 4]", async () => {
    const added = await api.call(undefined, "POST", `${CONTROL}/faults`, {
      match: { operation: "threads.delete" },
      times: 5,
      effect: { error: "INSUFFICIENT_PERMISSIONS" },
      lease: { ttl: "10m", hits: 2 },
    });
    expect(added.status).toBe(201);
    expect(added.body).toMatchObject({
      match: { operation: "threads.delete" },
      times: 5,
      effect: { error: "INSUFFICIENT_PERMISSIONS" },
      hits: 0,
      lease: { ttl: "10m", hits: 2 },
    });
    const { id } = added.body;
    await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
    const listed = await api.call(undefined, "GET", `${CONTROL}/faults`);
    expect(listed.body).toMatchObject({ total: 1, items: [{ id, hits: 1 }] });
    expect((await api.call(undefined, "DELETE", `${CONTROL}/faults/${id}`)).status).toBe(204);
    expect((await api.call(undefined, "DELETE", `${CONTROL}/faults/${id}`)).status).toBe(404);
    expect((await api.call("dan", "DELETE", "/v1/threads/thread_welcome")).status).toBe(200);
  });

  it("is refused with 422, its field and the right word if it is wrong [interfaces 4]", async () => {
    const answer = await api.call(undefined, "POST", `${CONTROL}/faults`, {
      match: { operation: "threads.delte" },
      effect: { status: 503 },
    });
    expect(answer.status).toBe(422);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body).toMatchObject({ field: "match.operation", hint: "threads.delete" });
  });

  it("keeps its hits and renews its lease if it is added again [interfaces 4]", async () => {
    const add = (rule: object) => api.call(undefined, "POST", `${CONTROL}/faults`, rule);
    const rule = { id: "mine", times: 2, effect: { status: 503 }, lease: { ttl: "10m" } };
    const first = await add(rule);
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(503);
    await api.call(undefined, "POST", `${CONTROL}/clock/advance`, { by: "9m" });
    const again = await add(rule);
    expect(again).toMatchObject({ status: 201, body: { id: "mine", hits: 1 } });
    const ends = [first, again].map(({ body }) => Date.parse(body.lease.ends_at));
    expect(ends[1]! - ends[0]!).toBe(9 * 60_000);
    expect((await add({ ...rule, times: 3 })).status).toBe(409);
    const { entries } = (await api.call(undefined, "GET", `${CONTROL}/history?kind=scenario`)).body;
    const titles = entries.map(({ title }: { title: string }) => title);
    expect(titles).toEqual(["The lease of the rule mine was renewed.", "The rule mine was armed."]);
    await api.call(undefined, "POST", `${CONTROL}/clock/advance`, { by: "9m" });
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(503);
    // The rule has no hits left.
    expect((await add(rule)).status).toBe(409);
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
  });

  it("is refused with 409 for an id in use, and DELETE without an id removes all [interfaces 4]", async () => {
    const rule = { id: "mine", effect: { status: 503 } };
    expect((await api.call(undefined, "POST", `${CONTROL}/faults`, rule)).status).toBe(201);
    expect((await api.call(undefined, "POST", `${CONTROL}/faults`, rule)).status).toBe(409);
    expect((await api.call(undefined, "DELETE", `${CONTROL}/faults`)).status).toBe(204);
    expect((await api.call(undefined, "GET", `${CONTROL}/faults`)).body).toEqual({ items: [], total: 0 });
  });

  it("is named as the reason in the journal, wire faults included [interfaces 4]", async () => {
    await arm(api, { id: "p", match: { principal: "usr_dan" }, probability: 1, effect: { status: 503 } });
    await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
    await api.call("ada", "DELETE", "/v1/threads/thread_none");
    const { body } = await api.call(undefined, "GET", `${CONTROL}/journal`);
    expect(body.entries[1]).toMatchObject({ status: 503, code: "HTTP_503", decision: "fault:inline/p" });
    expect(body.entries[1].reasons[0]).toMatch(/^inline\/p triggered: draw 0\.\d{4} is below 1$/);
    expect(body.entries[0]).toMatchObject({ status: 404, decision: "access" });
    expect(body.entries[0].reasons).toEqual([
      "nearest rule inline/p did not match: principal is not usr_dan",
      "thread_id thread_none was not found: it does not exist, or the caller has no access to it",
    ]);
  });
});
