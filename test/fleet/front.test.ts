import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { openConsole, seeLive } from "../support/browser/console.ts";
import { PATIENCE_MS, see, useChromium } from "../support/browser/with-chromium.ts";
import { until } from "../support/eventually.ts";
import { type Node, startNode, TOKEN } from "../support/fleet.ts";
import { KEYS } from "../support/harness.ts";
import { complaintsOfNginx, hasNginx, NO_NGINX, TestNginx } from "../support/nginx.ts";
import { hasRedis, NO_REDIS, TestRedis } from "../support/redis.ts";
import { runCommand } from "../support/run-understudy.ts";

const chromium = useChromium();
let redis: TestRedis;
let [a, b]: Node[] = [];
beforeAll(async () => {
  if (!hasRedis) return;
  redis = await TestRedis.start();
  [a, b] = [await startNode(redis), await startNode(redis)];
  await a.control("POST", "/_control/sandboxes", { name: "ci" });
});
afterAll(async () => {
  await a?.close();
  await b?.close();
  await redis?.remove();
});
beforeEach(({ skip }) => {
  if (!hasRedis) skip(NO_REDIS);
});

const passedOn = async (node: Node) => (await node.control("GET", "/_control/health")).body.fleet.passed_on;

describe("interfaces 15 ways into a fleet", () => {
  it("interfaces 15 fleet status shows nodes, sandboxes and leases, from any node; a server alone is exit 1", async () => {
    const target = ["--url", b!.url, "--token", TOKEN];
    const { code, stdout } = await runCommand(["fleet", "status", ...target]);
    expect(code).toBe(0);
    const lines = stdout.split("\n").map((line) => line.trim().split(/ {2,}/));
    expect(lines[0]).toEqual([`2 node(s) on ${redis.url}; 2 sandbox(es), 0 without an owner`]);
    expect(lines).toContainEqual([a!.url, expect.any(String), expect.any(String), "2"]);
    expect(lines).toContainEqual([b!.url, expect.any(String), expect.any(String), "0"]);
    expect(lines).toContainEqual(["ci", a!.url, "1"]);
    const short = await runCommand(["fleet", "status", "--limit", "1", ...target]);
    expect(short.stdout).toContain("… and 1 more: --limit 2");
    const json = await runCommand(["fleet", "status", "--json", ...target]);
    expect(JSON.parse(json.stdout)).toMatchObject({ store: redis.url, sandboxes: { total: 2, owned: 2 } });
  });

  it(
    "interfaces 15 the console works through a node that does not own the sandbox",
    async () => {
      const { page, complaints } = await openConsole(chromium(), b!.url, "/s/ci/timeline");
      await page.getByLabel("Control token").fill(TOKEN);
      await page.keyboard.press("Enter");
      await seeLive(page);
      // What happens at the owner is followed here.
      await a!.call("dan", "DELETE", "/_s/ci/v1/threads/thread_none");
      await see(page.getByRole("row", { name: /thread_none/ }).first()).toBeVisible();
      await page.goto(`${b!.url}/_console/s/ci/world?collection=users`);
      await see(page.getByRole("row", { name: /usr_dan/ })).toBeVisible();
      // Before the token was given.
      expect(complaints.filter((line) => !line.includes("401"))).toEqual([]);
      expect(await passedOn(b!)).toBeGreaterThan(0);
      await page.close();
    },
    4 * PATIENCE_MS,
  );

  it("interfaces 15 behind nginx with consistent hashing each sandbox stays with one node, and survives it", async ({
    skip,
  }) => {
    if (!hasNginx) skip(NO_NGINX);
    const c = await startNode(redis);
    const nginx = await TestNginx.start([b!.url, c.url]);
    try {
      const before = (await passedOn(b!)) + (await passedOn(c));
      const names = Array.from({ length: 12 }, (_, i) => `hashed-${i}`);
      const client = connect(nginx.url, { token: TOKEN });
      for (const name of names) await client.sandbox({ name });
      const ask = async (prefix: string, headers: Record<string, string> = {}) => {
        const url = `${nginx.url}${prefix}/v1/analytics/usage/limits/org_acme`;
        return (await fetch(url, { headers: { "api-key": KEYS.ada, ...headers } })).status;
      };
      for (const name of names) {
        expect(await ask(`/_s/${name}`)).toBe(200);
        expect(await ask("", { "x-sandbox": name })).toBe(200);
        expect((await (await client.open(name)).info()).name).toBe(name);
      }
      expect((await passedOn(b!)) + (await passedOn(c))).toBe(before);
      const owned = async (node: Node) => (await node.control("GET", "/_control/health")).body.fleet.owned;
      const [ofB, ofC] = [await owned(b!), await owned(c)];
      expect([ofB > 0, ofC > 0, ofB + ofC]).toEqual([true, true, names.length]);
      await c.close();
      for (const name of names) await until(async () => (await ask(`/_s/${name}`)) === 200);
      expect(await owned(b!)).toBe(names.length);
    } finally {
      await nginx.remove();
    }
  });

  it("interfaces 15 the example's nginx.conf is one that nginx takes", ({ skip }) => {
    if (!hasNginx) skip(NO_NGINX);
    expect(complaintsOfNginx()).toBe("");
  });
});
