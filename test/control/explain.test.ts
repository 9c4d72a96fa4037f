import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, EPOCH, KEYS, startReference } from "../support/harness.ts";

let api: Api;
let made = 0;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `/_control/sandboxes${path}`, body);
async function createSandbox(): Promise<string> {
  const name = `explain-${++made}`;
  expect((await control("POST", "", { name, clock: { mode: "frozen", now: EPOCH } })).status).toBe(201);
  return name;
}
const explain = (name: string, request: object) => control("POST", `/${name}/faults/explain`, request);
const arm = async (name: string, rule: object) =>
  expect((await control("POST", `/${name}/faults`, rule)).status).toBe(201);
const listModels = (name: string) => api.call("ada", "GET", `/_s/${name}/v1/models`);
const MODELS = { operation: "models.list", principal: "usr_ada" };

describe("faults/explain", () => {
  it("uses up no request number: the next request has the id that it would have had [interfaces 11]", async () => {
    const [asked, twin] = [await createSandbox(), await createSandbox()];
    for (let i = 0; i < 3; i++) expect((await explain(asked, MODELS)).status).toBe(200);
    const ids = [await listModels(asked), await listModels(twin)].map(({ headers }) =>
      headers.get("x-request-id"),
    );
    expect(ids[0]).toMatch(/^req_/);
    expect(ids[0]).toBe(ids[1]);
  });

  it("refuses a body where none is taken as the real call does [G09, interfaces 11]", async () => {
    const name = await createSandbox();
    await control("PATCH", `/${name}`, { settings: { unknown_fields: "reject" } });
    const { body } = await explain(name, { ...MODELS, body: { a: 1 } });
    expect(body).toMatchObject({ status: 422, decision: "validation", code: "INVALID_INPUT" });
  });

  it("lists the decision of each step and each rule, in the order in which they are asked [interfaces 11]", async () => {
    const name = await createSandbox();
    await control("PUT", `/${name}/scenarios/active`, { names: ["models-list-signed-out"] });
    await arm(name, { id: "other", match: { operation: "threads.delete" }, effect: { status: 503 } });
    await arm(name, {
      id: "late",
      match: { operation: "models.list" },
      phase: "after",
      effect: { status: 500 },
    });
    await arm(name, { id: "dans", match: { principal: "usr_dan" }, effect: { status: 503 } });
    await arm(name, {
      id: "never",
      match: { operation: "models.list" },
      probability: 0,
      effect: { status: 503 },
    });
    await arm(name, { id: "hook", match: { event: "user.*" }, effect: { status: 500 } });
    await arm(name, {
      id: "page",
      match: { path: "/v1/models", query: { page: "2" } },
      effect: { status: 503 },
    });
    await arm(name, { id: "wait", match: { operation: "models.list" }, effect: { delay: "5ms" } });
    const { body } = await explain(name, MODELS);
    expect(body).toMatchObject({
      operation: "models.list",
      decision: "fault:models-list-signed-out/signed-out",
      status: 401,
      code: "AUTHENTICATION_REQUIRED",
      principal: "usr_ada",
    });
    const makeWord = (rule: string, triggers: boolean, why: string, phase = "before") => ({
      rule,
      phase,
      triggers,
      why,
    });
    expect(body.rules).toEqual([
      makeWord("inline/wait", true, "it triggers on every call"),
      makeWord("inline/page", false, 'query page is not "2"'),
      makeWord("inline/hook", false, "it matches deliveries of events, not requests"),
      makeWord("inline/never", false, "its probability is 0"),
      makeWord("inline/dans", false, "principal is not usr_dan"),
      makeWord(
        "inline/late",
        false,
        "it triggers after the change, which the request does not reach",
        "after",
      ),
      makeWord("inline/other", false, "its match does not fit models.list"),
      makeWord("models-list-signed-out/signed-out", true, "it triggers on every call"),
    ]);
    const [route, fault, auth] = body.steps;
    expect(route).toEqual({ step: "route", outcome: "passes", says: "GET /v1/models is models.list" });
    expect([fault.step, fault.outcome]).toEqual(["fault", "decides"]);
    expect(fault.says).toContain("inline/wait delays by 5 ms; models-list-signed-out/signed-out triggered");
    expect(auth).toEqual({ step: "auth", outcome: "not reached", says: "" });
  });

  it("predicts schedules and draws, and counts nothing [interfaces 11]", async () => {
    const name = await createSandbox();
    await arm(name, { id: "sequence", match: { operation: "models.list" }, sequence: [503, "pass", 401] });
    await arm(name, {
      id: "drawn",
      match: { operation: "models.list" },
      probability: 0.5,
      effect: { delay: "1ms" },
    });
    const explained: string[] = [];
    const came: string[] = [];
    for (let i = 0; i < 5; i++) {
      await explain(name, MODELS);
      const { body } = await explain(name, MODELS);
      const { headers, status } = await listModels(name);
      explained.push(`${body.status} ${body.decision}`);
      came.push(`${status} ${headers.get("x-sandbox-decision")}`);
    }
    expect(explained).toEqual(came);
    expect(new Set(came).size).toBeGreaterThan(2);
    const { body } = await explain(name, MODELS);
    expect(body.rules[1]).toMatchObject({
      rule: "inline/sequence",
      why: "it is used up: it was triggered 2 times",
    });
    expect((await control("GET", `/${name}/journal`)).body.total).toBe(5);
  });

  it("names the calls that trigger a rule for every third call [interfaces 6]", async () => {
    const name = await createSandbox();
    await arm(name, { match: { operation: "models.list" }, every: 3, effect: { status: 503 } });
    const { body } = await explain(name, MODELS);
    expect(body.rules[0]).toMatchObject({
      triggers: false,
      why: "call 1; the rule triggers on calls 3, 6, 9, …",
    });
  });

  it("says how much of the rate window is left, and if it is used up [interfaces 11]", async () => {
    const name = await createSandbox();
    await control("PATCH", `/${name}/state/organizations/org_acme`, { plan: "enterprise", rate_limit: 1 });
    const [, , , left] = (await explain(name, MODELS)).body.steps;
    expect(left).toMatchObject({
      step: "rate-limit",
      outcome: "passes",
      says: "1 of 1 requests of this minute are left",
    });
    await listModels(name);
    const { body } = await explain(name, MODELS);
    expect([body.decision, body.status]).toEqual(["rate-limit", 429]);
    expect(body.steps[3].says).toBe(
      "the key apikey_ada has used its 1 request of this minute, which ends at 2026-03-15T12:01:00.000Z on the sandbox's clock",
    );
  });

  it("names the rate limit, and no fault, if it refuses a call that only a rule serves [interfaces 3]", async () => {
    const name = await createSandbox();
    await control("PATCH", `/${name}/state/organizations/org_acme`, { plan: "enterprise", rate_limit: 1 });
    await arm(name, { match: { path: "/v1/tools" }, effect: { body: { tools: [] } } });
    const ask = () => api.call("ada", "GET", `/_s/${name}/v1/tools`);
    expect((await ask()).status).toBe(200);
    const { body } = await explain(name, { method: "GET", path: "/v1/tools", principal: "usr_ada" });
    expect([body.decision, body.status]).toEqual(["rate-limit", 429]);
    const refused = await ask();
    expect([refused.status, refused.headers.get("x-sandbox-decision")]).toEqual([429, "rate-limit"]);
    const { entries } = (await control("GET", `/${name}/journal`)).body;
    expect(entries[0].decision).toBe("rate-limit");
    expect(entries[0]).not.toHaveProperty("fault");
  });

  it.each([
    ["share_links.resolve", {}, "requests of this operation are not counted"],
    [
      "auth.refresh_token",
      { body: { refresh_token: 5 } },
      "nothing is counted for this operation before its body is read",
    ],
  ])(
    "says what is counted for %s, which needs no credential [interfaces 11]",
    async (operation, more, says) => {
      const { body } = await explain(await createSandbox(), { operation, ...more });
      expect(body.steps[3]).toEqual({ step: "rate-limit", outcome: "passes", says });
    },
  );

  it("says why a rule is skipped behind one that decides, delays or holds [interfaces 11]", async () => {
    const name = await createSandbox();
    const match = { operation: "models.list" };
    await arm(name, { id: "answer-behind", match, effect: { status: 503 } });
    await arm(name, { id: "answer", match, effect: { status: 500 } });
    await arm(name, { id: "hold-behind", match, effect: { hold: true } });
    await arm(name, { id: "delay-behind", match, effect: { delay: "1ms" } });
    await arm(name, { id: "both", match, effect: { delay: "1ms", hold: true } });
    const explainRequest = async (request: object) => {
      const { body } = await explain(name, request);
      const skipped = body.rules.filter(({ triggers }: { triggers: boolean }) => !triggers);
      return Object.fromEntries(skipped.map((one: { rule: string; why: string }) => [one.rule, one.why]));
    };
    const expected = {
      "inline/delay-behind": "an earlier rule decided, or set the delay",
      "inline/hold-behind": "an earlier rule decided, or held the request",
      "inline/answer-behind": "an earlier rule decided",
    };
    expect(await explainRequest(MODELS)).toEqual(expected);
    expect(await explainRequest({ ...MODELS, headers: { "X-Sandbox-Delay": "5" } })).toEqual({
      ...expected,
      "inline/delay-behind": "the request sets its delay itself, which takes precedence",
    });
  });

  it("takes overrides, wire faults and rules that trigger after the change [interfaces 11]", async () => {
    const name = await createSandbox();
    const own = await explain(name, { ...MODELS, headers: { "X-Sandbox-Fault": "RATE_LIMIT_EXCEEDED" } });
    expect(own.body).toMatchObject({ decision: "fault:header/RATE_LIMIT_EXCEEDED", status: 429 });
    const wrong = await explain(name, { ...MODELS, headers: { "X-Sandbox-Fault": "NO_SUCH" } });
    expect(wrong.body).toMatchObject({ decision: "fault:header/refused", status: 400 });
    await arm(name, {
      id: "cut",
      match: { operation: "threads.delete" },
      phase: "after",
      effect: { wire: "reset" },
    });
    const thread = {
      operation: "threads.delete",
      params: { thread_id: "thread_long" },
      principal: "usr_dan",
    };
    const { body } = await explain(name, thread);
    expect(body).toMatchObject({ decision: "fault:inline/cut", status: 0, code: null });
    expect(body.steps[7]).toMatchObject({
      step: "rule",
      outcome: "passes",
      says: "the operation answers 200",
    });
    expect(body.rules).toEqual([
      { rule: "inline/cut", phase: "after", triggers: true, why: "it triggers on every call" },
    ]);
    expect((await control("GET", `/${name}/state/threads/thread_long`)).status).toBe(200);
  });

  it("checks as far as it can if a parameter is left out [interfaces 11]", async () => {
    const name = await createSandbox();
    const { body } = await explain(name, { operation: "threads.delete", principal: "usr_dan" });
    expect([body.decision, body.status]).toEqual([null, null]);
    expect(body.steps[4]).toEqual({
      step: "validation",
      outcome: "skipped",
      says: "it depends on thread_id, which was not given",
    });
    expect(body.steps[3].outcome).toBe("passes");
    const both = await explain(name, { operation: "departments.reparent", principal: "usr_dan" });
    expect(both.body.steps[4].says).toBe(
      "it depends on organization_id and department_id, which were not given",
    );
  });

  it("takes a query in the path [interfaces 11]", async () => {
    const name = await createSandbox();
    const path = "/v1/assistants/asst_helper/history?limit=100&action=nonsense";
    const { body } = await explain(name, { method: "get", path, principal: "usr_dan" });
    expect(body).toMatchObject({ operation: "assistants.list_history", decision: "validation", status: 422 });
    expect(body.steps[4].says).toContain("field action");
  });

  it.each([
    [{}, "operation is needed, or else both method and path."],
    [{ method: "GET" }, "operation is needed, or else both method and path."],
    [
      { operation: "models.lst" },
      'operation "models.lst" is not an operation of the emulated API. Did you mean "models.list"?',
    ],
    [
      { operation: "models.list", method: "GET" },
      "operation cannot be combined with method and path; leave one of them out.",
    ],
    [
      { operation: "threads.delete", params: { thread: "x" } },
      'params.thread is not a parameter of threads.delete, whose path has thread_id. Did you mean "thread_id"?',
    ],
    [
      { ...MODELS, principal: "usr_adda" },
      'principal "usr_adda" is not a user of this sandbox. Did you mean "usr_ada"?',
    ],
    [
      { ...MODELS, headers: { "API-Key": KEYS.ada } },
      "principal cannot be combined with the header api-key; leave one of them out.",
    ],
    [
      { method: "GET", path: "http://127.0.0.1/v1/models" },
      "path must begin with a slash, without host and sandbox prefix.",
    ],
    [
      { method: "GET", path: "/_s/x/v1/models" },
      "path must begin with a slash, without host and sandbox prefix.",
    ],
    [{ ...MODELS, bdy: 1 }, 'bdy is not known here. Did you mean "body"?'],
  ])("refuses %j with one sentence [interfaces 11]", async (request, sentence) => {
    const { status, body } = await explain("default", request);
    expect([status, body.detail]).toEqual([422, sentence]);
  });
});

