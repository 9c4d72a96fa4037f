import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, startReference, type Who } from "./harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const BASE = "/v1/organizations/org_acme/knowledge/connectors";
const CONTROL = "/_control/sandboxes/default";

const list = (query = "", who: Who = "dan") => api.call(who, "GET", `${BASE}/jobs${query}`);
const job = (id: string, who: Who = "dan") => api.call(who, "GET", `${BASE}/jobs/${id}`);
const trigger = (connection_id: string, job_type = "sync", who: Who = "dan") =>
  api.call(who, "POST", `${BASE}/jobs`, { connection_id, job_type });
const cancel = (id: string, who: Who = "dan") => api.call(who, "POST", `${BASE}/jobs/${id}/cancel`);
const state = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `${CONTROL}/state/${path}`, body);
const idsOf = (body: { jobs: { job_id: string }[] }) => body.jobs.map(({ job_id }) => job_id);

/** Many jobs of every kind, a minute and a half apart, in an organization that has none. */
async function seedJobs(): Promise<void> {
  await state("POST", "connections", { id: "conn_one", organization_id: "org_hooli" });
  await state("POST", "connections", { id: "conn_two", organization_id: "org_hooli" });
  for (let n = 0; n < 12; n++) {
    await state("POST", "connector_jobs", {
      job_id: `job_${String(n).padStart(2, "0")}`,
      connection_id: n % 2 ? "conn_one" : "conn_two",
      job_type: n % 3 ? "sync" : "reset",
      status: ["succeeded", "failed", "cancelled"][n % 3],
      start_time: new Date(Date.UTC(2026, 2, 10 + Math.floor(n / 4), 8, n)).toISOString(),
      duration: [30, 10, 30, 20][n % 4],
    });
  }
}
const hooli = (query = "") =>
  api.call("ivan", "GET", `/v1/organizations/org_hooli/knowledge/connectors/jobs${query}`);

