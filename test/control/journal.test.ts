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
async function createSandbox(body: object = {}): Promise<string> {
  const name = `journal-${++made}`;
  expect((await control("POST", "", { name, ...body })).status).toBe(201);
  return name;
}
const reparent = (name: string, to: string | null, who: "ada" | "dan" = "ada") =>
  api.call(who, "POST", `/_s/${name}/v1/organizations/org_acme/departments/dept_ops/reparent?x=1`, {
    new_parent_id: to,
  });
const listModels = (name: string) => api.call("ada", "GET", `/_s/${name}/v1/models`);

describe("journal", () => {
  it("lists the whole journal without a limit [interfaces 4]", async () => {
    const name = await createSandbox();
    for (let i = 0; i < 130; i++) await listModels(name);
    const { body } = await control("GET", `/${name}/journal`);
    expect([body.entries.length, body.total, body.dropped]).toEqual([130, 130, 0]);
  });

  it("an entry contains the request, the answer and the reasons [interfaces 4]", async () => {
    const name = await createSandbox();
    const answered = await reparent(name, "dept_ops");
    const { body } = await control("GET", `/${name}/journal`);
    expect(body).toMatchObject({ total: 1, dropped: 0 });
    expect(body.entries).toEqual([
      expect.objectContaining({
        id: answered.headers.get("x-request-id"),
        at: EPOCH,
        operation: "departments.reparent",
        method: "POST",
        path: "/v1/organizations/org_acme/departments/dept_ops/reparent",
        status: 422,
        code: "DEPARTMENT_CYCLE_DETECTED",
        duration_ms: expect.any(Number),
        principal: "usr_ada",
        decision: "rule",
        warnings: ["unknown query parameter x was ignored"],
      }),
    ]);
    const [entry] = body.entries;
    expect(entry.request).toMatchObject({ query: "x=1", body: { new_parent_id: "dept_ops" } });
    expect(entry.response.body).toEqual(answered.body);
    expect((await control("GET", `/${name}/journal/${entry.id}`)).body).toEqual(entry);
    expect((await control("GET", `/${name}/journal/req_nope`)).status).toBe(404);
  });

  it("is filtered, newest first [interfaces 4]", async () => {
    const name = await createSandbox();
    await reparent(name, "dept_ml");
    await reparent(name, "dept_ops");
    await reparent(name, null, "dan");
    await listModels(name);
    await control("POST", `/${name}/clock/advance`, { by: "1m" });
    await api.call(undefined, "GET", `/_s/${name}/v1/nothing`);
    const listStatuses = async (query: string) => {
      const { body } = await control("GET", `/${name}/journal?${query}`);
      expect(body.total).toBeGreaterThanOrEqual(body.entries.length);
      return body.entries.map(({ status }: { status: number }) => status);
    };
    expect(await listStatuses("")).toEqual([404, 200, 403, 422, 200]);
    expect(await listStatuses("operation=departments.reparent")).toEqual([403, 422, 200]);
    expect(await listStatuses("operation=models.*")).toEqual([200]);
    expect(await listStatuses("status=422")).toEqual([422]);
    expect(await listStatuses("status=4xx&limit=2")).toEqual([404, 403]);
    expect(await listStatuses("code=INSUFFICIENT_PERMISSIONS")).toEqual([403]);
    expect(await listStatuses("method=get")).toEqual([404, 200]);
    expect(await listStatuses("path=/v1/organizations/**")).toEqual([403, 422, 200]);
    expect(await listStatuses(`since=${encodeURIComponent("2026-03-15T12:00:30Z")}`)).toEqual([404]);
    for (const [field, query] of [
      ["operation", "operation=departmets.reparent"],
      ["status", "status=abc"],
      ["since", "since=recently"],
      ["limit", "limit=0"],
      ["path", "path=%7B"],
      ["opration", "opration=x"],
    ]) {
      const answer = await control("GET", `/${name}/journal?${query}`);
      expect([answer.status, answer.body.field]).toEqual([422, field]);
    }
  });

  it("contains as many entries as its setting says, and counts the lost ones [interfaces 4]", async () => {
    const name = await createSandbox({ settings: { journal_limit: 5 } });
    for (let i = 0; i < 8; i++) await listModels(name);
    expect((await control("GET", `/${name}/journal`)).body).toMatchObject({ total: 5, dropped: 3 });
    await control("PATCH", `/${name}`, { settings: { journal_limit: 2 } });
    expect((await control("GET", `/${name}/journal`)).body).toMatchObject({ total: 2, dropped: 6 });
    expect((await control("DELETE", `/${name}/journal`)).status).toBe(204);
    expect((await control("GET", `/${name}/journal`)).body).toEqual({ entries: [], total: 0, dropped: 0 });
  });

  it("verify counts, and explains the nearest entries best first [interfaces 4]", async () => {
    const name = await createSandbox();
    await listModels(name);
    await reparent(name, "dept_ml");
    await reparent(name, null);
    const verify = (match: object, count: unknown) =>
      control("POST", `/${name}/journal/verify`, { match, count });
    const operation = "departments.*";
    expect((await verify({ operation }, 2)).body).toEqual({ ok: true, found: 2, nearest: [] });
    expect((await verify({ operation, body: { new_parent_id: null } }, 1)).body.ok).toBe(true);
    expect(
      (
        await verify(
          { operation, status: 200, path: "/v1/organizations/*/departments/{id}/reparent" },
          { min: 1, max: 2 },
        )
      ).body.ok,
    ).toBe(true);
    expect((await verify({ operation: "threads.delete" }, 0)).body).toEqual({
      ok: true,
      found: 0,
      nearest: [],
    });
    expect((await verify({ operation }, { max: 1 })).body).toMatchObject({ ok: false, found: 2 });
    const missed = (await verify({ operation, body: { new_parent_id: "dept_infra" } }, 1)).body;
    expect(missed).toMatchObject({ ok: false, found: 0 });
    expect(missed.nearest[0]).toMatchObject({
      operation: "departments.reparent",
      differences: ['body.new_parent_id is null, not "dept_infra"'],
    });
    expect(missed.nearest.at(-1)).toMatchObject({ operation: "models.list" });
    expect(missed.nearest.at(-1).differences).toHaveLength(2);
  });

  it.each([
    ["match", { count: 1 }],
    ["count", { match: {} }],
    ["count", { match: {}, count: -1 }],
    ["count", { match: {}, count: { min: 3, max: 1 } }],
    ["count.least", { match: {}, count: { least: 1 } }],
    ["match.opration", { match: { opration: "x" }, count: 1 }],
    ["match.operation", { match: { operation: "thread.delete" }, count: 0 }],
    ["match.path", { match: { path: "{" }, count: 1 }],
    ["match.code", { match: { code: "HTTP_999" }, count: 0 }],
    ["match.status", { match: { status: "many" }, count: 1 }],
  ])("verify refuses a wrong %s [interfaces 4]", async (field, body) => {
    const answer = await control("POST", "/default/journal/verify", body);
    expect([answer.status, answer.body.field], answer.text).toEqual([422, field]);
  });

  it("verify takes a method in any case, and refuses an unknown code with the nearest one [interfaces 4]", async () => {
    const verify = (match: object) => control("POST", "/default/journal/verify", { match, count: 0 });
    const before = (await control("POST", "/default/journal/verify", { match: { method: "GET" }, count: 0 }))
      .body;
    expect((await verify({ method: "get" })).body).toEqual(before);
    const refused = await verify({ code: "INVALID_INPT" });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({ field: "match.code", hint: "INVALID_INPUT" });
    expect((await verify({ code: "HTTP_503" })).status).toBe(200);
    expect((await control("GET", "/default/journal?code=INVALID_INPT")).status).toBe(422);
  });

  it("verify is 409 after entries were lost [interfaces 4]", async () => {
    const name = await createSandbox({ settings: { journal_limit: 2 } });
    for (let i = 0; i < 3; i++) await listModels(name);
    const body = { match: { operation: "models.list" }, count: { min: 1 } };
    const answer = await control("POST", `/${name}/journal/verify`, body);
    expect([answer.status, answer.body.ok]).toEqual([409, undefined]);
    expect(answer.body.detail).toContain("evicted 1 entry");
    await control("DELETE", `/${name}/journal`);
    await listModels(name);
    expect((await control("POST", `/${name}/journal/verify`, body)).body.ok).toBe(true);
  });

  it("can be exported as HAR 1.2, oldest first [interfaces 4]", async () => {
    const name = await createSandbox();
    await reparent(name, "dept_ml");
    await listModels(name);
    const answer = await control("GET", `/${name}/journal.har`);
    const { log } = answer.body;
    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${name}.har"`);
    expect([log.version, log.entries.length]).toEqual(["1.2", 2]);
    const [first] = log.entries;
    expect(first).toMatchObject({
      startedDateTime: EPOCH,
      request: {
        method: "POST",
        url: `${api.url}/_s/${name}/v1/organizations/org_acme/departments/dept_ops/reparent?x=1`,
        queryString: [{ name: "x", value: "1" }],
        postData: { mimeType: "application/json", text: '{"new_parent_id":"dept_ml"}' },
      },
      response: { status: 200, statusText: "OK", content: { mimeType: "application/json; charset=utf-8" } },
      cache: {},
      timings: { send: 0, wait: expect.any(Number), receive: 0 },
    });
    expect(JSON.parse(first.response.content.text).id).toBe("dept_ops");
  });
});

