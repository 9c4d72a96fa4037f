import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toValidator } from "../../src/engine/contract/validator.ts";
import { ForwardedEvent } from "../../src/engine/receivers/forwarding.ts";
import { followEvents } from "../support/openapi/control-calls.ts";
import { startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

let api: WebhookApi;
beforeEach(async () => {
  api = await startWebhooks();
});
afterEach(() => api.close());

/** A webhook whose deliveries are answered by the client that follows its receiver. */
async function createForwarding(answers: unknown[] = ["forward"]) {
  const { id, url } = await api.receiver(answers);
  const webhook = await api.webhook(url);
  const path = `/_control/sandboxes/default/receivers/${id}/stream`;
  return {
    url,
    webhook,
    async follow() {
      const { events, waitForCount, close } = await followEvents(api, path);
      await waitForCount(1);
      const readDelivery = async (n = 1) => {
        await waitForCount(n + 1);
        return (events[n] as { delivery: { id: string; headers: object; body_base64: string } }).delivery;
      };
      return { events, delivery: readDelivery, close };
    },
    answer: (delivery: string, answer: object) =>
      api.control("POST", `/receivers/${id}/forwarded/${delivery}`, answer),
    log: async (webhook_id = webhook.webhook_id) => (await api.deliveries(webhook_id))[0]!,
  };
}

const toBase64 = (text: string) => Buffer.from(text).toString("base64");

describe("a forwarded delivery [interfaces 11]", () => {
  it("arrives with its bytes and headers, and has the receiver's answer [interfaces 11]", async () => {
    const { follow, answer, webhook, log } = await createForwarding();
    const { events, delivery } = await follow();
    expect(events[0]).toEqual({ ready: true });
    const triggered = api.trigger();
    const { id, headers, body_base64 } = await delivery();
    const payload = JSON.parse(Buffer.from(body_base64, "base64").toString());
    expect(payload).toMatchObject({ event: "user.created", webhook_id: webhook.webhook_id });
    expect(headers).toMatchObject({
      "X-Service-Event": "user.created",
      "X-Service-Delivery": payload.delivery_id,
      "User-Agent": "Service-Webhook/1.0",
    });
    expect(Object.keys(headers).map((name) => name.toLowerCase())).not.toContain("host");
    const validate = toValidator(ForwardedEvent);
    expect(events.filter((event) => !validate(event))).toEqual([]);
    const taken = {
      status: 202,
      headers: { "X-Mine": "1", Connection: "close" },
      body_base64: toBase64("taken"),
    };
    expect((await answer(id, taken)).status).toBe(204);
    expect((await triggered).map(({ response_code }) => response_code)).toEqual([202]);
    expect(await log()).toMatchObject({ status: "success", response_code: 202 });
    const { body } = await api.control("GET", `/journal/${payload.delivery_id}.1`);
    expect(body.response).toMatchObject({
      headers: expect.arrayContaining([{ name: "x-mine", value: "1" }]),
      body: "taken",
    });
  });

  it("is retried by its answer, has code 0 without one, and is answered once [G24, interfaces 11]", async () => {
    const { follow, answer, log } = await createForwarding();
    const { delivery } = await follow();
    const triggered = api.trigger();
    const first = await delivery();
    expect((await answer(first.id, { failure: "connection refused" })).status).toBe(204);
    expect(await triggered).toMatchObject([{ status: "failed", response_code: 0 }]);
    expect((await answer(first.id, { status: 200 })).body).toMatchObject({
      type: "urn:understudy:problem:nothing-waits",
      detail: expect.stringContaining("its sender has given up"),
    });
    const advanced = api.advanceBy("1m");
    const second = await delivery(2);
    expect(second.body_base64).toBe(first.body_base64);
    await answer(second.id, { status: 200 });
    await advanced;
    expect(await log()).toMatchObject({ status: "success", attempts: 2 });
  });

  it("is answered 503 without a client, or after it left [interfaces 11]", async () => {
    const { follow, log } = await createForwarding();
    expect(await api.trigger()).toMatchObject([{ response_code: 503 }]);
    const { delivery, close } = await follow();
    const triggered = api.trigger();
    await delivery();
    close();
    expect(await triggered).toMatchObject([{ response_code: 503 }]);
    expect(await log()).toMatchObject({ status: "failed" });
  });

  it("is refused without a signature of one of the sandbox's webhooks [interfaces 11]", async () => {
    const { follow, url, answer } = await createForwarding();
    const { events, delivery } = await follow();
    const stranger = await fetch(url, { method: "POST", body: "{}" });
    expect([stranger.status, await stranger.json()]).toEqual([
      403,
      { error: expect.stringContaining("only signed deliveries are forwarded") },
    ]);
    const triggered = api.trigger();
    await answer((await delivery()).id, { status: 200 });
    await triggered;
    expect(events).toHaveLength(2);
  });

  it("can be one of several answers in order, and ends with a reset [interfaces 11]", async () => {
    const { follow, answer } = await createForwarding([500, "forward"]);
    const { delivery } = await follow();
    expect(await api.trigger()).toMatchObject([{ response_code: 500 }]);
    const triggered = api.trigger();
    await answer((await delivery()).id, { status: 200 });
    expect(await triggered).toMatchObject([{ response_code: 200 }]);
    const [{ id }] = (await api.control("GET", "/receivers")).body.items;
    const stream = await fetch(`${api.url}/_control/sandboxes/default/receivers/${id}/stream`);
    await api.control("POST", "/reset", {});
    expect(await stream.text()).toContain("ready");
  });

  it.each([
    [{}, "status or failure must be given"],
    [{ status: 200, failure: "both" }, "status or failure must be given"],
    [{ status: 99 }, "status"],
    [{ status: 200, body_base64: "no base64!" }, "body_base64"],
    [{ status: 200, headers: { "bad name": "x" } }, "headers"],
    [{ status: 200, headers: { fine: "line\r\nbreak" } }, "headers"],
  ])("refuses the answer %j with a sentence and still waits [interfaces 11]", async (wrong, says) => {
    const { follow, answer } = await createForwarding();
    const { delivery } = await follow();
    const triggered = api.trigger();
    const { id } = await delivery();
    const refused = await answer(id, wrong);
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toContain(says);
    expect((await answer(id, { status: 201 })).status).toBe(204);
    expect(await triggered).toMatchObject([{ response_code: 201 }]);
  });
});