describe("connector_jobs.list", () => {
  it("4.13 2.10 lists the organization's jobs, newest first", async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["jobs", "total", "limit", "offset"]);
    expect([body.total, body.limit, body.offset]).toEqual([3, 50, 0]);
    expect(idsOf(body)).toEqual(["job_sync_running", "job_reset_failed", "job_sync_done"]);
    expect(body.jobs[2]).toEqual({
      job_id: "job_sync_done",
      status: "succeeded",
      job_type: "sync",
      start_time: "2026-03-14T08:00:00.000Z",
      connection_id: "conn_drive",
      bytes_synced: 1048576,
      rows_synced: 512,
      duration: 42,
    });
  });

  it.each([
    ["connection_id=conn_drive", ["job_sync_running", "job_sync_done"]],
    ["job_type=reset", ["job_reset_failed"]],
    ["status=running", ["job_sync_running"]],
    ["status=succeeded&job_type=sync", ["job_sync_done"]],
    ["connection_id=conn_drive&job_type=sync&status=running", ["job_sync_running"]],
    ["connection_id=conn_wiki&job_type=sync", []],
    ["connection_id=conn_unknown", []],
    ["status=cancelled", []],
  ])("4.13 filters by %s", async (query, expected) => {
    const { body } = await list(`?${query}`);
    expect([idsOf(body), body.total]).toEqual([expected, expected.length]);
  });

  it.each([
    ["start_date=2026-03-15", ["job_sync_running"]],
    ["end_date=2026-03-14", ["job_reset_failed", "job_sync_done"]],
    ["start_date=2026-03-14T08:00:00Z&end_date=2026-03-14T08:00:00Z", ["job_sync_done"]],
    ["start_date=2026-03-14T08:00:00.001Z&end_date=2026-03-14", ["job_reset_failed"]],
    ["start_date=2026-03-16", []],
  ])("G14 G28 dates narrow by start_time, both ends included: %s", async (query, expected) => {
    const { body } = await list(`?${query}`);
    expect([idsOf(body), body.total]).toEqual([expected, expected.length]);
  });

  it("G14 orders by start time and duration, a running job's missing duration last in both", async () => {
    const ordered = async (order: string) => idsOf((await list(`?order_by=${order}`)).body);
    expect(await ordered("-start_time")).toEqual(["job_sync_running", "job_reset_failed", "job_sync_done"]);
    expect(await ordered("start_time")).toEqual(["job_sync_done", "job_reset_failed", "job_sync_running"]);
    expect(await ordered("-duration")).toEqual(["job_sync_done", "job_reset_failed", "job_sync_running"]);
    expect(await ordered("duration")).toEqual(["job_reset_failed", "job_sync_done", "job_sync_running"]);
  });

  it("4.13 filters, then orders, then pages; ties by id", async () => {
    await seedJobs();
    const all = (await hooli("?limit=100")).body.jobs as Record<string, string | number>[];
    expect(all).toHaveLength(12);
    for (const order_by of ["start_time", "-start_time", "duration", "-duration"]) {
      for (const filter of [
        "",
        "&connection_id=conn_one",
        "&job_type=sync&start_date=2026-03-11",
        "&end_date=2026-03-11",
      ]) {
        const params = new URLSearchParams(filter);
        const field = order_by.replace("-", "");
        const sign = order_by.startsWith("-") ? -1 : 1;
        const expected = all
          .filter((one) => !params.has("connection_id") || one.connection_id === params.get("connection_id"))
          .filter((one) => !params.has("job_type") || one.job_type === params.get("job_type"))
          .filter((one) => String(one.start_time).slice(0, 10) >= (params.get("start_date") ?? ""))
          .filter((one) => String(one.start_time).slice(0, 10) <= (params.get("end_date") ?? "9"))
          .sort(
            (a, b) =>
              sign * (a[field]! < b[field]! ? -1 : a[field]! > b[field]! ? 1 : 0) ||
              (a.job_id! < b.job_id! ? -1 : 1),
          )
          .map(({ job_id }) => job_id);
        const pages = [0, 5, 10].map((offset) =>
          hooli(`?order_by=${order_by}${filter}&limit=5&offset=${offset}`),
        );
        const found = await Promise.all(pages);
        expect(
          found.flatMap(({ body }) => idsOf(body)),
          `${order_by}${filter}`,
        ).toEqual(expected);
        for (const { body } of found) expect(body.total).toBe(expected.length);
      }
    }
  });

  it.each([
    ["limit=0", { field: "limit", value: 0 }],
    ["limit=101", { field: "limit", value: 101 }],
    ["offset=-1", { field: "offset", value: -1 }],
    ["job_type=full", { field: "job_type", value: "full" }],
    ["status=done", { field: "status", value: "done" }],
    ["order_by=rows", { field: "order_by", value: "rows" }],
    ["connection_id=drive", { field: "connection_id", value: "drive" }],
    ["start_date=yesterday", { field: "start_date", value: "yesterday" }],
    ["start_date=2026-03-15&end_date=2026-03-14", { field: "start_date", value: "2026-03-15" }],
  ])("G08 G28 %s is 422", async (query, details) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.error.code, body.error.details]).toEqual([422, "INVALID_INPUT", details]);
  });
});