describe("journal stream", () => {
  interface Follower {
    ids: number[];
    entries: { id: string; operation: string | null }[];
    until(count: number): Promise<void>;
    ended: Promise<void>;
    stop(): void;
  }

  async function follow(name: string, last?: number): Promise<Follower> {
    const gone = new AbortController();
    const response = await fetch(`${api.url}/_control/sandboxes/${name}/journal/stream`, {
      signal: gone.signal,
      headers: last === undefined ? {} : { "Last-Event-ID": String(last) },
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
    ]);
    const ids: number[] = [];
    const entries: Follower["entries"] = [];
    const waiting = new Set<() => void>();
    const ended = (async () => {
      let text = "";
      for await (const chunk of response.body!) {
        text += Buffer.from(chunk).toString();
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const event = text.slice(0, end);
          text = text.slice(end + 2);
          const data = /^data: (.*)$/m.exec(event);
          if (data === null) continue;
          ids.push(Number(/^id: (\d+)$/m.exec(event)![1]));
          entries.push(JSON.parse(data[1]!));
          for (const wake of waiting) wake();
        }
      }
    })();
    ended.catch(() => {});
    return {
      ids,
      entries,
      ended,
      stop: () => gone.abort(),
      until: (count) =>
        new Promise((resolve) => {
          const look = () => {
            if (ids.length < count) return;
            waiting.delete(look);
            resolve();
          };
          waiting.add(look);
          look();
        }),
    };
  }

  it("sends one event per entry, and resumes by Last-Event-ID [interfaces 4]", async () => {
    const name = await createSandbox();
    await listModels(name);
    const live = await follow(name);
    await reparent(name, "dept_ml");
    await listModels(name);
    await live.until(2);
    expect(live.entries.map(({ operation }) => operation)).toEqual(["departments.reparent", "models.list"]);
    live.stop();
    await listModels(name);
    const resumed = await follow(name, live.ids[0]);
    await resumed.until(2);
    expect(resumed.entries[0]!.id).toBe(live.entries[1]!.id);
    expect(resumed.ids).toEqual([live.ids[1], live.ids[1]! + 1]);
    resumed.stop();
    const whole = await follow(name, 0);
    await whole.until(4);
    whole.stop();
    const refused = await api.call(
      undefined,
      "GET",
      `/_control/sandboxes/${name}/journal/stream`,
      undefined,
      { "Last-Event-ID": "x" },
    );
    expect(refused.status).toBe(422);
  });

  it("continues after a reset and a cleared journal, and ends with its sandbox [interfaces 4]", async () => {
    const name = await createSandbox();
    const live = await follow(name);
    await listModels(name);
    await live.until(1);
    await control("POST", `/${name}/reset`);
    await listModels(name);
    await live.until(2);
    await control("DELETE", `/${name}/journal`);
    await listModels(name);
    await live.until(3);
    await control("DELETE", `/${name}`);
    await live.ended;
  });

  it("is closed with the server, which still answers running requests", async () => {
    const server = await startReference();
    const stream = await fetch(`${server.url}/_control/sandboxes/default/journal/stream`);
    const slow = await server.call(undefined, "POST", "/_control/sandboxes/default/faults", {
      match: { operation: "models.list" },
      effect: { delay: "300ms" },
    });
    expect(slow.status, slow.text).toBe(201);
    const asked = server.call("ada", "GET", "/v1/models");
    const { world } = server.understudy.sandboxes.get("default")!;
    while (world.requests === 0) await new Promise((resolve) => setImmediate(resolve));
    const closed = server.close();
    expect((await asked).status).toBe(200);
    for await (const _chunk of stream.body!);
    await closed;
    await expect(server.call("ada", "GET", "/v1/models")).rejects.toThrow();
  });
});

