import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FleetNode } from "../../src/fleet/fleet-node.ts";
import { NodeProxy } from "../../src/fleet/proxy.ts";
import { SandboxRestorer } from "../../src/persistence/sandbox-restorer.ts";
import { waitUntil } from "../support/eventually.ts";
import { startNode, type TestNode, TOKEN } from "../support/fleet.ts";
import { freePort } from "../support/free-port.ts";
import { hasRedis, NO_REDIS, TestRedis } from "../support/redis.ts";

let redis: TestRedis;
const open: TestNode[] = [];
beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start();
});
afterAll(() => redis?.remove());
beforeEach(({ skip }) => {
  if (!hasRedis) skip(NO_REDIS);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const node of open.splice(0)) await node.close();
  if (hasRedis) await redis.command("FLUSHALL");
});

const ONE = "/_control/sandboxes/ci/state/departments/dept_one";

describe("a starting node [interfaces 15]", () => {
  it("has loaded the code for its first takeover, but has taken over no sandbox [interfaces 15]", async () => {
    const port = await freePort();
    const prototype = FleetNode.prototype as unknown as { warmUp: () => Promise<void> };
    const { warmUp } = prototype;
    // The other nodes share this process. They must not warm up the modules first.
    vi.spyOn(prototype, "warmUp").mockImplementation(function (this: FleetNode) {
      return this.session.url.endsWith(`:${port}`) ? warmUp.call(this) : Promise.resolve();
    });
    // This node owns `default`, which the tested node would otherwise take over at its start.
    open.push(await startNode(redis));
    const a = await startNode(redis);
    open.push(a);
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    const department = { id: "dept_one", name: "one", organization_id: "org_acme" };
    expect((await a.control("POST", ONE.replace("/dept_one", ""), department)).status).toBe(201);
    // This process has now loaded the code that the call needs, but not the code that a takeover needs.
    expect((await a.control("GET", ONE)).status).toBe(200);

    const compile = vi.spyOn(Ajv2020.prototype, "compile");
    const restorerWarmUp = vi.spyOn(SandboxRestorer.prototype, "warmUp");
    const ask = vi.spyOn(NodeProxy.prototype, "fetchJson");
    const b = await startNode(redis, { port });
    open.push(b);
    await waitUntil(
      () => restorerWarmUp.mock.settledResults.filter(({ type }) => type === "fulfilled").length === 5,
    );
    expect(new Set(restorerWarmUp.mock.calls.map(([name]) => name))).toEqual(new Set(["default"]));
    expect(ask).toHaveBeenCalledWith(`${b.url}/_control/metrics`, { authorization: `Bearer ${TOKEN}` });
    const { body } = await b.control("GET", "/_control/health");
    expect(body.fleet).toMatchObject({ owned: 0, taken_over: 0 });

    open.splice(open.indexOf(a), 1);
    await a.close();
    compile.mockClear();
    expect((await b.control("GET", ONE)).status).toBe(200);
    expect(compile.mock.calls).toEqual([]);
    expect((await b.control("GET", "/_control/health")).body.fleet).toMatchObject({
      owned: 1,
      taken_over: 1,
    });
  });
});
