import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Node, startNode } from "../support/fleet.ts";
import { hasRedis, NO_REDIS, TestRedis } from "../support/redis.ts";

let redis: TestRedis;
const open: Node[] = [];
beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start();
});
afterAll(() => redis?.remove());
beforeEach(({ skip }) => {
  if (!hasRedis) skip(NO_REDIS);
});
afterEach(async () => {
  for (const node of open.splice(0)) await node.close();
  if (hasRedis) await redis.ask("FLUSHALL");
});

async function start(options?: Parameters<typeof startNode>[1]): Promise<Node> {
  const node = await startNode(redis, options);
  open.push(node);
  return node;
}

const DEPARTMENTS = "/_control/sandboxes/ci/state/departments";
const department = (id: string) => ({ id, name: id, organization_id: "org_acme" });

describe("interfaces 15 a fleet", () => {
  it("interfaces 15 a sandbox made at one node is seen, changed and deleted through any", async () => {
    const [a, b] = [await start(), await start()];
    expect((await a.control("POST", "/_control/sandboxes", { name: "ci" })).status).toBe(201);
    const seen = await b.control("GET", "/_control/sandboxes/ci");
    expect([seen.status, seen.body.base_url]).toEqual([200, `${b.url}/_s/ci`]);
    expect((await b.control("POST", DEPARTMENTS, department("dept_one"))).status).toBe(201);
    expect((await a.control("GET", `${DEPARTMENTS}/dept_one`)).status).toBe(200);
    const limits = await b.call("ada", "GET", "/_s/ci/v1/analytics/usage/limits/org_acme");
    expect([limits.status, limits.headers.get("x-sandbox-decision")]).toEqual([200, "ok"]);
    expect((await b.call("ada", "GET", "/v1/analytics/usage/limits/org_acme")).status).toBe(200);
    expect((await b.control("DELETE", "/_control/sandboxes/ci")).status).toBe(204);
    expect((await a.control("GET", "/_control/sandboxes/ci")).status).toBe(404);
    expect((await a.call("ada", "GET", "/_s/ci/v1/models")).headers.get("x-sandbox-decision")).toBe(
      "unknown-sandbox",
    );
  });

  it("interfaces 15 a node that ends gives everything back, and the next one goes on at once", async () => {
    const [a, b] = [await start(), await start()];
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    await a.control("POST", DEPARTMENTS, department("dept_one"));
    open.splice(open.indexOf(a), 1);
    await a.close();
    const began = performance.now();
    expect((await b.control("GET", `${DEPARTMENTS}/dept_one`)).status).toBe(200);
    expect((await b.call("ada", "GET", "/v1/analytics/usage/limits/org_acme")).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(4000);
  });

  it("interfaces 15 of two that make one name at once, one does", async () => {
    const [a, b] = [await start(), await start()];
    for (let i = 0; i < 20; i++) {
      const made = await Promise.all(
        [a, b].map((node) => node.control("POST", "/_control/sandboxes", { name: `x${i}` })),
      );
      expect(made.map(({ status }) => status).sort()).toEqual([201, 409]);
    }
  });
});