describe("connector jobs on the clock", () => {
  it("3.2 G14 the reference world's running job grows with time and succeeds after its 30 seconds", async () => {
    const first = (await job("job_sync_running")).body;
    expect([first.status, first.duration]).toEqual(["running", null]);
    expect(first.bytes_synced).toBeGreaterThan(0);
    await api.advance(10_000);
    const second = (await job("job_sync_running")).body;
    expect(second.bytes_synced).toBeGreaterThan(first.bytes_synced);
    expect(second.rows_synced).toBeGreaterThan(first.rows_synced);
    await api.advance(9_999);
    expect((await job("job_sync_running")).body.status).toBe("running");
    await api.advance(1);
    const done = (await job("job_sync_running")).body;
    expect([done.status, done.duration]).toEqual(["succeeded", 30]);
    expect(done.bytes_synced).toBeGreaterThan(second.bytes_synced);
    await api.advance(3_600_000);
    expect((await job("job_sync_running")).body).toEqual(done);
  });

  it("G14 the job's end stands among what is pending, and advance reports it", async () => {
    const pending = (await api.call(undefined, "GET", `${CONTROL}/clock/pending`)).body;
    const due = { kind: "connector.job", subject: "job_sync_running" };
    expect(pending).toContainEqual({ due_at: "2026-03-15T12:00:20.000Z", ...due });
    const { body } = await api.call(undefined, "POST", `${CONTROL}/clock/advance`, { by: "1m" });
    expect(body.ran).toContainEqual({ at: "2026-03-15T12:00:20.000Z", ...due });
  });

  it("4.13 G14 triggering answers 201 with a job that runs for the setting's time", async () => {
    await api.call(undefined, "PATCH", CONTROL, { settings: { connector_job_seconds: 90 } });
    const { status, body } = await trigger("conn_wiki", "reset");
    expect(status).toBe(201);
    expect(body).toEqual({
      job_id: expect.stringMatching(/^job_/),
      status: "running",
      job_type: "reset",
      start_time: "2026-03-15T12:00:00.000Z",
      connection_id: "conn_wiki",
      bytes_synced: 0,
      rows_synced: 0,
      duration: null,
    });
    await api.call(undefined, "PATCH", CONTROL, { settings: { connector_job_seconds: 1 } });
    await api.advance(89_000);
    expect((await job(body.job_id)).body.status).toBe("running");
    await api.advance(1_000);
    expect((await job(body.job_id)).body).toMatchObject({ status: "succeeded", duration: 90 });
  });

  it("G14 a job that takes no time has succeeded when it is looked at", async () => {
    await api.call(undefined, "PATCH", CONTROL, { settings: { connector_job_seconds: 0 } });
    const { body } = await trigger("conn_wiki");
    expect((await job(body.job_id)).body).toMatchObject({ status: "succeeded", duration: 0 });
    expect((await trigger("conn_wiki")).status).toBe(201);
  });

  it("G14 one running job per connection and type", async () => {
    const { status, body } = await trigger("conn_drive");
    expect([status, body.error.code, body.error.details]).toEqual([
      422,
      "INVALID_INPUT",
      { field: "connection_id", value: "conn_drive" },
    ]);
    expect((await trigger("conn_drive", "reset")).status).toBe(201);
    expect((await trigger("conn_wiki")).status).toBe(201);
    await api.advance(20_000);
    expect((await trigger("conn_drive")).status).toBe(201);
    const both = await Promise.all([trigger("conn_wiki", "reset"), trigger("conn_wiki", "reset")]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 422]);
  });

  it("4.13 G14 cancelling keeps what was synced; a second time is 422", async () => {
    await api.advance(5_500);
    const { bytes_synced, rows_synced } = (await job("job_sync_running")).body;
    const answer = await cancel("job_sync_running");
    expect([answer.status, answer.text]).toEqual([204, ""]);
    await api.advance(600_000);
    expect((await job("job_sync_running")).body).toMatchObject({
      status: "cancelled",
      duration: 15,
      bytes_synced,
      rows_synced,
    });
    for (const [id, value] of [
      ["job_sync_running", "cancelled"],
      ["job_sync_done", "succeeded"],
      ["job_reset_failed", "failed"],
    ] as const) {
      const { status, body } = await cancel(id);
      expect([status, body.error.details]).toEqual([422, { field: "status", value }]);
    }
    expect((await trigger("conn_drive")).status).toBe(201);
  });

  it("G14 a snapshot holds a job's end", async () => {
    await api.call(undefined, "POST", `${CONTROL}/snapshots`, { name: "running" });
    await api.advance(60_000);
    await api.call(undefined, "POST", `${CONTROL}/snapshots/running/restore`);
    expect((await job("job_sync_running")).body.status).toBe("running");
    await api.advance(20_000);
    expect((await job("job_sync_running")).body.status).toBe("succeeded");
  });
});