describe("secrets in the journal [quality 2.14]", () => {
  it("are masked in journal, entry, stream, search and archive, wherever they were sent", async () => {
    const name = await createSandbox();
    const prefix = `${api.url}/_s/${name}`;
    const canary = "canary7Q";
    const key = `ak_${canary}${"0".repeat(31)}`;
    const token = `${canary}${"x1".repeat(20)}`;
    const post = (path: string, body: string, headers: Record<string, string> = {}) =>
      fetch(prefix + path, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...headers },
      });
    await fetch(`${prefix}/v1/models`, { headers: { "api-key": key } });
    await fetch(`${prefix}/v1/models`, { headers: { "x-api-key": canary } });
    await fetch(`${prefix}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
    await fetch(`${prefix}/v1/models`, {
      headers: { authorization: `Basic ${canary}`, cookie: `s=${canary}` },
    });
    await fetch(`${prefix}/v1/models?api_key=${canary}&token=${canary}`, {
      headers: { "api-key": KEYS.ada },
    });
    await fetch(`${prefix}/v1/nothing/${token}`, { headers: { "api-key": KEYS.ada } });
    await post("/v1/auth/token", JSON.stringify({ api_key: key }));
    await post("/v1/auth/token", JSON.stringify({ api_key: { inner: canary } }));
    await post("/v1/auth/token", `{"api_key": "${canary}`);
    await post("/v1/auth/refresh", JSON.stringify({ refresh_token: canary }));
    const issued = (await (await post("/v1/auth/token", "", { "api-key": KEYS.ada })).json()) as Record<
      string,
      string
    >;
    await post("/v1/auth/refresh", JSON.stringify({ refresh_token: issued["refresh_token"] }));
    const hook = await post(
      "/v1/webhooks",
      JSON.stringify({ url: `http://127.0.0.1:9/${token}?secret=${canary}`, events: ["user.created"] }),
      { "api-key": KEYS.ada },
    );
    const created = (await hook.text()).match(/whsec_[\w-]+/)?.[0];

    const entries = (await control("GET", `/${name}/journal`)).text;
    const har = (await control("GET", `/${name}/journal.har`)).text;
    const verify = (
      await control("POST", `/${name}/journal/verify`, { match: { body: { api_key: "x" } }, count: 1 })
    ).text;
    const secrets = [
      canary,
      KEYS.ada,
      issued["refresh_token"]!,
      issued["access_token"]!.split(".")[1]!,
      issued["access_token"]!.split(".")[2]!,
    ];
    for (const secret of [...secrets, ...(created ? [created] : [])]) {
      for (const text of [entries, har, verify]) expect(text).not.toContain(secret);
      const found = await control("GET", `/${name}/journal/search?body=${encodeURIComponent(secret)}`);
      expect(found.body, secret).toEqual({ seqs: [] });
    }
  });
});

describe("reports", () => {
  it("contain metrics in Prometheus' text format [interfaces 4]", async () => {
    const name = await createSandbox();
    await listModels(name);
    const answer = await api.call(undefined, "GET", "/_control/metrics");
    expect(answer.headers.get("content-type")).toContain("text/plain");
    for (const line of answer.text.trimEnd().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/);
    }
    expect(answer.text).toMatch(/^understudy_requests_total\{operation="models.list",status="200"\} \d+$/m);
    expect(answer.text).toMatch(/^understudy_sandboxes \d+$/m);
  });

  it("contain the OpenAPI document and the ledger [interfaces 4]", async () => {
    const openapi = (await api.call(undefined, "GET", "/_control/openapi.json")).body;
    expect(openapi.openapi).toMatch(/^3\.1/);
    expect(Object.keys(openapi.paths).length).toBeGreaterThan(5);
    const ledger = (await api.call(undefined, "GET", "/_control/fidelity")).body;
    expect(ledger.assumptions.map(({ id }: { id: string }) => id)).toContain("G01");
  });
});
