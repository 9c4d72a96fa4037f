import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

let api: WebhookApi;
beforeEach(async () => {
  api = await startWebhooks();
});
afterEach(() => api.close());

const input = { url: "https://partner.example/hooks", events: ["user.created", "thread.deleted"] };

describe("webhooks.create [4.21]", () => {
  it("answers the webhook of 2.12, with its secret only this once [4.21]", async () => {
    const { status, body } = await api.call("ada", "POST", "/webhooks", {
      ...input,
      description: "CRM",
      active: false,
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      status: "success",
      data: {
        webhook_id: expect.stringMatching(/^wh_/),
        ...input,
        description: "CRM",
        active: false,
        secret: expect.stringMatching(/^whsec_.{20,}/),
        created_at: "2026-03-15T12:00:00.000Z",
      },
    });
    const { data } = (await api.call("ada", "GET", "/webhooks")).body;
    expect(JSON.stringify(data)).not.toContain("whsec_");
    const changed = await api.call("ada", "PUT", `/webhooks/${body.data.webhook_id}`, {});
    expect(changed.text).not.toContain("whsec_");
  });

  it("makes it active with an empty description by default [G23]", async () => {
    const { body } = await api.call("dan", "POST", "/webhooks", input);
    expect(body.data).toMatchObject({ active: true, description: "" });
  });

  it.each([
    [{ events: input.events }, "url", null],
    [{ url: input.url }, "events", null],
    [{ ...input, url: "ftp://partner.example" }, "url", "ftp://partner.example"],
    [{ ...input, url: "/hooks" }, "url", "/hooks"],
    [{ ...input, url: "http://" }, "url", "http://"],
    [{ ...input, url: "http:partner.example" }, "url", "http:partner.example"],
    [{ ...input, url: "https://user:pass@partner.example/" }, "url", "https://user:pass@partner.example/"],
    [{ ...input, url: "https://:pass@partner.example/" }, "url", "https://:pass@partner.example/"],
    [{ ...input, url: "https://partner.example:99999/" }, "url", "https://partner.example:99999/"],
    [{ ...input, url: 7 }, "url", 7],
    [{ ...input, events: [] }, "events", []],
    [{ ...input, events: ["user.created", "user.create"] }, "events[1]", "user.create"],
    [{ ...input, events: ["user.created", "user.created"] }, "events", ["user.created", "user.created"]],
    [{ ...input, events: "user.created" }, "events", "user.created"],
    [{ ...input, active: "yes" }, "active", "yes"],
    [{ ...input, events: ["webhook.test"] }, "events[0]", "webhook.test"],
  ])("refuses %j, naming %s [G23]", async (body, field, value) => {
    const answer = await api.call("ada", "POST", "/webhooks", body);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.code).toBe("INVALID_INPUT");
    expect(answer.body.error.details).toEqual({ field, value });
  });
});

describe("webhooks.list [4.21]", () => {
  it("orders webhooks and deliveries of one instant newest first [G23]", async () => {
    const made: string[] = [];
    for (let i = 0; i < 12; i++) made.unshift((await api.webhook(input.url)).webhook_id);
    const { data } = (await api.call("dan", "GET", "/webhooks")).body;
    const listed = data.map((webhook: { webhook_id: string }) => webhook.webhook_id);
    expect(listed.slice(0, 12)).toEqual(made);
    const delivered: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { body } = await api.call("dan", "POST", `/webhooks/${made[0]}/test`);
      delivered.unshift(body.data.delivery_id);
    }
    const deliveries = await api.deliveries(made[0]!);
    expect(deliveries.map(({ delivery_id }) => delivery_id)).toEqual(delivered);
  });

  it("has the organization's own webhooks, newest first, with last_delivery [4.21]", async () => {
    const first = await api.webhook(input.url);
    await api.advance(1000);
    const second = await api.webhook(input.url);
    const { body, status } = await api.call("dan", "GET", "/webhooks");
    expect(status).toBe(200);
    expect(body.data.map((webhook: { webhook_id: string }) => webhook.webhook_id)).toEqual([
      second.webhook_id,
      first.webhook_id,
      "wh_ops",
    ]);
    expect(body.data[0].last_delivery).toBeNull();
    expect(body.data[2]).toEqual({
      webhook_id: "wh_ops",
      url: "http://127.0.0.1:9/ops",
      events: ["user.created", "file.processed", "usage.threshold"],
      description: "Operations",
      active: false,
      created_at: "2026-03-01T08:00:00.000Z",
      last_delivery: "2026-03-12T15:21:00.000Z",
    });
    expect((await api.call("eve", "GET", "/webhooks")).body.data).toEqual([]);
  });
});

it("deliveries of state calls are in the webhook's last_delivery if they are the newest [G23]", async () => {
  const path = "/_control/sandboxes/default/state/deliveries";
  const readLast = async () => {
    const { body } = await api.call("dan", "GET", "/webhooks");
    return body.data.at(-1).last_delivery;
  };
  const makeTime = (minute: number) => `2026-03-15T11:${minute}:00.000Z`;
  const failure = { delivery_id: "del_state", webhook_id: "wh_ops", last_attempt: makeTime(20) };
  await api.call(undefined, "POST", path, failure);
  expect(await readLast()).toBe(makeTime(20));
  await api.call(undefined, "POST", path, { webhook_id: "wh_ops", delivered_at: makeTime(10) });
  expect(await readLast()).toBe(makeTime(20));
  await api.call(undefined, "PATCH", `${path}/del_state`, { last_attempt: makeTime(30) });
  expect(await readLast()).toBe(makeTime(30));
});

