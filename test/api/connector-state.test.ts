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
const callState = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `${CONTROL}/state/${path}`, body);
const listIds = (body: { jobs: { job_id: string }[] }) => body.jobs.map(({ job_id }) => job_id);
const OK = ["connector.job.succeeded"];

describe("state calls on connectors", () => {
  it("run and end a job that is POSTed, and can describe one that has ended [3.2]", async () => {
    const running = await callState("POST", "connector_jobs", { connection_id: "conn_wiki" });
    expect(running.body).toMatchObject({ status: "running", organization_id: "org_acme", duration: null });
    expect(Object.keys(running.body)).not.toContain("due");
    await api.advance(30_000);
    expect((await fetchJob(running.body.job_id)).body.status).toBe("succeeded");
    const failed = await callState("POST", "connector_jobs", {
      status: "failed",
      connection_id: "conn_wiki",
    });
    expect(failed.body.duration).toBeGreaterThan(0);
    expect((await fetchJob(failed.body.job_id)).body.status).toBe("failed");
  });

  it("choose a connection without a running job for a job that names none [G14]", async () => {
    const made = [];
    for (let n = 0; n < 5; n++) made.push((await callState("POST", "connector_jobs", {})).body);
    const places = made.slice(0, 3).map(({ connection_id, job_type }) => `${connection_id} ${job_type}`);
    expect(places).toEqual(["conn_drive reset", "conn_wiki sync", "conn_wiki reset"]);
    expect(made.map(({ status }) => status)).toEqual([
      "running",
      "running",
      "running",
      "succeeded",
      "succeeded",
    ]);
  });

  it("run a job that is POSTed for an organization on one of its connections [G14]", async () => {
    const none = await callState("POST", "connector_jobs", { organization_id: "org_globex" });
    expect([none.status, none.body.field]).toEqual([422, "connection_id"]);
    const { body } = await callState("POST", "connections", { organization_id: "org_globex" });
    const made = await callState("POST", "connector_jobs", { organization_id: "org_globex" });
    expect(made.body).toMatchObject({ connection_id: body.id, organization_id: "org_globex" });
  });

  it("end and restart a job by its status [3.2]", async () => {
    const ended = await callState("PATCH", "connector_jobs/job_sync_running", {
      status: "failed",
      rows_synced: 3,
    });
    expect(ended.body).toMatchObject({ status: "failed", duration: 10, rows_synced: 3 });
    await api.advance(60_000);
    expect((await fetchJob("job_sync_running")).body.status).toBe("failed");
    await callState("PATCH", "connector_jobs/job_sync_running", { status: "running" });
    expect((await fetchJob("job_sync_running")).body).toMatchObject({
      status: "running",
      start_time: "2026-03-15T12:01:00.000Z",
      bytes_synced: 0,
      duration: null,
    });
    await api.advance(30_000);
    expect((await fetchJob("job_sync_running")).body).toMatchObject({ status: "succeeded", duration: 30 });
  });

  it("end a running job with the figures of the call, also none at all [3.2]", async () => {
    await api.advance(5000);
    const ended = await callState("PATCH", "connector_jobs/job_sync_running", {
      status: "failed",
      bytes_synced: 0,
      rows_synced: 0,
    });
    expect([ended.status, ended.body]).toMatchObject([
      200,
      { status: "failed", bytes_synced: 0, rows_synced: 0 },
    ]);
  });

  it("move the end of a running job with its start [3.2]", async () => {
    await callState("PATCH", "connector_jobs/job_sync_running", { start_time: "2026-03-15T12:00:00.000Z" });
    await api.advance(29_999);
    expect((await fetchJob("job_sync_running")).body.status).toBe("running");
    await api.advance(1);
    expect((await fetchJob("job_sync_running")).body.status).toBe("succeeded");
  });

  it.each([
    ["POST", "connector_jobs", { connection_id: "conn_nope" }, "connection_id"],
    [
      "POST",
      "connector_jobs",
      { connection_id: "conn_drive", job_type: "sync", status: "running" },
      "connection_id",
    ],
    [
      "POST",
      "connector_jobs",
      { connection_id: "conn_drive", organization_id: "org_globex" },
      "organization_id",
    ],
    ["PATCH", "connector_jobs/job_sync_running", { duration: 5 }, "duration"],
    ["PATCH", "connector_jobs/job_sync_done", { duration: null }, "duration"],
    ["PATCH", "connector_jobs/job_sync_done", { status: "running" }, "connection_id"],
    ["PATCH", "connector_jobs/job_sync_done", { organization_id: "org_globex" }, "organization_id"],
    ["PATCH", "connector_jobs/job_sync_done", { connection_id: "conn_globex" }, "connection_id"],
    ["POST", "connections", { organization_id: "org_nope" }, "organization_id"],
    ["POST", "connector_notifications", { organization_id: "org_nope" }, "organization_id"],
    [
      "POST",
      "connector_notifications",
      { organization_id: "org_acme", notifications: [{ type: "webhook", events: OK }] },
      "notifications[0].url",
    ],
  ])("%s %s %j is refused with 422 and names %s [G14]", async (method, path, body, field) => {
    await callState("POST", "connections", { id: "conn_globex", organization_id: "org_globex" });
    const answer = await callState(method, path, body);
    expect([answer.status, answer.body.field], answer.text).toEqual([422, field]);
  });

  it("delete the jobs and timers of a deleted connection [G14]", async () => {
    expect((await callState("DELETE", "connections/conn_drive")).status).toBe(204);
    expect(listIds((await list()).body)).toEqual(["job_reset_failed"]);
    const { body } = await api.call(undefined, "GET", `${CONTROL}/clock/pending`);
    expect(body.map(({ subject }: { subject: string }) => subject)).not.toContain("job_sync_running");
    expect((await trigger("conn_drive")).status).toBe(404);
  });

  it("name the collection of a pending job whose id has another form [G38]", async () => {
    const job = { job_id: "nightly", connection_id: "conn_wiki" };
    expect((await callState("POST", "connector_jobs", job)).status).toBe(201);
    const { body } = await api.call(undefined, "GET", `${CONTROL}/clock/pending?named=true`);
    const pending = body.find(({ subject }: { subject: string }) => subject === "nightly");
    expect(pending).toMatchObject({ kind: "connector.job", collection: "connector_jobs" });
  });

  it("allow a fixture to give only the number of records, and generate them from the seed [G14, G16, G17]", async () => {
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

  it("allow a fixture to have notification rules, and report the wrong ones [G15]", async () => {
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
