import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { activate, arm, CONTROL } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";

let api: Api;
let receiver: { id: string; url: string };
let webhook: string;

beforeEach(async () => {
  api = await startReference();
  receiver = (await api.call(undefined, "POST", `${CONTROL}/receivers`, {})).body;
  const made = await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
  webhook = made.body.data.webhook_id;
});
afterEach(() => api.close());

const deleteThread = () => api.call("dan", "DELETE", "/v1/threads/thread_welcome");
const settle = () => api.understudy.sandboxes.get("default")!.world.whenSettled();

async function readDelivery() {
  const { body } = await api.call("ada", "GET", `/webhooks/${webhook}/deliveries`);
  return body.data[0];
}

async function countReceived(): Promise<number> {
  return (await api.call(undefined, "GET", `${CONTROL}/receivers/${receiver.id}/requests`)).body.items.length;
}

describe("a rule about deliveries", () => {
  it("counts a delay within the receiver's time limit and in the duration [interfaces 6]", async () => {
    const limitTo = (webhook_timeout_seconds: number) =>
      api.call(undefined, "PATCH", CONTROL, { settings: { webhook_timeout_seconds } });
    await limitTo(30);
    await arm(api, { match: { event: "thread.deleted" }, effect: { delay: "600ms" } });
    const path = `${CONTROL}/receivers/${receiver.id}`;
    await api.call(undefined, "PATCH", path, { answers: [200, "hang"] });
    await deleteThread();
    await settle();
    await limitTo(1);
    await api.call("dan", "DELETE", "/v1/threads/thread_long");
    await settle();
    const { items } = (await api.call(undefined, "GET", `${CONTROL}/state/deliveries?webhook_id=${webhook}`))
      .body;
    const attempts = items.map(({ attempt_log: [attempt] }: { attempt_log: object[] }) => attempt);
    const quick = attempts.find(({ response_code }: { response_code: number }) => response_code === 200);
    const silent = attempts.find(({ response_code }: { response_code: number }) => response_code === 0);
    expect(quick.duration_ms).toBeGreaterThanOrEqual(600);
    expect(silent.error).toContain("timed out after 0.4 s");
    expect(silent.duration_ms).toBeGreaterThanOrEqual(1000);
  });

  it("fails all six attempts without calling the receiver in receiver-down [interfaces 6]", async () => {
    await activate(api, "receiver-down");
    await deleteThread();
    await settle();
    await api.advance(8 * 3_600_000);
    expect(await readDelivery()).toMatchObject({
      status: "failed",
      response_code: 503,
      attempts: 6,
      next_retry: null,
    });
    expect(await countReceived()).toBe(0);
  });

  it("disables the webhook by the 410 of receiver-gone [interfaces 6]", async () => {
    await activate(api, "receiver-gone");
    await deleteThread();
    await settle();
    expect(await readDelivery()).toMatchObject({ status: "failed", response_code: 410, attempts: 1 });
    const { body } = await api.call("ada", "GET", "/webhooks");
    expect(body.data.find(({ webhook_id }: { webhook_id: string }) => webhook_id === webhook).active).toBe(
      false,
    );
  });

  it("fails twice in receiver-flaky, then the delivery reaches the receiver [interfaces 6]", async () => {
    await activate(api, "receiver-flaky");
    await deleteThread();
    await settle();
    expect(await readDelivery()).toMatchObject({ status: "failed", response_code: 500, attempts: 1 });
    await api.advance(60_000);
    expect(await readDelivery()).toMatchObject({ status: "failed", response_code: 503, attempts: 2 });
    await api.advance(5 * 60_000);
    expect(await readDelivery()).toMatchObject({ status: "success", response_code: 200, attempts: 3 });
    expect(await countReceived()).toBe(1);
  });

  it("for another webhook or event does not affect a delivery [interfaces 6]", async () => {
    await arm(api, { match: { webhook: "wh_other" }, effect: { status: 500 } });
    await arm(api, { match: { event: "user.*" }, effect: { wire: "reset" } });
    await deleteThread();
    await settle();
    expect(await readDelivery()).toMatchObject({ status: "success", attempts: 1 });
    await arm(api, { id: "mine", match: { webhook }, times: 1, effect: { wire: "reset" } });
    await api.call("ada", "POST", `/webhooks/${webhook}/test`);
    expect(await readDelivery()).toMatchObject({ status: "failed", response_code: 0 });
    expect((await api.call(undefined, "GET", `${CONTROL}/faults/mine`)).body.hits).toBe(1);
  });
});
