import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const BASE = "/v1/organizations/org_acme/knowledge/connectors";
const CONTROL = "/_control/sandboxes/default";

const list = (query = "", who: Caller = "dan") => api.call(who, "GET", `${BASE}/jobs${query}`);
const fetchJob = (id: string, who: Caller = "dan") => api.call(who, "GET", `${BASE}/jobs/${id}`);
const trigger = (connection_id: string, job_type = "sync", who: Caller = "dan") =>
  api.call(who, "POST", `${BASE}/jobs`, { connection_id, job_type });
const cancel = (id: string, who: Caller = "dan") => api.call(who, "POST", `${BASE}/jobs/${id}/cancel`);
const callState = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `${CONTROL}/state/${path}`, body);
const listIds = (body: { jobs: { job_id: string }[] }) => body.jobs.map(({ job_id }) => job_id);

/** Adds many jobs of every kind, a minute and a half apart, to an organization without jobs. */
async function seedJobs(): Promise<void> {
  await callState("POST", "connections", { id: "conn_one", organization_id: "org_hooli" });
  await callState("POST", "connections", { id: "conn_two", organization_id: "org_hooli" });
  for (let n = 0; n < 12; n++) {
    await callState("POST", "connector_jobs", {
      job_id: `job_${String(n).padStart(2, "0")}`,
      connection_id: n % 2 ? "conn_one" : "conn_two",
      job_type: n % 3 ? "sync" : "reset",
      status: ["succeeded", "failed", "cancelled"][n % 3],
      start_time: new Date(Date.UTC(2026, 2, 10 + Math.floor(n / 4), 8, n)).toISOString(),
      duration: [30, 10, 30, 20][n % 4],
    });
  }
}
const listHooli = (query = "") =>
  api.call("ivan", "GET", `/v1/organizations/org_hooli/knowledge/connectors/jobs${query}`);

describe("connector_jobs.list", () => {
  it("lists the organization's jobs, newest first [4.13, 2.10]", async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["jobs", "total", "limit", "offset"]);
    expect([body.total, body.limit, body.offset]).toEqual([3, 50, 0]);
    expect(listIds(body)).toEqual(["job_sync_running", "job_reset_failed", "job_sync_done"]);
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
  ])("filters by %s [4.13]", async (query, expected) => {
    const { body } = await list(`?${query}`);
    expect([listIds(body), body.total]).toEqual([expected, expected.length]);
  });

  it.each([
    ["start_date=2026-03-15", ["job_sync_running"]],
    ["end_date=2026-03-14", ["job_reset_failed", "job_sync_done"]],
    ["start_date=2026-03-14T08:00:00Z&end_date=2026-03-14T08:00:00Z", ["job_sync_done"]],
    ["start_date=2026-03-14T08:00:00.001Z&end_date=2026-03-14", ["job_reset_failed"]],
    ["start_date=2026-03-16", []],
  ])("narrows by start_time, including both dates: %s [G14, G28]", async (query, expected) => {
    const { body } = await list(`?${query}`);
    expect([listIds(body), body.total]).toEqual([expected, expected.length]);
  });

  it("orders by start time and by duration, with a running job's missing duration last in both orders [G14]", async () => {
    const listOrdered = async (order: string) => listIds((await list(`?order_by=${order}`)).body);
    expect(await listOrdered("-start_time")).toEqual([
      "job_sync_running",
      "job_reset_failed",
      "job_sync_done",
    ]);
    expect(await listOrdered("start_time")).toEqual([
      "job_sync_done",
      "job_reset_failed",
      "job_sync_running",
    ]);
    expect(await listOrdered("-duration")).toEqual(["job_sync_done", "job_reset_failed", "job_sync_running"]);
    expect(await listOrdered("duration")).toEqual(["job_reset_failed", "job_sync_done", "job_sync_running"]);
  });

  it("filters, then orders, then pages, and orders equal jobs by id [4.13]", async () => {
    await seedJobs();
    const all = (await listHooli("?limit=100")).body.jobs as Record<string, string | number>[];
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
          listHooli(`?order_by=${order_by}${filter}&limit=5&offset=${offset}`),
        );
        const found = await Promise.all(pages);
        expect(
          found.flatMap(({ body }) => listIds(body)),
          `${order_by}${filter}`,
        ).toEqual(expected);
        for (const { body } of found) expect(body.total).toBe(expected.length);
      }
    }
  });

  it.each([
    ["limit=0", { field: "limit", value: "0" }],
    ["limit=101", { field: "limit", value: "101" }],
    ["offset=-1", { field: "offset", value: "-1" }],
    ["job_type=full", { field: "job_type", value: "full" }],
    ["status=done", { field: "status", value: "done" }],
    ["order_by=rows", { field: "order_by", value: "rows" }],
    ["connection_id=drive", { field: "connection_id", value: "drive" }],
    ["start_date=yesterday", { field: "start_date", value: "yesterday" }],
    ["start_date=2026-03-15&end_date=2026-03-14", { field: "start_date", value: "2026-03-15" }],
  ])("answers 422 to %s [G08, G28]", async (query, details) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.error.code, body.error.details]).toEqual([422, "INVALID_INPUT", details]);
  });
});