describe("connector access", () => {
  const requests: [string, string, object | undefined][] = [
    ["GET", "jobs", undefined],
    ["GET", "jobs/job_sync_done", undefined],
    ["POST", "jobs", { connection_id: "conn_drive", job_type: "reset" }],
    ["POST", "jobs/job_sync_running/cancel", undefined],
    ["GET", "notifications", undefined],
    ["PATCH", "notifications", { notifications: [] }],
    ["POST", "notifications/test", { notification_type: "email" }],
  ];

  it.each(requests)("G03 %s %s: unknown organization 404, stranger 403", async (method, rest, body) => {
    const unknown = await api.call(
      "dan",
      method,
      `/v1/organizations/org_nope/knowledge/connectors/${rest}`,
      body,
    );
    expect([unknown.status, unknown.body.error.code, unknown.body.error.details]).toEqual([
      404,
      "ORGANIZATION_NOT_FOUND",
      { organization_id: "org_nope" },
    ]);
    const stranger = await api.call("eve", method, `${BASE}/${rest}`, body);
    expect([stranger.status, stranger.body.error.code]).toEqual([403, "ORGANIZATION_ACCESS_DENIED"]);
  });

  it("G14 unknown jobs and connections are 404, those of another organization too", async () => {
    await state("POST", "connections", { id: "conn_globex", organization_id: "org_globex" });
    await state("POST", "connector_jobs", { job_id: "job_globex", connection_id: "conn_globex" });
    for (const id of ["job_nope", "job_globex"]) {
      for (const answer of [await job(id), await cancel(id)]) {
        expect([answer.status, answer.body.error.code, answer.body.error.details]).toEqual([
          404,
          "RESOURCE_NOT_FOUND",
          { job_id: id },
        ]);
      }
    }
    for (const id of ["conn_nope", "conn_globex"]) {
      const { status, body } = await trigger(id);
      expect([status, body.error.details]).toEqual([404, { connection_id: id }]);
    }
  });

  it.each([
    [{}, { field: "connection_id", value: null }],
    [{ connection_id: "conn_drive" }, { field: "job_type", value: null }],
    [
      { connection_id: "conn_drive", job_type: "full" },
      { field: "job_type", value: "full" },
    ],
    [
      { connection_id: 7, job_type: "sync" },
      { field: "connection_id", value: 7 },
    ],
  ])("G08 triggering with %j is 422", async (body, details) => {
    const answer = await api.call("dan", "POST", `${BASE}/jobs`, body);
    expect([answer.status, answer.body.error.details]).toEqual([422, details]);
  });
});

interface Heard {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any;
}

