import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withGarbageCollected } from "../support/collect-garbage.ts";
import { EPOCH } from "../support/harness.ts";
import { startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

let api: WebhookApi;
let made = 0;
beforeAll(async () => {
  api = await startWebhooks();
});
afterAll(() => api.close());

const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `/_control/sandboxes${path}`, body);
async function createSandbox(): Promise<string> {
  const name = `verify-${++made}`;
  expect((await control("POST", "", { name, clock: { mode: "frozen", now: EPOCH } })).status).toBe(201);
  return name;
}
const verify = (name: string, body: object) => control("POST", `/${name}/journal/verify`, body);
const listModels = (name: string) => api.call("ada", "GET", `/_s/${name}/v1/models`);
const reparent = (name: string, to: string) =>
  api.call("ada", "POST", `/_s/${name}/v1/organizations/org_acme/departments/dept_ml/reparent`, {
    new_parent_id: to,
  });
const MODELS = { operation: "models.list" };
const MOVED = { operation: "departments.reparent" };

describe("verify within", () => {
  it("waits on the wall clock until the match is met, frozen or not [interfaces 11]", async () => {
    const name = await createSandbox();
    const waiting = verify(name, { match: MODELS, count: 2, within: "60s" });
    await listModels(name);
    await listModels(name);
    expect((await waiting).body).toEqual({ ok: true, found: 2, nearest: [] });
  });

  it("is 404 if the sandbox is deleted before the match is met [interfaces 11]", async () => {
    const name = await createSandbox();
    const waiting = verify(name, { match: MODELS, count: 1, within: "60s" });
    expect((await control("DELETE", `/${name}`)).status).toBe(204);
    expect((await waiting).status).toBe(404);
  });

  it("fails when the time is over, also if garbage is collected meanwhile [interfaces 11]", async () => {
    const name = await createSandbox();
    const { body } = await withGarbageCollected(() =>
      verify(name, { match: MODELS, count: 1, within: "300ms" }),
    );
    expect(body).toMatchObject({ ok: false, found: 0 });
  });

  it("fails when the time is over, or at once if too many requests came [interfaces 11]", async () => {
    const name = await createSandbox();
    await listModels(name);
    const over = await verify(name, { match: { ...MODELS, status: 404 }, count: 1, within: "20ms" });
    expect(over.body).toMatchObject({
      ok: false,
      found: 0,
      nearest: [{ differences: ["status is 200, not 404"] }],
    });
    const hopeless = await verify(name, { match: MODELS, count: 0, within: "2m" });
    expect(hopeless.body).toEqual({ ok: false, found: 1, nearest: [] });
  });

  it("distinguishes callers [interfaces 11]", async () => {
    const name = await createSandbox();
    await listModels(name);
    const countBy = async (principal: string) =>
      (await verify(name, { match: { ...MODELS, principal }, count: 1 })).body;
    expect(await countBy("usr_ada")).toMatchObject({ ok: true, found: 1 });
    expect(await countBy("usr_dan")).toMatchObject({
      ok: false,
      found: 0,
      nearest: [{ differences: ["principal is usr_ada, not usr_dan"] }],
    });
  });

  it.each([
    ["soon", "must be a duration such as 5s."],
    ["3m", "must be at most 2m."],
  ])("refuses within %s [interfaces 11]", async (within, sentence) => {
    const { status, body } = await verify("default", { match: MODELS, count: 0, within });
    expect([status, body.field, body.detail]).toEqual([422, "within", `within ${sentence}`]);
  });
});

