import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitUntil } from "../support/eventually.ts";
import { startReceiver, startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

let api: WebhookApi;
beforeEach(async () => {
  api = await startWebhooks();
});
afterEach(() => api.close());

const toInstant = (n: number) => new Date(Date.UTC(2026, 2, 15, 12, n)).toISOString();

describe("a delivery [6.2, 6.3]", () => {
  it("has the payload, the headers and a signature over exactly these bytes [6.3, 6.2]", async () => {
    const heard: { headers: Record<string, unknown>; body: Buffer; raw: string[]; method?: string }[] = [];
    const receiver = await startReceiver((request, body, respond) => {
      heard.push({ headers: request.headers, body, raw: request.rawHeaders, method: request.method });
      respond(204);
    });
    const { webhook_id, secret } = await api.webhook(receiver.url);
    const [delivery] = await api.trigger();
    await receiver.close();
    expect(heard).toHaveLength(1);
    const { headers, body, raw, method } = heard[0]!;
    expect(method).toBe("POST");
    expect(JSON.parse(body.toString())).toEqual({
      event: "user.created",
      data: { user_id: "usr_dan", email: "dan@acme.test", created_at: expect.any(String) },
      timestamp: "2026-03-15T12:00:00.000Z",
      webhook_id,
      delivery_id: delivery!.delivery_id,
    });
    expect(Object.keys(JSON.parse(body.toString()))).toEqual([
      "event",
      "data",
      "timestamp",
      "webhook_id",
      "delivery_id",
    ]);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "x-service-event": "user.created",
      "x-service-delivery": delivery!.delivery_id,
      "user-agent": "Service-Webhook/1.0",
      "x-service-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    });
    expect(raw).toContain("X-Service-Signature");
    expect(delivery).toMatchObject({ status: "success", response_code: 204, attempts: 1 });
  });

  it("has service_name in its User-Agent [G23]", async () => {
    api.understudy.sandboxes.get("default")!.configure({ service_name: "Acme" });
    const receiver = await api.receiver();
    await api.webhook(receiver.url);
    await api.trigger();
    expect((await receiver.requests())[0]!.headers["user-agent"]).toBe("Acme-Webhook/1.0");
  });
});

describe("the schedule [6.4, G24]", () => {
  it("has six attempts at 0, 1m, 6m, 21m, 1h21m and 7h21m, with the same bytes and id [G24, 6.4]", async () => {
    const receiver = await api.receiver([500]);
    const { webhook_id } = await api.webhook(receiver.url);
    const [first] = await api.trigger();
    expect(first).toMatchObject({
      status: "failed",
      response_code: 500,
      attempts: 1,
      last_attempt: toInstant(0),
      next_retry: toInstant(1),
    });
    expect(await api.pending()).toContainEqual({
      due_at: toInstant(1),
      kind: "webhook.retry",
      subject: first!.delivery_id,
    });
    const ran = await api.advanceBy("2d");
    const retries = ran.filter(({ kind }) => kind === "webhook.retry");
    expect(retries).toEqual(
      [1, 6, 21, 81, 441].map((minute) => ({
        at: toInstant(minute),
        kind: "webhook.retry",
        subject: first!.delivery_id,
      })),
    );
    const requests = await receiver.requests();
    expect(requests.map(({ at }) => at)).toEqual([0, 1, 6, 21, 81, 441].map(toInstant));
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers["x-service-delivery"]))).toEqual(
      new Set([first!.delivery_id]),
    );
    expect(requests.every(({ verdict }) => verdict === "valid")).toBe(true);
    expect(await api.deliveries(webhook_id)).toEqual([
      {
        delivery_id: first!.delivery_id,
        event: "user.created",
        status: "failed",
        response_code: 500,
        attempts: 6,
        last_attempt: toInstant(441),
        next_retry: null,
      },
    ]);
    const listed = (await api.call("ada", "GET", "/webhooks")).body.data[0];
    expect(listed.last_delivery).toBe(toInstant(441));
  });

  it("ends with a 2xx as a success [3.3]", async () => {
    const receiver = await api.receiver([503, 200]);
    const { webhook_id } = await api.webhook(receiver.url);
    await api.trigger();
    await api.advanceBy("1d");
    expect(await receiver.requests()).toHaveLength(2);
    const [delivery] = await api.deliveries(webhook_id);
    expect(delivery).toEqual({
      delivery_id: expect.any(String),
      event: "user.created",
      status: "success",
      response_code: 200,
      attempts: 2,
      delivered_at: toInstant(1),
    });
  });

  it("uses the current URL of the webhook for a retry [G24]", async () => {
    const old = await api.receiver([500]);
    const moved = await api.receiver([200]);
    const { webhook_id } = await api.webhook(old.url);
    await api.trigger();
    await api.call("ada", "PUT", `/webhooks/${webhook_id}`, { url: moved.url });
    await api.advanceBy("1m");
    expect(await old.requests()).toHaveLength(1);
    expect((await moved.requests()).map(({ verdict }) => verdict)).toEqual(["valid"]);
  });

  it("has other delays with the setting retry_schedule, and never more than six attempts [G24]", async () => {
    api.understudy.sandboxes.get("default")!.configure({ retry_schedule: ["10s", 5000, 0, 0, 0, 0, 0, 0] });
    const receiver = await api.receiver([500]);
    await api.webhook(receiver.url);
    await api.trigger();
    const ran = await api.advanceBy("1h");
    expect(ran.filter(({ kind }) => kind === "webhook.retry").map(({ at }) => at)).toEqual([
      "2026-03-15T12:00:10.000Z",
      ...Array(4).fill("2026-03-15T12:00:15.000Z"),
    ]);
    expect(await receiver.requests()).toHaveLength(6);
  });

  it.each(["301", "302", "307"])(
    "counts a redirect (%s) as a failure and does not follow it [G24]",
    async (status) => {
      const target = await api.receiver();
      const receiver = await startReceiver((_request, _body, respond) => respond(Number(status)));
      await api.webhook(receiver.url);
      const [delivery] = await api.trigger();
      expect(delivery).toMatchObject({ status: "failed", response_code: Number(status) });
      expect(await target.requests()).toHaveLength(0);
      await receiver.close();
    },
  );

  it("has response_code 0 for silence, a reset, a refused connection and an unknown host [G24]", async () => {
    api.understudy.sandboxes.get("default")!.configure({ webhook_timeout_seconds: 0.2 });
    const hang = await api.receiver(["hang"]);
    const reset = await api.receiver(["reset"]);
    for (const url of [hang.url, reset.url, "http://127.0.0.1:9/", "http://receiver.invalid/"]) {
      await api.webhook(url);
    }
    const deliveries = await api.trigger();
    expect(deliveries.map(({ status, response_code }) => [status, response_code])).toEqual(
      Array(4).fill(["failed", 0]),
    );
    // The wall clock limits response times; the clock of the frozen sandbox does not move.
    expect(new Set(deliveries.map(({ next_retry }) => next_retry))).toEqual(new Set([toInstant(1)]));
    const { body } = await api.control("GET", "/state/deliveries");
    const errors = body.items.flatMap((delivery: { attempt_log: { error: string }[] }) =>
      delivery.attempt_log.map(({ error }) => error),
    );
    expect(errors).toHaveLength(4);
    expect(errors.every((error: string) => error.length > 0)).toBe(true);
  });
});

