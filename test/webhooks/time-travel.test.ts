import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { queuedAttempts } from "../../src/engine/webhooks/queued-attempts.ts";
import { waitUntil } from "../support/eventually.ts";
import { startReceiver, startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of opened.splice(0).reverse()) await part.close();
});

async function start(options: Parameters<typeof startWebhooks>[0] = {}): Promise<WebhookApi> {
  const api = await startWebhooks(options);
  opened.push(api);
  return api;
}

/** A receiver that counts its requests and answers each when the test calls it. */
async function startGate() {
  const waiting: ((status: number) => void)[] = [];
  const bodies: string[] = [];
  const receiver = await startReceiver((_request, body, respond) => {
    bodies.push(body.toString());
    waiting.push(respond);
  });
  opened.push(receiver);
  return {
    url: receiver.url,
    bodies,
    waiting,
    async arrived(count: number) {
      await waitUntil(() => bodies.length >= count);
    },
  };
}

describe("a delivery in progress [interfaces 4]", () => {
  it("is restored with its pending retry, which is made again at its instant [interfaces 4]", async () => {
    const api = await start();
    const receiver = await api.receiver([500, 200]);
    const { webhook_id } = await api.webhook(receiver.url);
    await api.trigger();
    await api.control("POST", "/snapshots", { name: "failed" });
    await api.advanceBy("1m");
    expect((await api.deliveries(webhook_id))[0]!.status).toBe("success");
    await api.control("POST", "/snapshots/failed/restore");
    expect((await api.deliveries(webhook_id))[0]).toMatchObject({
      status: "failed",
      attempts: 1,
      next_retry: "2026-03-15T12:01:00.000Z",
    });
    const ran = await api.advanceBy("1m");
    expect(ran.filter(({ kind }) => kind === "webhook.retry")).toHaveLength(1);
    expect((await receiver.requests()).map(({ headers }) => headers["x-service-delivery"])).toHaveLength(3);
  });

  it("leaves no trace if a restore happens meanwhile, and is made again if it is in the snapshot [interfaces 4]", async () => {
    const api = await start();
    const gate = await startGate();
    const { webhook_id } = await api.webhook(gate.url);
    await api.control("POST", "/snapshots", { name: "before" });
    void api.trigger();
    await gate.arrived(1);
    await api.control("POST", "/snapshots", { name: "during" });

    await api.control("POST", "/snapshots/before/restore");
    gate.waiting[0]!(200);
    await api.understudy.sandboxes.get("default")!.world.whenSettled();
    expect(await api.deliveries(webhook_id)).toEqual([]);

    await api.control("POST", "/snapshots/during/restore");
    await gate.arrived(2);
    gate.waiting[1]!(500);
    await api.understudy.sandboxes.get("default")!.world.whenSettled();
    expect(gate.bodies[1]).toBe(gate.bodies[0]);
    expect((await api.deliveries(webhook_id))[0]).toMatchObject({ status: "failed", attempts: 1 });
  });

  it("is made again in its order if it was queued at a restore [interfaces 4]", async () => {
    const api = await start();
    const gate = await startGate();
    await api.webhook(gate.url);
    const { world } = api.understudy.sandboxes.get("default")!;
    // First attempts are made one at a time, so all but one are queued. There are more than nine, so that 10 must come
    // after 9.
    const users = ["usr_dan", "usr_ada", "usr_ben", "usr_cleo"];
    const asked = Array.from({ length: 12 }, (_, index) => users[index % users.length]!);
    for (const [index, user] of asked.entries()) {
      void api.trigger({ event: "user.created", for: user });
      await waitUntil(() => [...world.read().all(queuedAttempts)].length > index);
    }
    await api.control("POST", "/snapshots", { name: "waiting" });
    await api.control("POST", "/snapshots/waiting/restore");
    for (let sent = 1; sent <= asked.length; sent++) {
      await gate.arrived(1 + sent);
      gate.waiting[sent]!(200);
    }
    await world.whenSettled();
    const userIds = gate.bodies
      .slice(1)
      .map((body) => (JSON.parse(body) as { data: { user_id: string } }).data.user_id);
    expect(userIds).toEqual(asked);
  });

  it("has its own pending retries in a fork, which end when the fork is deleted [interfaces 4]", async () => {
    const api = await start();
    const gate = await startGate();
    await api.webhook(gate.url);
    const trigger = api.trigger();
    await gate.arrived(1);
    gate.waiting[0]!(500);
    await trigger;
    await api.control("POST", "/fork", { name: "copy" });
    const callFork = (method: string, path: string, body?: unknown) =>
      api.call(undefined, method, `/_control/sandboxes/copy${path}`, body);
    const advance = callFork("POST", "/clock/advance", { by: "1m" });
    await gate.arrived(2);
    gate.waiting[1]!(500);
    expect((await advance).body.ran.some(({ kind }: { kind: string }) => kind === "webhook.retry")).toBe(
      true,
    );
    expect(await api.pending()).toContainEqual(
      expect.objectContaining({ due_at: "2026-03-15T12:01:00.000Z" }),
    );

    const second = callFork("POST", "/clock/advance", { by: "5m" });
    await gate.arrived(3);
    const { world } = api.understudy.sandboxes.get("copy")!;
    expect((await callFork("DELETE", "")).status).toBe(204);
    await second.catch(() => {});
    await world.whenSettled();
    expect(gate.bodies).toHaveLength(3);
  });

  it("ends with a reset [interfaces 4]", async () => {
    const api = await start();
    const gate = await startGate();
    await api.webhook(gate.url);
    const trigger = api.trigger();
    await gate.arrived(1);
    await api.control("POST", "/reset", {});
    expect(await trigger).toEqual([]);
    await api.advanceBy("1d");
    expect(gate.bodies).toHaveLength(1);
  });
});