describe("verify sequence", () => {
  it("requires a request for each match, in this order [interfaces 11]", async () => {
    const name = await createSandbox();
    await listModels(name);
    await reparent(name, "dept_ops");
    await listModels(name);
    await reparent(name, "dept_eng");
    const held = await verify(name, { sequence: [MODELS, MOVED, MOVED] });
    expect(held.body).toEqual({ ok: true, found: 3, nearest: [] });
    const { body: journal } = await control("GET", `/${name}/journal`);
    const broken = await verify(name, { sequence: [MOVED, MOVED, MODELS] });
    expect(broken.body).toEqual({
      ok: false,
      found: 2,
      nearest: [],
      why: `step 3 of 3 is missing: it matches no entry after ${journal.entries[0].id}`,
    });
    const first = await verify(name, { sequence: [{ ...MOVED, body: { new_parent_id: "dept_hr" } }] });
    expect(first.body.nearest[0].differences).toEqual(['body.new_parent_id is "dept_eng", not "dept_hr"']);
    expect(first.body.why).toBe("step 1 of 1 is missing: it matches no entry");
  });

  it("allows with strict no other request in between that matches one of them [interfaces 11]", async () => {
    const name = await createSandbox();
    await reparent(name, "dept_ops");
    await listModels(name);
    await listModels(name);
    await reparent(name, "dept_eng");
    expect((await verify(name, { sequence: [MOVED, MODELS, MOVED] })).body.ok).toBe(true);
    const strict = await verify(name, { sequence: [MOVED, MODELS, MOVED], strict: true });
    const { body: journal } = await control("GET", `/${name}/journal`);
    expect(strict.body).toMatchObject({
      ok: false,
      found: 2,
      why: `step 3 of 3 is missing: ${journal.entries[2].id} is followed by ${journal.entries[1].id}, which it does not match`,
    });
    expect((await verify(name, { sequence: [MODELS, MOVED], strict: true })).body.ok).toBe(true);
  });

  it("can wait for a sequence [interfaces 11]", async () => {
    const name = await createSandbox();
    const waiting = verify(name, { sequence: [MODELS, MOVED], within: "60s" });
    await listModels(name);
    await reparent(name, "dept_ops");
    expect((await waiting).body).toMatchObject({ ok: true, found: 2 });
  });

  it.each([
    ["sequence", { sequence: [] }],
    ["sequence[1].opration", { sequence: [{}, { opration: "x" }] }],
    ["sequence[0].operation", { sequence: [{ operation: "model.list" }] }],
    ["count", { sequence: [{}], count: 1 }],
    ["strict", { match: {}, count: 1, strict: true }],
  ])("refuses a wrong %s [interfaces 11]", async (field, body) => {
    const answer = await verify("default", body);
    expect([answer.status, answer.body.field], answer.text).toEqual([422, field]);
  });
});

