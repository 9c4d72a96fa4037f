import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitUntil } from "../support/eventually.ts";
import { startReceiver, startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

let api: WebhookApi;
beforeEach(async () => {
  api = await startWebhooks();
});
afterEach(() => api.close());

/** quality 2.5 is measured with 200. */
const ROUNDS = Number(process.env["REDELIVERY_ROUNDS"] ?? 50);

const toInstant = (n: number) => new Date(Date.UTC(2026, 2, 15, 12, n)).toISOString();

it("the list says why a delivery failed that a state call changed [interfaces 14]", async () => {
  const receiver = await api.receiver([200]);
  await api.webhook(receiver.url);
  const { delivery_id } = (await api.trigger())[0]!;
  await api.control("PATCH", `/state/deliveries/${delivery_id}`, { status: "failed" });
  const { body } = await api.control("GET", "/deliveries");
  expect(body.items[0]).toMatchObject({ status: "failed", response_code: 500, why: "answered 500" });
});

describe("webhooks.redeliver [G24]", () => {
  it("leaves the pending retry if it fails, and cancels it if it succeeds [G24]", async () => {
    const receiver = await api.receiver([500, 502, 200]);
    const { webhook_id } = await api.webhook(receiver.url);
    const { delivery_id } = (await api.trigger())[0]!;
    await api.advanceBy("30s");
    const path = `/webhooks/${webhook_id}/deliveries/${delivery_id}/redeliver`;
    const failed = await api.call("ada", "POST", path);
    expect(failed.status).toBe(200);
    expect(failed.body.data).toEqual({
      delivery_id,
      event: "user.created",
      status: "failed",
      response_code: 502,
      attempts: 2,
      last_attempt: "2026-03-15T12:00:30.000Z",
      next_retry: toInstant(1),
    });
    const succeeded = await api.call("ada", "POST", path);
    expect(succeeded.body.data).toMatchObject({ status: "success", attempts: 3 });
    expect((await api.advanceBy("1d")).filter(({ kind }) => kind === "webhook.retry")).toEqual([]);
    expect(await receiver.requests()).toHaveLength(3);
    expect((await api.call("ada", "POST", path)).status).toBe(422);
  });

  it("adds to a delivery's log of the latest hundred attempts, and to its total count [G24]", async () => {
    const receiver = await api.receiver([500]);
    const { webhook_id } = await api.webhook(receiver.url);
    const { delivery_id } = (await api.trigger())[0]!;
    const path = `/webhooks/${webhook_id}/deliveries/${delivery_id}/redeliver`;
    for (let n = 0; n < 104; n++) await api.call("ada", "POST", path);
    const { body } = await api.control("GET", `/state/deliveries/${delivery_id}`);
    expect([body.attempts, body.attempt_log.length]).toEqual([105, 100]);
    expect(body.attempt_log.map(({ kind }: { kind: string }) => kind)).not.toContain("first");
  });

  it("counts as an attempt and does not shorten the schedule [G24]", async () => {
    const receiver = await api.receiver([500]);
    const { webhook_id } = await api.webhook(receiver.url);
    const { delivery_id } = (await api.trigger())[0]!;
    const path = `/webhooks/${webhook_id}/deliveries/${delivery_id}/redeliver`;
    for (let i = 0; i < 3; i++) await api.call("ada", "POST", path);
    await api.advanceBy("1d");
    expect((await api.deliveries(webhook_id))[0]).toMatchObject({ attempts: 9, next_retry: null });
    expect(await receiver.requests()).toHaveLength(9);
  });

  it("disables the webhook if it is answered 410 [G24]", async () => {
    const receiver = await api.receiver([500, 410]);
    const { webhook_id } = await api.webhook(receiver.url);
    const { delivery_id } = (await api.trigger())[0]!;
    const path = `/webhooks/${webhook_id}/deliveries/${delivery_id}/redeliver`;
    expect((await api.call("ada", "POST", path)).body.data).toMatchObject({
      response_code: 410,
      next_retry: null,
    });
    expect((await api.call("ada", "GET", "/webhooks")).body.data[0].active).toBe(false);
  });

  it("is made once for each of twenty calls at the same time [G24]", async () => {
    let hits = 0;
    let succeedAt = Number.POSITIVE_INFINITY;
    const receiver = await startReceiver((_request, _body, respond) => {
      hits += 1;
      respond(hits >= succeedAt ? 200 : 500);
    });
    // The rate limit must not affect this test.
    await api.control("PATCH", "/state/organizations/org_acme", {
      plan: "enterprise",
      rate_limit: 1_000_000,
    });
    const { webhook_id } = await api.webhook(receiver.url);
    for (let round = 0; round < ROUNDS; round++) {
      hits = 0;
      succeedAt = Number.POSITIVE_INFINITY;
      const { delivery_id } = (await api.trigger())[0]!;
      // In every other round one redelivery succeeds, and those after it are refused.
      succeedAt = round % 2 === 0 ? Number.POSITIVE_INFINITY : 2 + (round % 19);
      const path = `/webhooks/${webhook_id}/deliveries/${delivery_id}/redeliver`;
      const made = await Promise.all(Array.from({ length: 20 }, () => api.call("ada", "POST", path)));
      const accepted = made.filter(({ status }) => status === 200).length;
      expect(accepted + made.filter(({ status }) => status === 422).length).toBe(20);
      expect(accepted).toBe(round % 2 === 0 ? 20 : succeedAt - 1);
      expect(hits).toBe(accepted + 1);
      const { body } = await api.control("GET", `/state/deliveries/${delivery_id}`);
      expect(body.attempts).toBe(accepted + 1);
      expect(body.status).toBe(round % 2 === 0 ? "failed" : "success");
    }
    await receiver.close();
  });
});

describe("webhooks.test [4.21]", () => {
  it("sends webhook.test, also to an inactive webhook, and answers its delivery [G23, 4.21]", async () => {
    const receiver = await api.receiver();
    const { webhook_id } = await api.webhook(receiver.url);
    await api.call("ada", "PUT", `/webhooks/${webhook_id}`, { active: false });
    const { status, body } = await api.call("ada", "POST", `/webhooks/${webhook_id}/test`);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: "success",
      data: {
        delivery_id: expect.stringMatching(/^del_/),
        event: "webhook.test",
        status: "success",
        response_code: 200,
        attempts: 1,
        delivered_at: toInstant(0),
      },
    });
    const [request] = await receiver.requests();
    expect(request).toMatchObject({ verdict: "valid", headers: { "x-service-event": "webhook.test" } });
    expect(await api.deliveries(webhook_id)).toEqual([body.data]);
  });

  it("makes a delivery that is listed and retried if it fails [G23]", async () => {
    const receiver = await api.receiver([500, 200]);
    const { webhook_id } = await api.webhook(receiver.url);
    const { body } = await api.call("ada", "POST", `/webhooks/${webhook_id}/test`);
    expect(body.data).toMatchObject({ status: "failed", next_retry: toInstant(1) });
    await api.advanceBy("1m");
    expect((await api.deliveries(webhook_id))[0]).toMatchObject({ status: "success", attempts: 2 });
  });
});