describe("long walks [G24]", () => {
  it("four hundred days in one step equal four hundred steps of a day [G24]", async () => {
    const trace = async (steps: number) => {
      const api = await start({ seed: 3 });
      const receiver = await api.receiver([500, 503, 301, 500, 500, 500, 500, 200, 500]);
      const { webhook_id } = await api.webhook(receiver.url);
      for (let i = 0; i < 3; i++) {
        await api.trigger({ event: "user.created" });
        await api.advanceBy("50s");
      }
      const ran: object[] = [];
      for (let i = 0; i < steps; i++) ran.push(...(await api.advanceBy(`${400 / steps}d`)));
      const requests = (await receiver.requests()).map(({ at, body }) => ({ at, body }));
      return { ran, requests, deliveries: await api.deliveries(webhook_id) };
    };
    const walked = await trace(400);
    expect(await trace(1)).toEqual(walked);
    expect(walked.requests.length).toBeGreaterThan(10);
  });
});

describe("--persist [interfaces 2]", () => {
  it("after a restart pending attempts are sent and retries keep their instants [interfaces 2]", async () => {
    const folder = mkdtempSync(join(tmpdir(), "understudy-webhooks-"));
    // This cleanup runs last, when no server writes to the folder any longer.
    opened.push({ close: async () => rmSync(folder, { recursive: true, force: true }) });
    const gate = await startGate();
    const first = await startWebhooks({ persist: { folder, durable: true } });
    const { webhook_id } = await first.webhook(gate.url, ["user.created", "user.updated"]);
    const failed = first.trigger();
    await gate.arrived(1);
    gate.waiting[0]!(500);
    await failed;
    void first.trigger({ event: "user.updated", for: "usr_dan" }).catch(() => {});
    await gate.arrived(2);
    await first.close();

    const second = await start({ persist: { folder, durable: true } });
    await gate.arrived(3);
    gate.waiting[2]!(200);
    await second.understudy.sandboxes.get("default")!.world.whenSettled();
    expect(gate.bodies[2]).toBe(gate.bodies[1]);
    const deliveries = await second.deliveries(webhook_id);
    expect(deliveries.map(({ event, status }) => [event, status]).sort()).toEqual([
      ["user.created", "failed"],
      ["user.updated", "success"],
    ]);
    expect(await second.pending()).toContainEqual(
      expect.objectContaining({ kind: "webhook.retry", due_at: "2026-03-15T12:01:00.000Z" }),
    );
  });
});

describe("real and scaled clocks [G24]", () => {
  it("on a running clock the delay counts from the end of the attempt before [G24]", async () => {
    const api = await start({
      clock: { mode: "scaled", rate: 1000, now: Date.parse("2026-03-15T12:00:00.000Z") },
      settings: { retry_schedule: ["10s"] },
    });
    const stamps: number[] = [];
    const receiver = await startReceiver((_request, _body, respond) => {
      stamps.push(performance.now());
      setTimeout(() => respond(500), 40);
    });
    opened.push(receiver);
    const { webhook_id } = await api.webhook(receiver.url);
    await api.trigger();
    await waitUntil(async () => (await api.deliveries(webhook_id))[0]!.attempts >= 2);
    const { body } = await api.control("GET", "/state/deliveries");
    const delivery = body.items.find((one: { webhook_id: string }) => one.webhook_id === webhook_id);
    const [begun, again] = delivery.attempt_log.map(({ at }: { at: string }) => Date.parse(at));
    // The 40 ms of the wall clock are at least 35 s of the sandbox's clock, in addition to the delay of 10 s.
    expect(again - begun).toBeGreaterThanOrEqual(35_000 + 10_000);
    expect(delivery).toMatchObject({ attempts: 2, next_retry: null });
    expect(stamps).toHaveLength(2);
  });
});