/** A receiver that answers with one status and remembers what it heard. */
async function receiver(status = 200): Promise<{ url: string; heard: Heard[]; close: () => void }> {
  const heard: Heard[] = [];
  const server: Server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      heard.push({ path: request.url!, headers: request.headers, body: JSON.parse(text) });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    heard,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const setRules = (notifications: unknown) =>
  api.call("dan", "PATCH", `${BASE}/notifications`, { notifications });
const outbox = async () => (await api.call(undefined, "GET", `${CONTROL}/outbox`)).body.items;
const OK = ["connector.job.succeeded"];

describe("connector notifications", () => {
  it("4.14 G15 the config is empty at first; PATCH replaces it, per organization", async () => {
    const empty = await api.call("dan", "GET", `${BASE}/notifications`);
    expect(empty.body).toEqual({ organization_id: "org_acme", notifications: [], updated_at: null });
    const rules = [
      {
        type: "webhook",
        url: "https://example.test/hook",
        events: ["connector.job.failed", "file.processed"],
      },
      { type: "email", email: "ops@acme.test", events: OK },
    ];
    const set = await setRules(rules);
    expect(set.status).toBe(200);
    expect(set.body).toEqual({
      organization_id: "org_acme",
      notifications: rules,
      updated_at: "2026-03-15T12:00:00.000Z",
    });
    expect((await api.call("ada", "GET", `${BASE}/notifications`)).body).toEqual(set.body);
    expect((await setRules([rules[1]])).body.notifications).toEqual([rules[1]]);
    expect((await setRules([])).body.notifications).toEqual([]);
    const globex = "/v1/organizations/org_globex/knowledge/connectors/notifications";
    expect((await api.call("eve", "GET", globex)).body.notifications).toEqual([]);
  });

  it.each([
    [{}, "notifications", null],
    [{ notifications: {} }, "notifications", {}],
    [{ notifications: [{}] }, "notifications[0].type", null],
    [{ notifications: [{ type: "sms", events: OK }] }, "notifications[0].type", "sms"],
    [{ notifications: [{ type: "webhook", events: OK }] }, "notifications[0].url", null],
    [{ notifications: [{ type: "email", events: OK }] }, "notifications[0].email", null],
    [{ notifications: [{ type: "email", email: "nobody", events: OK }] }, "notifications[0].email", "nobody"],
    [
      { notifications: [{ type: "webhook", url: "ftp://a.test", events: OK }] },
      "notifications[0].url",
      "ftp://a.test",
    ],
    [
      { notifications: [{ type: "webhook", url: "http://u:p@a.test/", events: OK }] },
      "notifications[0].url",
      "http://u:p@a.test/",
    ],
    [
      { notifications: [{ type: "webhook", url: "http://[", events: OK }] },
      "notifications[0].url",
      "http://[",
    ],
    [
      { notifications: [{ type: "webhook", url: "http://a.test", email: "a@b.test", events: OK }] },
      "notifications[0].email",
      "a@b.test",
    ],
    [{ notifications: [{ type: "email", email: "a@b.test" }] }, "notifications[0].events", null],
    [{ notifications: [{ type: "email", email: "a@b.test", events: [] }] }, "notifications[0].events", []],
    [
      { notifications: [{ type: "email", email: "a@b.test", events: [...OK, "job.done"] }] },
      "notifications[0].events[1]",
      "job.done",
    ],
    [
      { notifications: [{ type: "email", email: "a@b.test", events: [...OK, ...OK] }] },
      "notifications[0].events",
      [...OK, ...OK],
    ],
  ])("G15 G08 %j is 422 and changes nothing", async (body, field, value) => {
    const { status, body: answer } = await api.call("dan", "PATCH", `${BASE}/notifications`, body);
    expect([status, answer.error.code, answer.error.details]).toEqual([
      422,
      "INVALID_INPUT",
      { field, value },
    ]);
    expect((await api.call("dan", "GET", `${BASE}/notifications`)).body.updated_at).toBeNull();
  });

  it("G15 a job that ends tells the rules that name its outcome, by webhook and by e-mail", async () => {
    const hook = await receiver();
    await setRules([
      { type: "webhook", url: `${hook.url}/jobs?x=1`, events: OK },
      { type: "webhook", url: `${hook.url}/failures`, events: ["connector.job.failed"] },
      { type: "email", email: "ops@acme.test", events: OK },
    ]);
    await api.advance(30_000);
    expect(hook.heard.map(({ path }) => path)).toEqual(["/jobs?x=1"]);
    const { body, headers } = hook.heard[0]!;
    const ended = (await job("job_sync_running")).body;
    expect(body).toEqual({
      event: "connector.job.succeeded",
      organization_id: "org_acme",
      data: { ...ended, organization_id: "org_acme" },
      timestamp: "2026-03-15T12:00:20.000Z",
    });
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "x-service-event": "connector.job.succeeded",
      "user-agent": "Service-Webhook/1.0",
    });
    const [email, ...more] = await outbox();
    expect(more).toEqual([]);
    expect(email).toMatchObject({
      to: "ops@acme.test",
      subject: "[Acme Robotics] connector.job.succeeded",
      at: "2026-03-15T12:00:20.000Z",
    });
    expect(email.body).toContain("job_id: job_sync_running");
    hook.close();
  });

  it("G15 a job that fails tells so; a cancelled one and a silent change tell nobody", async () => {
    const hook = await receiver(500);
    const both = [...OK, "connector.job.failed"];
    await setRules([{ type: "webhook", url: hook.url, events: both }]);
    await state("PATCH", "connector_jobs/job_sync_running?silent=true", { status: "failed" });
    await cancel((await trigger("conn_wiki")).body.job_id);
    const { body } = await trigger("conn_wiki", "reset");
    await state("PATCH", `connector_jobs/${body.job_id}`, { status: "failed" });
    await api.advance(600_000);
    expect(hook.heard.map(({ body }) => [body.event, body.data.job_id, body.data.status])).toEqual([
      ["connector.job.failed", body.job_id, "failed"],
    ]);
    hook.close();
  });

  it("G15 a rule may name an event of 6.1", async () => {
    await setRules([{ type: "email", email: "hr@acme.test", events: ["user.created"] }]);
    await state("POST", "users", { id: "usr_new", memberships: { org_acme: "member" } });
    await state("POST", "users", { id: "usr_far", memberships: { org_globex: "member" } });
    const sent = await outbox();
    expect(sent.map(({ to, subject }: { to: string; subject: string }) => [to, subject])).toEqual([
      ["hr@acme.test", "[Acme Robotics] user.created"],
    ]);
    expect(sent[0].body).toContain("user_id: usr_new");
  });

  it("G15 a receiver that is gone holds nothing up and changes nothing", async () => {
    const hook = await receiver();
    hook.close();
    await setRules([{ type: "webhook", url: hook.url, events: OK }]);
    await api.advance(30_000);
    expect((await job("job_sync_running")).body.status).toBe("succeeded");
  });
});