describe("the journal's reasons of a refusal", () => {
  const getReason = async (name: string, path: string, headers: Record<string, string>, method = "GET") => {
    await api.call(undefined, method, `/_s/${name}${path}`, undefined, headers);
    const { body } = await control("GET", `/${name}/journal?limit=1`);
    return body.entries[0].reasons.at(-1);
  };

  it.each([
    [{}, "no credential was sent: neither api-key nor X-API-Key nor Authorization"],
    [
      { "api-key": "ak_short" },
      "api-key holds a value that is not an API key (ak_ and 39 letters or digits)",
    ],
    [
      { "x-api-key": KEYS.ada.replace("ada", "eda") },
      "X-API-Key holds an API key that this sandbox does not have",
    ],
    [{ "api-key": KEYS.revoked }, /^api-key holds the key apikey_\w+ of usr_ada, which was revoked$/],
    [{ "api-key": KEYS.expired }, /^api-key holds the key apikey_\w+ of usr_ada, which expired at 20\S+Z$/],
    [
      { "api-key": KEYS.finn },
      "api-key holds the key apikey_finn of usr_finn, which belongs to a user who is suspended",
    ],
    [
      { "api-key": KEYS.gus },
      "api-key holds the key apikey_gus of usr_gus, which belongs to a user who is disabled",
    ],
    [
      { authorization: `Bearer ${KEYS.revoked}` },
      /^Authorization holds the key apikey_\w+ of usr_ada, which was revoked$/,
    ],
    [{ authorization: "Bearer" }, "Authorization says Bearer, and nothing after it"],
    [{ authorization: KEYS.ada }, "Authorization holds an API key without `Bearer` before it"],
    [{ authorization: "Basic YTpi" }, "Authorization has the scheme Basic; `Bearer` is expected"],
    [{ authorization: "Bearer nonsense" }, "Authorization holds neither an API key nor an access token"],
    [
      { authorization: `Bearer ${KEYS.ada}`, "api-key": "ak_short" },
      "api-key holds a value that is not an API key (ak_ and 39 letters or digits); Authorization is then ignored",
    ],
  ])(
    "for a 401 say which credential was found where, and what was wrong: %j [interfaces 11]",
    async (headers, reason) => {
      const name = await createSandbox();
      const found = await getReason(name, "/v1/models", headers as Record<string, string>);
      if (typeof reason === "string") expect(found).toBe(reason);
      else expect(found).toMatch(reason);
    },
  );

  it("for a 401 say if an access token has expired, was not signed here, or lost its key [interfaces 11]", async () => {
    const name = await createSandbox();
    const { body } = await api.call("dan", "POST", `/_s/${name}/v1/auth/token`);
    const token = { authorization: `Bearer ${body.access_token}` };
    const other = await createSandbox();
    expect(await getReason(other, "/v1/models", token)).toContain(
      "an access token that this sandbox did not sign",
    );
    await control("POST", `/${name}/clock/advance`, { by: "2d" });
    expect(await getReason(name, "/v1/models", token)).toMatch(
      /^Authorization holds an access token of usr_dan, which expired at 2026-03-15T/,
    );
    await control("PATCH", `/${name}/state/users/usr_dan`, { account: "suspended" });
    expect(await getReason(name, "/v1/models", token)).toBe(
      "Authorization holds an access token of the key apikey_dan, which belongs to a user who is suspended",
    );
    await control("PATCH", `/${name}/state/api_keys/apikey_dan`, { user_id: "usr_ada" });
    expect(await getReason(name, "/v1/models", token)).toBe(
      "Authorization holds an access token of the key apikey_dan, which belongs to another user now",
    );
    await getReason(name, "/v1/auth/refresh", {}, "POST");
    const { body: journal } = await control("GET", `/${name}/journal?limit=1`);
    expect(journal.entries[0].reasons).toEqual([
      "the body has no refresh token that is unused and not expired",
    ]);
  });

  it.each([
    ["api_keys/apikey_dan", { user_id: "usr_ada" }, "belongs to another user now"],
    ["api_keys/apikey_dan", { revoked: true }, "was revoked"],
    ["users/usr_dan", { account: "suspended" }, "belongs to a user who is suspended"],
  ])("for a valid refresh token, after %s has %j, say that its key %s [interfaces 11]", async (...given) => {
    const [record, fields, problem] = given;
    const name = await createSandbox();
    const { body: grant } = await api.call("dan", "POST", `/_s/${name}/v1/auth/token`);
    expect((await control("PATCH", `/${name}/state/${record}`, fields)).status).toBe(200);
    const { refresh_token } = grant;
    const refusal = await api.call(undefined, "POST", `/_s/${name}/v1/auth/refresh`, { refresh_token });
    expect(refusal.status).toBe(401);
    const { body } = await control("GET", `/${name}/journal?limit=1`);
    expect(body.entries[0].reasons).toEqual([`the refresh token's key apikey_dan ${problem}`]);
  });

  it.each([
    [
      "dan",
      "GET",
      "/v1/admin/connector/auth-configs",
      "usr_dan is not allowed to do this: needs the role owner or admin in org_acme (has the role member)",
    ],
    [
      "eve",
      "GET",
      "/v1/organizations/org_acme/audit-log/export",
      "usr_eve is not allowed to do this: needs to be a member of org_acme",
    ],
    [
      "cleo",
      "DELETE",
      "/v1/threads/thread_long",
      "usr_cleo is not allowed to do this: needs to own the thread, which is usr_dan's, or the role owner or admin in org_acme (has the role member)",
    ],
    [
      "dan",
      "DELETE",
      "/v1/dashboards/dsh_revenue/share-links/slink_board",
      /^usr_dan is not allowed to do this: needs the capability report-create in org_acme/,
    ],
    [
      "ada",
      "DELETE",
      "/v1/threads/thread_nowhere",
      "thread_id thread_nowhere was not found: it does not exist, or the caller has no access to it",
    ],
    [
      "eve",
      "DELETE",
      "/v1/dashboards/dsh_revenue/share-links/slink_board",
      "dashboard_id dsh_revenue was not found: it is there, but usr_eve is not allowed to do this: needs to be a member of org_acme",
    ],
    [
      "ada",
      "GET",
      "/v1/nowhere",
      "No operation answers GET /v1/nowhere; `understudy openapi` lists those that do.",
    ],
    ["ada", "PUT", "/v1/models", "/v1/models does not answer PUT"],
    ["dan", "GET", "/v1/assistants/asst_helper/history?limit=100&action=nonsense", /field action/],
  ] as const)("for %s %s %s are %s [interfaces 11]", async (who, method, path, reason) => {
    const name = await createSandbox();
    const found = await getReason(name, path, { "api-key": KEYS[who] }, method);
    if (typeof reason === "string") expect(found).toBe(reason);
    else expect(found).toMatch(reason);
  });
});