describe("a list of deliveries [G24]", () => {
  it("has one delivery per event and webhook, once its first attempt has ended [G24]", async () => {
    const waiting: ((status: number) => void)[] = [];
    const receiver = await startReceiver((_request, _body, respond) => waiting.push(respond));
    const other = await api.receiver();
    const slow = await api.webhook(receiver.url);
    const quick = await api.webhook(other.url);
    const trigger = api.trigger();
    await waitUntil(async () => waiting.length > 0 && (await other.requests()).length > 0);
    expect(await api.deliveries(slow.webhook_id)).toEqual([]);
    await waitUntil(async () => (await api.deliveries(quick.webhook_id)).length > 0);
    const { body } = await api.control("GET", "/state/deliveries");
    expect(body.total).toBe(3);
    waiting[0]!(200);
    expect(await trigger).toHaveLength(2);
    expect(await api.deliveries(slow.webhook_id)).toHaveLength(1);
    await receiver.close();
  });

  it("has the first attempts of one webhook in their order [6.4]", async () => {
    const seen: string[] = [];
    const receiver = await startReceiver((_request, body, respond) => {
      seen.push(JSON.parse(body.toString()).data.email);
      // The earlier a delivery, the later its answer, so that a wrong order would be visible.
      setTimeout(() => respond(200), Math.max(0, 20 - seen.length));
    });
    await api.webhook(receiver.url);
    const emails = Array.from({ length: 25 }, (_, i) => `user${i}@acme.test`);
    const { world } = api.understudy.sandboxes.get("default")!;
    world.transact((tx) => {
      for (const email of emails) tx.emit("user.created", "org_acme", { email });
    });
    await world.whenSettled();
    expect(seen).toEqual(emails);
    await receiver.close();
  });
});
