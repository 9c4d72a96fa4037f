import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitUntilPasses } from "../support/eventually.ts";
import { arm, getDecision } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";

/** For each sandbox (interfaces 3). */
const MAX_HELD_REQUESTS = 500;

let api: Api;
let sockets: Socket[] = [];
beforeEach(async () => {
  api = await startReference();
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await api.close();
});

const countHeld = () => api.understudy.sandboxes.get("default")!.waitingRequests;

/** Opens `count` connections and sends one request without a credential on each. */
async function open(count: number, header = ""): Promise<void> {
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => {});
    socket.write(`GET /v1/models HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`);
  }
}

const ask = (headers: Record<string, string> = {}) =>
  api.call("ada", "GET", "/v1/models", undefined, headers);

describe("the limit of held requests", () => {
  it.each(["X-Sandbox-Fault: hang", "X-Sandbox-Delay: 1h"])(
    "applies to %s in each sandbox, also without a credential [interfaces 3]",
    async (header) => {
      await open(MAX_HELD_REQUESTS, `${header}\r\n`);
      await waitUntilPasses(() => expect(countHeld()).toBe(MAX_HELD_REQUESTS));
      for (const [name, value] of [
        ["x-sandbox-fault", "hang"],
        ["x-sandbox-delay", "1ms"],
      ] as const) {
        const refused = await ask({ [name]: value });
        expect(refused.status).toBe(503);
        expect(refused.body).toMatchObject({
          type: "urn:understudy:problem:limit-reached",
          limit: "held_requests",
          allowed: MAX_HELD_REQUESTS,
        });
        expect(getDecision(refused)).toBe("limit");
        const { entries } = (await api.call(undefined, "GET", "/_control/sandboxes/default/journal?limit=1"))
          .body;
        expect(entries[0].decision).toBe("limit");
        expect(entries[0]).not.toHaveProperty("fault");
      }
      expect((await ask()).status).toBe(200);
      const other = await api.call(undefined, "POST", "/_control/sandboxes", { name: "other" });
      expect(other.status).toBe(201);
      const delayed = await api.call("ada", "GET", "/_s/other/v1/models", undefined, {
        "x-sandbox-delay": "1ms",
      });
      expect(delayed.status).toBe(200);
    },
  );

  it("makes room when requests end [interfaces 3]", async () => {
    await open(MAX_HELD_REQUESTS, "X-Sandbox-Fault: hang\r\n");
    await waitUntilPasses(() => expect(countHeld()).toBe(MAX_HELD_REQUESTS));
    for (const socket of sockets) socket.destroy();
    await waitUntilPasses(() => expect(countHeld()).toBe(0));
    expect((await ask({ "x-sandbox-delay": "1ms" })).status).toBe(200);
    expect(countHeld()).toBe(0);
  });

  it("does not count delays of rules [interfaces 6]", async () => {
    await arm(api, { id: "slow", match: { operation: "models.list" }, effect: { delay: "1ms" } });
    await open(3, "X-Sandbox-Delay: 1h\r\n");
    await waitUntilPasses(() => expect(countHeld()).toBe(3));
    expect((await ask()).status).toBe(200);
    expect(countHeld()).toBe(3);
  });
});