describe("verify of a match that nothing can meet", () => {
  it.each([
    [
      "principal",
      "usr_daan",
      'match.principal "usr_daan" is not a user of this sandbox. Did you mean "usr_dan"?',
    ],
    [
      "webhook",
      "wh_opps",
      'match.webhook "wh_opps" is not a webhook of this sandbox. Did you mean "wh_ops"?',
    ],
    [
      "event",
      "user.creatd",
      'match.event "user.creatd" matches no event of the service. Did you mean "user.created"?',
    ],
    [
      "principal",
      "elephant",
      'match.principal "elephant" is not a user of this sandbox; GET /_control/sandboxes/{name}/state/users lists them.',
    ],
    [
      "event",
      "elephant",
      expect.stringMatching(/^match\.event "elephant" matches no event of the service; it has user/),
    ],
    [
      "code",
      "ELEPHANT",
      expect.stringMatching(/^match\.code "ELEPHANT" is not a code of the catalogue; it has [A-Z_]+, /),
    ],
    [
      "code",
      "thread_not_found",
      'match.code "thread_not_found" is not a code of the catalogue. Did you mean "RESOURCE_NOT_FOUND"?',
    ],
    [
      "path",
      "/v1/model",
      'match.path is not a path of an operation, a rule or a request in the journal. Did you mean "/v1/models"?',
    ],
    [
      "path",
      "/v1/nosuch/*",
      "match.path matches no path of an operation, a rule or a request in the journal.",
    ],
    ["path", "v1/models", "match.path must begin with a slash, without host, prefix and query."],
    ["path", "/v1/models?page=1", "match.path must not have a query."],
  ])("is refused: %s %s [interfaces 11]", async (field, value, sentence) => {
    const { status, body } = await verify("default", { match: { [field]: value }, count: 0 });
    expect([status, body.detail]).toEqual([422, sentence]);
  });

  it("is refused: a delivery in a stage, which only requests have [interfaces 14]", async () => {
    const name = await createSandbox();
    const { body } = await control("PUT", `/${name}/scenarios/active`, { names: ["outage-mid-run"] });
    const { name: scenario, stages } = body.items.find(({ active }: { active: boolean }) => active);
    const match = { event: "user.created", stage: `${scenario}/${stages[0].name}` };
    const answer = await verify(name, { match, count: 0 });
    expect([answer.status, answer.body.field]).toEqual([422, "match.stage"]);
  });

  it("is refused: a delivery with another method than POST [interfaces 14]", async () => {
    const { status, body } = await verify("default", {
      match: { event: "user.created", method: "get" },
      count: 0,
    });
    expect([status, body.field]).toEqual([422, "match.method"]);
    const { body: post } = await verify("default", {
      match: { event: "user.created", method: "post" },
      count: 0,
    });
    expect(post.ok).toBe(true);
  });

  it.each(["/hook?a=1", "hook"])("is refused: the path %s of a delivery [interfaces 14]", async (path) => {
    const { status, body } = await verify("default", { match: { event: "user.created", path }, count: 0 });
    expect([status, body.field]).toEqual([422, "match.path"]);
  });

  it.each(["/v1/nosuch/one", "/v1/nosuch/*", "/v1/**/one"])(
    "is allowed for the path %s, which a rule serves [interfaces 11]",
    async (path) => {
      const name = await createSandbox();
      const rule = { match: { path: "/v1/nosuch/*" }, effect: { body: {} } };
      expect((await control("POST", `/${name}/faults`, rule)).status).toBe(201);
      expect((await verify(name, { match: { path }, count: 0 })).body.ok).toBe(true);
    },
  );

  it("is allowed for any path, known or not, as in a listing [interfaces 11]", async () => {
    const name = await createSandbox();
    expect((await control("GET", `/${name}/journal?path=/v1/model`)).body.total).toBe(0);
    await api.call("ada", "GET", `/_s/${name}/v1/model`);
    expect((await verify(name, { match: { path: "/v1/model" }, count: 1 })).body.ok).toBe(true);
  });
});

