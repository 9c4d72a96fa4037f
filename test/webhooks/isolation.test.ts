import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { waitUntil } from "../support/eventually.ts";
import { startReceiver, startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let api: WebhookApi;
const opened: { close(): unknown }[] = [];
beforeEach(async () => {
  api = await startWebhooks();
});
const limitTo = (webhook_timeout_seconds: number) =>
  api.control("PATCH", "", { settings: { webhook_timeout_seconds } });
afterEach(async () => {
  for (const part of opened.splice(0)) await part.close();
  await api.close();
});

/** A receiver that lets `act` answer on the raw socket. */
async function startHostile(act: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => act(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const HOSTILE: Record<string, (socket: Socket) => void> = {
  silent: () => {},
  "reset before an answer": (socket) => void socket.resetAndDestroy(),
  "reset after the headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart", () => socket.resetAndDestroy());
  },
  "a dribble of headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => socket.write("X-A: b\r\n"), 20);
    socket.once("close", () => clearInterval(timer));
  },
  "an endless body": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const timer = setInterval(() => socket.write("1\r\nx\r\n"), 20);
    socket.once("close", () => clearInterval(timer));
  },
  "a flood of 1xx": (socket) => {
    const timer = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), 5);
    socket.once("close", () => clearInterval(timer));
  },
  "no HTTP": (socket) => void socket.end("hello\r\n\r\n"),
};

describe("one receiver never delays another [6.4]", () => {
  it("hostile receivers time out, and the healthy one has its deliveries long before [6.4]", async () => {
    await limitTo(4);
    const receiver = await startReceiver((_request, _body, respond) => respond(200));
    opened.push(receiver);
    for (const act of Object.values(HOSTILE)) await api.webhook(await startHostile(act));
    const { webhook_id } = await api.webhook(receiver.url);
    let ended = false;
    const trigger = api.trigger().finally(() => {
      ended = true;
    });
    await waitUntil(async () => (await api.deliveries(webhook_id)).length > 0);
    expect(ended).toBe(false);
    expect((await api.deliveries(webhook_id))[0]!.status).toBe("success");
    const deliveries = await trigger;
    const others = deliveries.filter((delivery) => delivery.webhook_id !== webhook_id);
    expect(others).toHaveLength(Object.keys(HOSTILE).length);
    expect(others.every(({ status, next_retry }) => status === "failed" && next_retry !== null)).toBe(true);
  });

  it("a hundred silent webhooks do not block the healthy one of another sandbox [6.4]", async () => {
    const silent = await startHostile(() => {});
    const { world } = api.understudy.sandboxes.get("default")!;
    for (let i = 0; i < 150; i++)
      await api.control("POST", "/state/webhooks", { url: silent, events: ["user.created"] });
    await limitTo(1);
    const trigger = api.trigger();
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "other" });
    const receiver = await startReceiver((_request, _body, respond) => respond(200));
    opened.push(receiver);
    const callOther = (method: string, path: string, body: unknown) =>
      api.call(undefined, method, `/_control/sandboxes/other${path}`, body);
    await callOther("POST", "/state/webhooks", { url: receiver.url, events: ["user.created"] });
    const { body } = await callOther("POST", "/events", { event: "user.created" });
    expect(body.deliveries).toMatchObject([{ status: "success" }]);
    const deliveries = await trigger;
    expect(deliveries).toHaveLength(150);
    expect(deliveries.every(({ response_code }) => response_code === 0)).toBe(true);
    expect(world.listPending().filter(({ kind }) => kind === "webhook.retry")).toHaveLength(150);
  });

  it("retries of one instant are sent in parallel, one for each webhook, and are reported in due order [6.4]", async () => {
    const silent = await api.receiver([500, "hang"]);
    const quick = await api.receiver([500, 200]);
    await api.webhook(silent.url);
    const { webhook_id } = await api.webhook(quick.url);
    await api.trigger();
    await limitTo(1);
    const advance = api.advanceBy("1m");
    await waitUntil(async () => (await api.deliveries(webhook_id))[0]!.attempts >= 2);
    const ran = (await advance).filter(({ kind }) => kind === "webhook.retry");
    expect(ran.map(({ at }) => at)).toEqual(["2026-03-15T12:01:00.000Z", "2026-03-15T12:01:00.000Z"]);
  });
});

describe("faults that hit deliveries [interfaces 6]", () => {
  it("replace the receiver's answer by status, wire and delay, then the receiver is called again [interfaces 6]", async () => {
    const receiver = await api.receiver();
    const { webhook_id } = await api.webhook(receiver.url);
    const other = await api.receiver();
    await api.webhook(other.url);
    const rule = {
      id: "flaky",
      match: { event: "user.*", webhook: webhook_id },
      sequence: [503, "pass"],
    };
    expect((await api.control("POST", "/faults", rule)).status).toBe(201);
    const deliveries = await api.trigger();
    expect(deliveries.map(({ response_code }) => response_code).sort()).toEqual([200, 503]);
    expect(await receiver.requests()).toHaveLength(0);
    await api.advanceBy("1m");
    expect(await receiver.requests()).toHaveLength(1);
    const [delivery] = await api.deliveries(webhook_id);
    expect(delivery).toMatchObject({ status: "success", attempts: 2 });
    const { body } = await api.control("GET", `/state/deliveries/${delivery!.delivery_id}`);
    expect(body.attempt_log[0]).toMatchObject({
      response_code: 503,
      fault: expect.stringContaining("flaky"),
    });

    await api.control("DELETE", "/faults");
    await api.control("POST", "/faults", {
      match: { webhook: webhook_id },
      effect: { wire: "hang" },
    });
    await limitTo(1);
    const hung = (await api.trigger()).find((one) => one.webhook_id === webhook_id)!;
    expect(hung).toMatchObject({ status: "failed", response_code: 0 });
    expect(await receiver.requests()).toHaveLength(1);
  });
});

describe("shared mode [interfaces 7]", () => {
  it("a webhook to a private address is refused when it is called, unless its range is allowed [interfaces 7]", async () => {
    const receiver = await startReceiver((_request, _body, respond) => respond(200));
    opened.push(receiver);
    const outcomes: number[] = [];
    for (const allowAddresses of [[], ["127.0.0.0/8"]]) {
      const shared = await startWebhooks({ shared: { token: "a-token-of-tests", allowAddresses } });
      const { webhook_id } = await shared.webhook(receiver.url);
      const { body } = await shared.call("ada", "POST", `/webhooks/${webhook_id}/test`);
      outcomes.push(body.data.response_code);
      await shared.close();
    }
    expect(outcomes).toEqual([0, 200]);
  });
});
