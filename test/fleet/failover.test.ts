import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { waitUntil } from "../support/eventually.ts";
import { type NodeProcess, startNodeProcess } from "../support/fleet.ts";
import { hasRedis, NO_REDIS, TestRedis } from "../support/redis.ts";
import { removeTempFolders } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let redis: TestRedis;
let [survivor, killed, paused]: NodeProcess[] = [];
let receiver: Server;
/** The delivery id of each attempt, in order of arrival. */
const attempts: string[] = [];

beforeAll(async () => {
  if (!hasRedis) return;
  redis = await TestRedis.start();
  [survivor, killed, paused] = await Promise.all([1, 2, 3].map(() => startNodeProcess(redis)));
  receiver = createServer((request, response) => {
    attempts.push(String(request.headers["x-service-delivery"]));
    request.resume();
    response.writeHead(attempts.length === 1 ? 500 : 200).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
}, 120_000);
afterAll(async () => {
  receiver?.close();
  for (const node of [survivor, killed, paused]) {
    node?.signal("SIGCONT");
    await node?.stop("SIGKILL");
  }
  await redis?.remove();
  removeTempFolders();
});
beforeEach(({ skip }) => {
  if (!hasRedis) skip(NO_REDIS);
});

const getSandboxPath = (name: string) => `/_control/sandboxes/${name}`;
const makeDepartment = (id: string) => ({ id, name: id, organization_id: "org_acme" });

describe("the failure of a node that owns sandboxes [interfaces 15]", () => {
  it("by kill -9 loses no acknowledged write, and a delivery that is due is made without a request [interfaces 15]", async () => {
    await killed!.control("POST", "/_control/sandboxes", { name: "busy" });
    await killed!.control("POST", "/_control/sandboxes", {
      name: "due",
      clock: { mode: "real" },
      settings: { retry_schedule: ["1s", "1s", "1s"] },
    });
    const { port } = receiver.address() as AddressInfo;
    const hook = { url: `http://127.0.0.1:${port}/`, events: ["user.created"], organization_id: "org_acme" };
    expect((await killed!.control("POST", `${getSandboxPath("due")}/state/webhooks`, hook)).status).toBe(201);
    expect(
      (await killed!.control("POST", `${getSandboxPath("due")}/events`, { event: "user.created" })).status,
    ).toBe(200);
    expect(attempts).toHaveLength(1);
    const acknowledged: string[] = [];
    let isOver = false;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; !isOver; i++) {
        const id = `dept_${writer}_${i}`;
        const answer = await survivor!.control(
          "POST",
          `${getSandboxPath("busy")}/state/departments`,
          makeDepartment(id),
        );
        if (answer.status === 201) acknowledged.push(id);
        else expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
      }
    });
    await waitUntil(() => acknowledged.length > 50);
    const before = acknowledged.length;
    killed!.signal("SIGKILL");
    await waitUntil(() => acknowledged.length > before + 50);
    isOver = true;
    await Promise.all(writers);
    const there = await survivor!.control("GET", `${getSandboxPath("busy")}/state/departments?limit=100000`);
    const ids = new Set(there.body.items.map(({ id }: { id: string }) => id));
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
    // No request has reached the sandbox `due`: the new owner makes the delivery itself.
    await waitUntil(() => attempts.length >= 2);
    expect(attempts[1]).toBe(attempts[0]);
  }, 120_000);

  it("by a pause longer than its lease acknowledges and shows nothing afterwards [interfaces 15]", async () => {
    await paused!.control("POST", "/_control/sandboxes", { name: "asleep" });
    paused!.signal("SIGSTOP");
    const late = paused!.control(
      "POST",
      `${getSandboxPath("asleep")}/state/departments`,
      makeDepartment("dept_late"),
    );
    const stale = paused!.control("GET", `${getSandboxPath("asleep")}/state/departments/dept_new`);
    await waitUntil(async () => {
      const made = await survivor!.control(
        "POST",
        `${getSandboxPath("asleep")}/state/departments`,
        makeDepartment("dept_new"),
      );
      return made.status === 201;
    });
    paused!.signal("SIGCONT");
    // The node either passes the request to the new owner or refuses it. It never answers from its old state.
    expect([200, 503]).toContain((await stale).status);
    const { status } = await late;
    const seen = await survivor!.control("GET", `${getSandboxPath("asleep")}/state/departments/dept_late`);
    expect([status, seen.status]).toEqual(status === 201 ? [201, 200] : [503, 404]);
    await waitUntil(
      async () =>
        (await paused!.control("GET", `${getSandboxPath("asleep")}/state/departments/dept_new`)).status ===
        200,
    );
  }, 120_000);
});