describe("connector_notifications.test", () => {
  const send = (body: unknown, who: Who = "dan") => api.call(who, "POST", `${BASE}/notifications/test`, body);

  it("4.14 G15 really calls the URL given", async () => {
    const hook = await receiver(204);
    const { status, body } = await send({ notification_type: "webhook", url: `${hook.url}/try` });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      notification_type: "webhook",
      status_code: 204,
      delivered_at: "2026-03-15T12:00:00.000Z",
    });
    expect(hook.heard).toHaveLength(1);
    expect(hook.heard[0]).toMatchObject({
      path: "/try",
      body: {
        event: "connector.notification.test",
        organization_id: "org_acme",
        data: { notification_type: "webhook" },
        timestamp: "2026-03-15T12:00:00.000Z",
      },
    });
    hook.close();
  });

  it("G15 without a URL it calls the first webhook rule's; without a rule it is 422", async () => {
    const none = await send({ notification_type: "webhook" });
    expect([none.status, none.body.error.details]).toEqual([422, { field: "url", value: null }]);
    const hook = await receiver();
    await setRules([
      { type: "email", email: "ops@acme.test", events: OK },
      { type: "webhook", url: `${hook.url}/first`, events: OK },
      { type: "webhook", url: `${hook.url}/second`, events: OK },
    ]);
    expect((await send({ notification_type: "webhook" })).body.success).toBe(true);
    expect(hook.heard.map(({ path }) => path)).toEqual(["/first"]);
    hook.close();
  });

  it("G15 an answer that is not 2xx, and none at all, is 200 with success false", async () => {
    const hook = await receiver(503);
    const failed = await send({ notification_type: "webhook", url: hook.url });
    expect([failed.status, failed.body]).toEqual([
      200,
      { success: false, notification_type: "webhook", status_code: 503, delivered_at: null },
    ]);
    hook.close();
    const refused = await send({ notification_type: "webhook", url: hook.url });
    expect([refused.status, refused.body.success, refused.body.status_code]).toEqual([200, false, 0]);
  });

  it("G15 redirects are not followed", async () => {
    const hook = await receiver(302);
    expect((await send({ notification_type: "webhook", url: hook.url })).body).toMatchObject({
      success: false,
      status_code: 302,
    });
    hook.close();
  });

  it("G15 an e-mail lands in the outbox: to the first e-mail rule's address, else to the caller", async () => {
    const first = await send({ notification_type: "email" });
    expect(first.body).toEqual({
      success: true,
      notification_type: "email",
      status_code: null,
      delivered_at: "2026-03-15T12:00:00.000Z",
    });
    await setRules([{ type: "email", email: "ops@acme.test", events: OK }]);
    await api.advance(1000);
    await send({ notification_type: "email" }, "cleo");
    const sent = await outbox();
    expect(sent.map(({ to }: { to: string }) => to)).toEqual(["ops@acme.test", "dan@acme.test"]);
    expect(sent[0]).toEqual({
      id: expect.any(String),
      to: "ops@acme.test",
      subject: "[Acme Robotics] connector.notification.test",
      body: expect.stringContaining("This is a test"),
      at: "2026-03-15T12:00:01.000Z",
    });
  });

  it.each([
    [{}, { field: "notification_type", value: null }],
    [{ notification_type: "sms" }, { field: "notification_type", value: "sms" }],
    [
      { notification_type: "webhook", url: "file:///etc/passwd" },
      { field: "url", value: "file:///etc/passwd" },
    ],
    [
      { notification_type: "webhook", url: "http://u:p@127.0.0.1:9/" },
      { field: "url", value: "http://u:p@127.0.0.1:9/" },
    ],
  ])("G08 %j is 422", async (body, details) => {
    const answer = await send(body);
    expect([answer.status, answer.body.error.details]).toEqual([422, details]);
  });
});