describe("events that end the retries early [G24]", () => {
  it("410 disables the webhook and cancels its pending retries, also those of the same instant [G24, 6.4]", async () => {
    const receiver = await api.receiver([500, 500, 500, 410]);
    const { webhook_id } = await api.webhook(receiver.url);
    for (let i = 0; i < 3; i++) await api.trigger();
    const ran = await api.advanceBy("1d");
    expect(ran.filter(({ kind }) => kind === "webhook.retry")).toHaveLength(1);
    expect(await receiver.requests()).toHaveLength(4);
    const deliveries = await api.deliveries(webhook_id);
    expect(deliveries.map(({ next_retry }) => next_retry)).toEqual([null, null, null]);
    expect(deliveries.map(({ response_code }) => response_code).sort()).toEqual([410, 500, 500]);
    expect((await api.call("ada", "GET", "/webhooks")).body.data[0].active).toBe(false);
    expect(await api.trigger()).toEqual([]);
  });

  it("PUT active false cancels the pending retries, and active true does not bring them back [G24]", async () => {
    const receiver = await api.receiver([500]);
    const { webhook_id } = await api.webhook(receiver.url);
    await api.trigger();
    await api.call("ada", "PUT", `/webhooks/${webhook_id}`, { active: false });
    expect((await api.deliveries(webhook_id))[0]!.next_retry).toBeNull();
    await api.call("ada", "PUT", `/webhooks/${webhook_id}`, { active: true });
    await api.advanceBy("1d");
    expect(await receiver.requests()).toHaveLength(1);
  });

  it("DELETE cancels the pending retries, and aborts an attempt in progress [G24]", async () => {
    const receiver = await api.receiver([500, "hang"]);
    const { webhook_id } = await api.webhook(receiver.url);
    await api.trigger();
    const advance = api.advanceBy("1d");
    await waitUntil(async () => (await receiver.requests()).length >= 2);
    await api.call("ada", "DELETE", `/webhooks/${webhook_id}`);
    const ran = await advance;
    expect(ran.filter(({ kind }) => kind === "webhook.retry")).toHaveLength(0);
    expect(await receiver.requests()).toHaveLength(2);
    expect(await api.pending()).not.toContainEqual(expect.objectContaining({ kind: "webhook.retry" }));
  });

  it("a reset or the end of the sandbox cancels everything [interfaces 4]", async () => {
    const receiver = await startReceiver((_request, _body, respond) => respond(500));
    await api.webhook(receiver.url);
    await api.trigger();
    await api.control("POST", "/reset", {});
    expect((await api.pending()).filter(({ kind }) => kind === "webhook.retry")).toEqual([]);
    expect((await api.call("ada", "GET", "/webhooks")).body.data).toHaveLength(1);
    await receiver.close();
  });
});