describe("deliveries are in the journal", () => {
  async function createFailingWebhook() {
    const name = await createSandbox();
    const { body } = await control("POST", `/${name}/receivers`, { answers: [500, 200] });
    const { data } = (
      await api.call("ada", "POST", `/_s/${name}/webhooks`, {
        url: `${body.url}?a=1`,
        events: ["user.created"],
      })
    ).body;
    await control("POST", `/${name}/events`, { event: "user.created", for: "usr_dan" });
    return { name, webhook_id: data.webhook_id as string };
  }

  it("with the sent bytes, the answer, and the reason of a failure [interfaces 14]", async () => {
    const { name, webhook_id } = await createFailingWebhook();
    const { body } = await control("GET", `/${name}/journal?kind=delivery`);
    const [entry] = body.entries;
    expect(body.total).toBe(1);
    expect(entry).toMatchObject({
      kind: "delivery",
      at: EPOCH,
      operation: null,
      method: "POST",
      status: 500,
      decision: "failed",
      reasons: [
        "the receiver answered 500; a delivery succeeds with a status from 200 to 299",
        "the next retry is due at 2026-03-15T12:01:00.000Z",
      ],
      delivery: { event: "user.created", webhook_id, attempt: 1, kind: "first", error: null },
    });
    expect(entry.id).toBe(`${entry.delivery.delivery_id}.1`);
    expect(entry.delivery.url).toMatch(/^http:.*\?a=1$/);
    expect(entry.request.headers).toContainEqual({ name: "X-Service-Event", value: "user.created" });
    expect(entry.request.body).toMatchObject({ event: "user.created", data: { user_id: "usr_dan" } });
    expect(entry.response.headers.length).toBeGreaterThan(0);
    expect((await control("GET", `/${name}/journal/${entry.id}`)).body).toEqual(entry);
    const { log } = (await control("GET", `/${name}/journal.har`)).body;
    expect(log.entries.at(-1)).toMatchObject({
      _delivery: entry.delivery.delivery_id,
      request: { url: entry.delivery.url },
      response: { status: 500 },
    });
  });

  it("as attempts in the stream, and in the history with their causes [interfaces 14]", async () => {
    const { name } = await createFailingWebhook();
    const stream = await fetch(`${api.url}/_control/sandboxes/${name}/journal/stream?kind=delivery`);
    const first = (async () => {
      let text = "";
      for await (const chunk of stream.body!) {
        text += Buffer.from(chunk).toString("utf8");
        const [, data] = /^data: (.*)\n\n/m.exec(text) ?? [];
        if (data !== undefined) return JSON.parse(data);
      }
    })();
    await control("POST", `/${name}/clock/advance`, { by: "1m" });
    expect(await first).toMatchObject({ kind: "delivery", status: 200, delivery: { attempt: 2 } });
    const { entries } = (await control("GET", `/${name}/history?kind=delivery`)).body;
    expect(entries).toMatchObject([{ delivered: true, cause: entries[1].id }, { delivered: false }]);
  });

  it("and separate from requests, of which verify takes one kind at a time [interfaces 14]", async () => {
    const { name, webhook_id } = await createFailingWebhook();
    const { body } = await control("GET", `/${name}/journal?kind=request`);
    expect(body.entries.map(({ operation }: { operation: string }) => operation)).toEqual([
      "webhooks.create",
    ]);
    expect((await verify(name, { match: { status: 500 }, count: 0 })).body.ok).toBe(true);
    const match = {
      event: "user.*",
      webhook: webhook_id,
      attempt: 1,
      status: "5xx",
      body: { event: "user.created" },
    };
    expect((await verify(name, { match, count: 1 })).body).toEqual({ ok: true, found: 1, nearest: [] });
    const waiting = verify(name, {
      match: { event: "user.created", attempt: 2, status: 200 },
      count: 1,
      within: "60s",
    });
    await control("POST", `/${name}/clock/advance`, { by: "1m" });
    expect((await waiting).body.ok).toBe(true);
    const order = [{ operation: "webhooks.create" }, { attempt: 1, status: 500 }, { attempt: 2 }];
    expect((await verify(name, { sequence: order, strict: true })).body.ok).toBe(true);
    const mixed = await verify(name, {
      match: { event: "user.created", operation: "models.list" },
      count: 0,
    });
    expect([mixed.status, mixed.body.field]).toEqual([422, "match.operation"]);
  });

  it("with the rule that answered in place of the receiver [interfaces 14]", async () => {
    const { name, webhook_id } = await createFailingWebhook();
    const rule = { id: "full", match: { event: "user.*" }, effect: { status: 507 } };
    await control("POST", `/${name}/faults`, rule);
    await control("POST", `/${name}/deliveries/redeliver`, { all_failed: true, webhook: webhook_id });
    const [entry] = (await control("GET", `/${name}/journal?event=user.created`)).body.entries;
    expect(entry.reasons[0]).toBe(
      "the rule inline/full answered 507 in place of the receiver; a delivery succeeds with a status from 200 to 299",
    );
  });

  it("with the reason if a receiver is gone, as the webhook has the reason why it became inactive [interfaces 14]", async () => {
    const name = await createSandbox();
    const { body } = await control("POST", `/${name}/receivers`, { answers: [410] });
    const { data } = (
      await api.call("ada", "POST", `/_s/${name}/webhooks`, { url: body.url, events: ["user.created"] })
    ).body;
    await control("POST", `/${name}/events`, { event: "user.created", for: "usr_dan" });
    const [entry] = (await control("GET", `/${name}/journal?event=user.created`)).body.entries;
    expect(entry.reasons[1]).toBe(`the webhook ${data.webhook_id} became inactive because of the 410`);
    await control("POST", `/${name}/faults`, { match: { event: "user.*" }, effect: { wire: "reset" } });
    const again = await control("POST", `/${name}/deliveries/redeliver`, {
      all_failed: true,
      webhook: data.webhook_id,
    });
    expect(again.body.items).toMatchObject([{ status: "failed", active: false, attempts: 2 }]);
    const [reset] = (await control("GET", `/${name}/journal?event=user.created`)).body.entries;
    expect(reset).toMatchObject({ decision: "fault:inline/fault_1", status: 0 });
    expect(reset.reasons[1]).toBe(
      `no retry follows: the webhook is inactive, since attempt 1 of ${entry.delivery.delivery_id} was answered with 410`,
    );
    await control("PATCH", `/${name}/state/webhooks/${data.webhook_id}`, { active: true });
    await control("POST", `/${name}/deliveries/redeliver`, { all_failed: true, webhook: data.webhook_id });
    const [third] = (await control("GET", `/${name}/journal?event=user.created`)).body.entries;
    expect(third.reasons[1]).toBe("no retry follows a redelivery");
  });
});