describe("connector jobs on the clock", () => {
  it("include the running job of the reference world, which progresses and succeeds after its 30 seconds [3.2, G14]", async () => {
    const first = (await fetchJob("job_sync_running")).body;
    expect([first.status, first.duration]).toEqual(["running", null]);
    expect(first.bytes_synced).toBeGreaterThan(0);
    await api.advance(10_000);
    const second = (await fetchJob("job_sync_running")).body;
    expect(second.bytes_synced).toBeGreaterThan(first.bytes_synced);
    expect(second.rows_synced).toBeGreaterThan(first.rows_synced);
    await api.advance(9_999);
    expect((await fetchJob("job_sync_running")).body.status).toBe("running");
    await api.advance(1);
    const done = (await fetchJob("job_sync_running")).body;
    expect([done.status, done.duration]).toEqual(["succeeded", 30]);
    expect(done.bytes_synced).toBeGreaterThan(second.bytes_synced);
    await api.advance(3_600_000);
    expect((await fetchJob("job_sync_running")).body).toEqual(done);
  });

  it("have their ends among the pending timers, and advance reports them [G14]", async () => {
    const pending = (await api.call(undefined, "GET", `${CONTROL}/clock/pending`)).body;
    const due = { kind: "connector.job", subject: "job_sync_running" };
    expect(pending).toContainEqual({ due_at: "2026-03-15T12:00:20.000Z", ...due });
    const { body } = await api.call(undefined, "POST", `${CONTROL}/clock/advance`, { by: "1m" });
    expect(body.ran).toContainEqual({ at: "2026-03-15T12:00:20.000Z", ...due });
  });

  it("are triggered with 201, and run for the time of the setting [4.13, G14]", async () => {
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
    expect((await fetchJob(body.job_id)).body.status).toBe("running");
    await api.advance(1_000);
    expect((await fetchJob(body.job_id)).body).toMatchObject({ status: "succeeded", duration: 90 });
  });

  it("have succeeded at the next request if they take no time [G14]", async () => {
    await api.call(undefined, "PATCH", CONTROL, { settings: { connector_job_seconds: 0 } });
    const { body } = await trigger("conn_wiki");
    expect((await fetchJob(body.job_id)).body).toMatchObject({ status: "succeeded", duration: 0 });
    expect((await trigger("conn_wiki")).status).toBe(201);
  });

  it("run one at a time for each connection and type [G14]", async () => {
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

  it("keep what was synced when cancelled, and cannot be cancelled again [4.13, G14]", async () => {
    await api.advance(5_500);
    const { bytes_synced, rows_synced } = (await fetchJob("job_sync_running")).body;
    const answer = await cancel("job_sync_running");
    expect([answer.status, answer.text]).toEqual([204, ""]);
    await api.advance(600_000);
    expect((await fetchJob("job_sync_running")).body).toMatchObject({
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

  it("run again after a snapshot is restored, and end in time [G14]", async () => {
    await api.call(undefined, "POST", `${CONTROL}/snapshots`, { name: "running" });
    await api.advance(60_000);
    await api.call(undefined, "POST", `${CONTROL}/snapshots/running/restore`);
    expect((await fetchJob("job_sync_running")).body.status).toBe("running");
    await api.advance(20_000);
    expect((await fetchJob("job_sync_running")).body.status).toBe("succeeded");
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

  it.each(requests)(
    "is refused to %s %s: 404 for an unknown organization, 403 for a stranger [G03]",
    async (method, rest, body) => {
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
    },
  );

  it("is 404 for unknown jobs and connections, also those of another organization [G14]", async () => {
    await callState("POST", "connections", { id: "conn_globex", organization_id: "org_globex" });
    await callState("POST", "connector_jobs", { job_id: "job_globex", connection_id: "conn_globex" });
    for (const id of ["job_nope", "job_globex"]) {
      for (const answer of [await fetchJob(id), await cancel(id)]) {
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
  ])("is 422 for triggering with %j [G08]", async (body, details) => {
    const answer = await api.call("dan", "POST", `${BASE}/jobs`, body);
    expect([answer.status, answer.body.error.details]).toEqual([422, details]);
  });
});