describe("state of connectors", () => {
  it("3.2 a job that is POSTed runs and ends; one that has ended can be described", async () => {
    const running = await state("POST", "connector_jobs", { connection_id: "conn_wiki" });
    expect(running.body).toMatchObject({ status: "running", organization_id: "org_acme", duration: null });
    expect(Object.keys(running.body)).not.toContain("due");
    await api.advance(30_000);
    expect((await job(running.body.job_id)).body.status).toBe("succeeded");
    const failed = await state("POST", "connector_jobs", { status: "failed", connection_id: "conn_wiki" });
    expect(failed.body.duration).toBeGreaterThan(0);
    expect((await job(failed.body.job_id)).body.status).toBe("failed");
  });

  it("3.2 a change of status ends and restarts a job", async () => {
    const ended = await state("PATCH", "connector_jobs/job_sync_running", {
      status: "failed",
      rows_synced: 3,
    });
    expect(ended.body).toMatchObject({ status: "failed", duration: 10, rows_synced: 3 });
    await api.advance(60_000);
    expect((await job("job_sync_running")).body.status).toBe("failed");
    await state("PATCH", "connector_jobs/job_sync_running", { status: "running" });
    expect((await job("job_sync_running")).body).toMatchObject({
      status: "running",
      start_time: "2026-03-15T12:01:00.000Z",
      bytes_synced: 0,
      duration: null,
    });
    await api.advance(30_000);
    expect((await job("job_sync_running")).body).toMatchObject({ status: "succeeded", duration: 30 });
  });

  it("3.2 a running job whose start moves ends as much later", async () => {
    await state("PATCH", "connector_jobs/job_sync_running", { start_time: "2026-03-15T12:00:00.000Z" });
    await api.advance(29_999);
    expect((await job("job_sync_running")).body.status).toBe("running");
    await api.advance(1);
    expect((await job("job_sync_running")).body.status).toBe("succeeded");
  });

  it.each([
    ["POST", "connector_jobs", { connection_id: "conn_nope" }, "connection_id"],
    ["POST", "connector_jobs", { connection_id: "conn_drive", job_type: "sync" }, "connection_id"],
    [
      "POST",
      "connector_jobs",
      { connection_id: "conn_drive", organization_id: "org_globex" },
      "organization_id",
    ],
    ["PATCH", "connector_jobs/job_sync_running", { duration: 5 }, "duration"],
    ["PATCH", "connector_jobs/job_sync_done", { duration: null }, "duration"],
    ["PATCH", "connector_jobs/job_sync_done", { status: "running" }, "connection_id"],
    ["POST", "connections", { organization_id: "org_nope" }, "organization_id"],
    ["POST", "connector_notifications", { organization_id: "org_nope" }, "organization_id"],
    [
      "POST",
      "connector_notifications",
      { organization_id: "org_acme", notifications: [{ type: "webhook", events: OK }] },
      "notifications[0].url",
    ],
  ])("G14 %s %s %j is 422 and names %s", async (method, path, body, field) => {
    const answer = await state(method, path, body);
    expect([answer.status, answer.body.field], answer.text).toEqual([422, field]);
  });

  it("G14 deleting a connection takes its jobs and their timers along", async () => {
    expect((await state("DELETE", "connections/conn_drive")).status).toBe(204);
    expect(idsOf((await list()).body)).toEqual(["job_reset_failed"]);
    const { body } = await api.call(undefined, "GET", `${CONTROL}/clock/pending`);
    expect(body.map(({ subject }: { subject: string }) => subject)).not.toContain("job_sync_running");
    expect((await trigger("conn_drive")).status).toBe(404);
  });

  it("G14 G16 G17 a fixture may ask for numbers of records and leave the rest to the seed", async () => {
    const fixture = {
      organizations: 1,
      users: 2,
      meeting_sessions: 5,
      transcriptions: 4,
      connections: 2,
      connector_jobs: 20,
    };
    const { status, body } = await api.call(undefined, "POST", "/_control/sandboxes", {
      name: "many",
      fixture,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body.counts).toMatchObject({ ...fixture, meeting_transcripts: 40, sentences: 48 });
  });

  it("G15 a fixture may bring notification rules; wrong ones are named", async () => {
    const make = (rules: unknown) =>
      api.call(undefined, "POST", "/_control/sandboxes", {
        name: "ruled",
        fixture: { extends: "reference", connector_notifications: { org_acme: rules } },
      });
    const bad = await make([{ type: "email", events: OK }]);
    expect([bad.status, bad.body.field]).toEqual([422, "fixture.connector_notifications.org_acme[0].email"]);
    expect((await make([{ type: "email", email: "ops@acme.test", events: OK }])).status).toBe(201);
    const { body } = await api.call("dan", "GET", `/_s/ruled${BASE}/notifications`);
    expect(body.notifications).toHaveLength(1);
  });
});