describe("webhooks.update and webhooks.delete [4.21]", () => {
  it("changes the given fields only [4.21]", async () => {
    const { webhook_id } = await api.webhook(input.url);
    const { status, body } = await api.call("ada", "PUT", `/webhooks/${webhook_id}`, { description: "new" });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: "success",
      data: {
        webhook_id,
        url: input.url,
        events: ["user.created"],
        description: "new",
        active: true,
        created_at: "2026-03-15T12:00:00.000Z",
      },
    });
    const bad = await api.call("ada", "PUT", `/webhooks/${webhook_id}`, { url: "http://a:b@c/" });
    expect(bad.body.error.details).toEqual({ field: "url", value: "http://a:b@c/" });
    expect((await api.call("ada", "GET", "/webhooks")).body.data[0].url).toBe(input.url);
  });

  it("deletes the deliveries too, and answers 404 a second time [4.21]", async () => {
    const answer = await api.call("ada", "DELETE", "/webhooks/wh_ops");
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ status: "success", data: { webhook_id: "wh_ops", deleted: true } });
    expect((await api.control("GET", "/state/deliveries")).body.total).toBe(0);
    expect((await api.call("ada", "DELETE", "/webhooks/wh_ops")).status).toBe(404);
  });

  it.each([
    ["PUT", "/webhooks/wh_ops", {}],
    ["DELETE", "/webhooks/wh_ops", undefined],
    ["POST", "/webhooks/wh_ops/test", undefined],
    ["GET", "/webhooks/wh_ops/deliveries", undefined],
    ["POST", "/webhooks/wh_ops/deliveries/del_failed/redeliver", undefined],
  ])("answers 404 to %s %s of another organization's webhook [G23]", async (method, path, body) => {
    const { status, body: answer } = await api.call("eve", method, path, body);
    expect(status).toBe(404);
    expect(answer.error.code).toBe("RESOURCE_NOT_FOUND");
    expect(answer.error.details).toEqual({ webhook_id: "wh_ops" });
  });

  it("applies to the organization in which the key acts at that moment [G23]", async () => {
    await api.call("ada", "PUT", "/v1/user/current-organization", { organization_id: "org_initech" });
    expect((await api.call("ada", "GET", "/webhooks")).body.data).toEqual([]);
    const { webhook_id } = await api.webhook(input.url);
    expect((await api.call("hana", "GET", "/webhooks")).body.data[0].webhook_id).toBe(webhook_id);
  });
});

describe("a delivery of the reference world [4.21]", () => {
  it("says when it was delivered, or when it failed and is retried [2.12]", async () => {
    expect(await api.deliveries("wh_ops")).toEqual([
      {
        delivery_id: "del_failed",
        event: "file.processed",
        status: "failed",
        response_code: 503,
        attempts: 6,
        last_attempt: "2026-03-12T15:21:00.000Z",
        next_retry: null,
      },
      {
        delivery_id: "del_ok",
        event: "user.created",
        status: "success",
        response_code: 200,
        attempts: 1,
        delivered_at: "2026-03-10T08:00:00.000Z",
      },
    ]);
  });

  it("is not redelivered if it succeeded or is unknown [G23]", async () => {
    const success = await api.call("ada", "POST", "/webhooks/wh_ops/deliveries/del_ok/redeliver");
    expect(success.status).toBe(422);
    expect(success.body.error.details).toEqual({ field: "status", value: "success" });
    const unknown = await api.call("ada", "POST", "/webhooks/wh_ops/deliveries/del_none/redeliver");
    expect(unknown.status).toBe(404);
    expect(unknown.body.error.details).toEqual({ delivery_id: "del_none" });
  });

  it("has the same bytes on each attempt, whatever changes in between, if it is a fixture's [G24]", async () => {
    const receiver = await api.receiver([500, 200]);
    await api.call("ada", "PUT", "/webhooks/wh_ops", { url: receiver.url });
    const path = "/webhooks/wh_ops/deliveries/del_failed/redeliver";
    await api.call("ada", "POST", path);
    await api.control("DELETE", "/state/vector_stores/vs_empty");
    await api.call("ada", "POST", path);
    const [first, second] = await receiver.requests();
    expect(second!.body).toBe(first!.body);
  });

  it("is redelivered for an inactive webhook, under the same id and with the same bytes [G24]", async () => {
    const receiver = await api.receiver([500, 200]);
    await api.call("ada", "PUT", "/webhooks/wh_ops", { url: receiver.url });
    const path = "/webhooks/wh_ops/deliveries/del_failed/redeliver";
    const failed = await api.call("ada", "POST", path);
    expect(failed.body.data).toEqual({
      delivery_id: "del_failed",
      event: "file.processed",
      status: "failed",
      response_code: 500,
      attempts: 7,
      last_attempt: "2026-03-15T12:00:00.000Z",
      next_retry: null,
    });
    const delivered = await api.call("ada", "POST", path);
    expect(delivered.body.data).toMatchObject({ status: "success", response_code: 200, attempts: 8 });
    const requests = await receiver.requests();
    expect(requests.map(({ verdict }) => verdict)).toEqual(["valid", "valid"]);
    expect(requests[0]!.body).toBe(requests[1]!.body);
    expect(JSON.parse(requests[0]!.body)).toMatchObject({
      event: "file.processed",
      delivery_id: "del_failed",
    });
  });
});