describe("deliveries", () => {
  it("are listed, shown and redelivered [interfaces 14]", async () => {
    const name = await createSandbox();
    const { body: receiver } = await control("POST", `/${name}/receivers`, { answers: [500, 503, 200] });
    await api.call("ada", "POST", `/_s/${name}/webhooks`, { url: receiver.url, events: ["user.created"] });
    await control("POST", `/${name}/events`, { event: "user.created", for: "usr_dan" });
    const pending = (await control("GET", `/${name}/deliveries?status=pending&event=user.created`)).body;
    expect(pending).toMatchObject({ total: 1, items: [{ attempts: 1, why: "answered 500", active: true }] });
    const [{ delivery_id: id }] = pending.items;
    const first = (await control("POST", `/${name}/deliveries/redeliver`, { ids: [id] })).body;
    expect(first.items).toMatchObject([
      { delivery_id: id, status: "failed", attempts: 2, why: "answered 503" },
    ]);
    const second = (
      await control("POST", `/${name}/deliveries/redeliver`, { all_failed: true, since: EPOCH })
    ).body;
    expect(second.items).toMatchObject([{ delivery_id: id, status: "success", attempts: 3, why: null }]);
    const shown = (await control("GET", `/${name}/deliveries/${id}`)).body;
    expect(shown.log.map(({ kind, why }: { kind: string; why: string | null }) => [kind, why])).toEqual([
      ["first", "answered 500"],
      ["redelivery", "answered 503"],
      ["redelivery", null],
    ]);
    expect(shown.exchanges.map((entry: { id: string }) => entry.id)).toEqual([
      `${id}.1`,
      `${id}.2`,
      `${id}.3`,
    ]);
    expect(JSON.parse(shown.body)).toMatchObject({ delivery_id: id });
    const [entry] = (await control("GET", `/${name}/history?kind=control`)).body.entries;
    expect(entry.title).toBe("A delivery was redelivered.");
    const delivered = await control("POST", `/${name}/deliveries/redeliver`, { ids: [id] });
    expect([delivered.status, delivered.body.field]).toEqual([422, "ids[0]"]);
  });

  it.each([
    ["ids", {}],
    ["all_failed", { ids: ["del_ok"], all_failed: true }],
    ["ids[0]", { ids: ["del_okk"] }],
    ["ids[2]", { ids: ["del_failed", "del_failed", "del_okk"] }],
    ["since", { ids: ["del_failed"], since: EPOCH }],
    ["since", { all_failed: true, since: "yesterday" }],
    ["webhook", { all_failed: true, webhook: "wh_nope" }],
  ])("are not redelivered with a wrong %s [interfaces 14]", async (field, body) => {
    const answer = await control("POST", "/default/deliveries/redeliver", body);
    expect([answer.status, answer.body.field], answer.text).toEqual([422, field]);
  });

  it("are refused with the nearest id or event if unknown [interfaces 14]", async () => {
    const unknown = await control("GET", "/default/deliveries/del_okk");
    expect([unknown.status, unknown.body.hint]).toEqual([404, "del_ok"]);
    const event = await control("GET", "/default/deliveries?event=user.creatd");
    expect([event.status, event.body.hint]).toEqual([422, "user.created"]);
  });
});
