import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const BASE = "/v1/organizations/org_acme/knowledge/connectors";
const CONTROL = "/_control/sandboxes/default";

const fetchJob = (id: string, who: Caller = "dan") => api.call(who, "GET", `${BASE}/jobs/${id}`);
const trigger = (connection_id: string, job_type = "sync", who: Caller = "dan") =>
  api.call(who, "POST", `${BASE}/jobs`, { connection_id, job_type });
const cancel = (id: string, who: Caller = "dan") => api.call(who, "POST", `${BASE}/jobs/${id}/cancel`);
const callState = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `${CONTROL}/state/${path}`, body);

interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any;
}

/** A receiver that answers every request with `status` and records it. */
async function startReceiver(
  status = 200,
): Promise<{ url: string; heard: ReceivedRequest[]; close: () => void }> {
  const heard: ReceivedRequest[] = [];
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
const fetchOutbox = async () => (await api.call(undefined, "GET", `${CONTROL}/outbox`)).body.items;
const OK = ["connector.job.succeeded"];

describe("connector notifications", () => {
  it("are empty at first, and a PATCH replaces them for one organization [4.14, G15]", async () => {
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
  ])("refuse %j with 422 and change nothing [G15, G08]", async (body, field, value) => {
    const { status, body: answer } = await api.call("dan", "PATCH", `${BASE}/notifications`, body);
    expect([status, answer.error.code, answer.error.details]).toEqual([
      422,
      "INVALID_INPUT",
      { field, value },
    ]);
    expect(answer.error.message.length).toBeGreaterThan(field.length + " is".length);
    expect((await api.call("dan", "GET", `${BASE}/notifications`)).body.updated_at).toBeNull();
  });

  it("are sent for the rules of the outcome when a job ends, by webhook and by e-mail [G15]", async () => {
    const hook = await startReceiver();
    await setRules([
      { type: "webhook", url: `${hook.url}/jobs?x=1`, events: OK },
      { type: "webhook", url: `${hook.url}/failures`, events: ["connector.job.failed"] },
      { type: "email", email: "ops@acme.test", events: OK },
    ]);
    await api.advance(30_000);
    expect(hook.heard.map(({ path }) => path)).toEqual(["/jobs?x=1"]);
    const { body, headers } = hook.heard[0]!;
    const ended = (await fetchJob("job_sync_running")).body;
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
    const [email, ...more] = await fetchOutbox();
    expect(more).toEqual([]);
    expect(email).toMatchObject({
      to: "ops@acme.test",
      subject: "[Acme Robotics] connector.job.succeeded",
      at: "2026-03-15T12:00:20.000Z",
    });
    expect(email.body).toContain("job_id: job_sync_running");
    hook.close();
  });

  it("are sent for a failed job, but not for a cancelled one or a silent change [G15]", async () => {
    const hook = await startReceiver(500);
    const both = [...OK, "connector.job.failed"];
    await setRules([{ type: "webhook", url: hook.url, events: both }]);
    await callState("PATCH", "connector_jobs/job_sync_running?silent=true", { status: "failed" });
    await cancel((await trigger("conn_wiki")).body.job_id);
    const { body } = await trigger("conn_wiki", "reset");
    await callState("PATCH", `connector_jobs/${body.job_id}`, { status: "failed" });
    await callState("POST", "connector_jobs", { job_id: "job_added", status: "failed" });
    await callState("POST", "connector_jobs?silent=true", { status: "failed" });
    await api.advance(600_000);
    expect(hook.heard.map(({ body }) => [body.event, body.data.job_id, body.data.status])).toEqual([
      ["connector.job.failed", body.job_id, "failed"],
      ["connector.job.failed", "job_added", "failed"],
    ]);
    hook.close();
  });

  it("may name an event of 6.1 [G15]", async () => {
    await setRules([{ type: "email", email: "hr@acme.test", events: ["user.created"] }]);
    await callState("POST", "users", { id: "usr_new", memberships: { org_acme: "member" } });
    await callState("POST", "users", { id: "usr_far", memberships: { org_globex: "member" } });
    const sent = await fetchOutbox();
    expect(sent.map(({ to, subject }: { to: string; subject: string }) => [to, subject])).toEqual([
      ["hr@acme.test", "[Acme Robotics] user.created"],
    ]);
    expect(sent[0].body).toContain("user_id: usr_new");
  });

  it("do not wait for or depend on a receiver that does not answer [G15]", async () => {
    const hook = await startReceiver();
    hook.close();
    await setRules([{ type: "webhook", url: hook.url, events: OK }]);
    await api.advance(30_000);
    expect((await fetchJob("job_sync_running")).body.status).toBe("succeeded");
  });
});

describe("connector_notifications.test", () => {
  const send = (body: unknown, who: Caller = "dan") =>
    api.call(who, "POST", `${BASE}/notifications/test`, body);

  it("calls the given URL [4.14, G15]", async () => {
    const hook = await startReceiver(204);
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

  it("calls the first webhook rule's URL if none is given, and is 422 without a rule [G15]", async () => {
    const none = await send({ notification_type: "webhook" });
    expect([none.status, none.body.error.details]).toEqual([422, { field: "url", value: null }]);
    const hook = await startReceiver();
    await setRules([
      { type: "email", email: "ops@acme.test", events: OK },
      { type: "webhook", url: `${hook.url}/first`, events: OK },
      { type: "webhook", url: `${hook.url}/second`, events: OK },
    ]);
    expect((await send({ notification_type: "webhook" })).body.success).toBe(true);
    expect(hook.heard.map(({ path }) => path)).toEqual(["/first"]);
    hook.close();
  });

  it("answers 200 with success false if the receiver's answer is not 2xx or missing [G15]", async () => {
    const hook = await startReceiver(503);
    const failed = await send({ notification_type: "webhook", url: hook.url });
    expect([failed.status, failed.body]).toEqual([
      200,
      { success: false, notification_type: "webhook", status_code: 503, delivered_at: null },
    ]);
    hook.close();
    const refused = await send({ notification_type: "webhook", url: hook.url });
    expect([refused.status, refused.body.success, refused.body.status_code]).toEqual([200, false, 0]);
  });

  it("does not follow redirects [G15]", async () => {
    const hook = await startReceiver(302);
    expect((await send({ notification_type: "webhook", url: hook.url })).body).toMatchObject({
      success: false,
      status_code: 302,
    });
    hook.close();
  });

  it("puts an e-mail into the outbox: to the first e-mail rule's address, else to the caller [G15]", async () => {
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
    const sent = await fetchOutbox();
    expect(sent.map(({ to }: { to: string }) => to)).toEqual(["ops@acme.test", "dan@acme.test"]);
    expect(sent[0]).toEqual({
      id: expect.stringMatching(/^email_/),
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
  ])("answers 422 to %j [G08]", async (body, details) => {
    const answer = await send(body);
    expect([answer.status, answer.body.error.details]).toEqual([422, details]);
  });
});
