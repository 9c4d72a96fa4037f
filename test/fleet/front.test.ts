import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { parsePlainStart } from "../../src/cli/run.ts";
import { readStartOptions } from "../../src/cli/start-options.ts";
import { formatBanner } from "../../src/cli/start-server.ts";
import { connect } from "../../src/client/connect.ts";
import { openConsole, waitForLive } from "../support/browser/console.ts";
import { PATIENCE_MS, see, useChromium } from "../support/browser/with-chromium.ts";
import { waitUntil } from "../support/eventually.ts";
import { startNode, type TestNode, TOKEN } from "../support/fleet.ts";
import { KEYS } from "../support/harness.ts";
import { checkNginxExample, hasNginx, NO_NGINX, TestNginx } from "../support/nginx.ts";
import { sendRawRequest } from "../support/raw-request.ts";
import { hasRedis, NO_REDIS, TestRedis } from "../support/redis.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

const EXAMPLES = "docs/examples/fleet";
const chromium = useChromium();
let redis: TestRedis;
let [a, b]: TestNode[] = [];
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
  removeTempFolders();
});
beforeEach(({ skip }) => {
  if (!hasRedis) skip(NO_REDIS);
});

const countProxied = async (node: TestNode) =>
  (await node.control("GET", "/_control/health")).body.fleet.proxied;

describe("a node of a fleet [interfaces 15]", () => {
  it("prints a login link that works once, also if another node owns `default` [interfaces 15]", async () => {
    for (const node of [a!, b!]) {
      const ready = { url: node.url, console: `${node.url}/_console`, pid: 1, token: TOKEN };
      const recorded = formatBanner(node.understudy, ready, { allowHosts: ["box.test"] });
      expect(recorded.includes("running: a node of a fleet")).toBe(node === b);
      expect(recorded).toContain("  Also as  box.test\n");
      expect(recorded).toContain(`  Token    ${TOKEN}\n`);
      const [, page, code] = /^ {2}Log in {3}(\S+)#login=(\S+) \(once\)$/m.exec(recorded)!;
      expect((await fetch(page!)).status).toBe(200);
      const redeemCode = () => node.call(undefined, "POST", "/_console/login", { code });
      expect(await redeemCode()).toMatchObject({ status: 200, body: { token: TOKEN } });
      expect((await redeemCode()).status).toBe(401);
    }
  });

  it("serves a sandbox by its name below localhost, and opens no port for it [interfaces 16]", async () => {
    const refused = await b!.control("POST", "/_control/sandboxes", { name: "ported", origin: true });
    expect([refused.status, refused.body.field]).toEqual([422, "origin"]);
    for (const node of [a!, b!]) {
      const { port } = new URL(node.url);
      const lines = [`Host: ci.localhost:${port}`, `api-key: ${KEYS.dan}`, "Connection: close"];
      const answer = await sendRawRequest(Number(port), ["GET /v1/models HTTP/1.1", ...lines]);
      expect(answer.status).toBe(200);
    }
    const { body } = await a!.control("GET", "/_control/sandboxes/ci/journal");
    expect(body.total).toBe(2);
  });

  it("shows nodes, sandboxes and leases in fleet status, which is exit 1 for a server alone [interfaces 15]", async () => {
    const target = ["--url", b!.url, "--token", TOKEN];
    const { code, stdout } = await runCommand(["fleet", "status", ...target]);
    expect(code).toBe(0);
    const lines = stdout.split("\n").map((line) => line.trim().split(/ {2,}/));
    expect(lines[0]).toEqual([`2 nodes on ${redis.url}; 2 sandboxes, 0 without an owner`]);
    expect(lines).toContainEqual([a!.url, expect.any(String), expect.any(String), "2"]);
    expect(lines).toContainEqual([b!.url, expect.any(String), expect.any(String), "0"]);
    expect(lines).toContainEqual(["ci", a!.url, "1"]);
    const short = await runCommand(["fleet", "status", "--limit", "1", ...target]);
    expect(short.stdout).toContain("… and 1 more: --limit 2");
    const json = await runCommand(["fleet", "status", "--json", ...target]);
    expect(JSON.parse(json.stdout)).toMatchObject({ store: redis.url, sandboxes: { total: 2, owned: 2 } });
  });

  it(
    "serves the console for a sandbox that it does not own [interfaces 15]",
    async () => {
      const { page, complaints } = await openConsole(chromium(), b!.url, "/s/ci/timeline");
      await page.getByLabel("Control token").fill(TOKEN);
      await page.keyboard.press("Enter");
      await waitForLive(page);
      // The page shows an event that happened at the owner.
      await a!.call("dan", "DELETE", "/_s/ci/v1/threads/thread_none");
      await see(page.getByRole("row", { name: /thread_none/ }).first()).toBeVisible();
      await page.goto(`${b!.url}/_console/s/ci/world?collection=users`);
      await see(page.getByRole("row", { name: /usr_dan/ })).toBeVisible();
      // The first requests are sent before the token is entered.
      expect(complaints.filter((line) => !line.includes("401"))).toEqual([]);
      expect(await countProxied(b!)).toBeGreaterThan(0);
      await page.close();
    },
    4 * PATIENCE_MS,
  );

  it("keeps its sandboxes behind nginx with consistent hashing, and survives the end of a node [interfaces 15]", async ({
    skip,
  }) => {
    if (!hasNginx) skip(NO_NGINX);
    const c = await startNode(redis);
    const nginx = await TestNginx.start([b!.url, c.url]);
    try {
      const before = (await countProxied(b!)) + (await countProxied(c));
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
      expect((await countProxied(b!)) + (await countProxied(c))).toBe(before);
      const countOwned = async (node: TestNode) =>
        (await node.control("GET", "/_control/health")).body.fleet.owned;
      const [ofB, ofC] = [await countOwned(b!), await countOwned(c)];
      expect([ofB > 0, ofC > 0, ofB + ofC]).toEqual([true, true, names.length]);
      await c.close();
      for (const name of names) await waitUntil(async () => (await ask(`/_s/${name}`)) === 200);
      expect(await countOwned(b!)).toBe(names.length);
    } finally {
      await nginx.remove();
    }
  });

  it("starts by the compose file and the systemd unit [interfaces 15]", async () => {
    const { services, networks } = parse(readFileSync(`${EXAMPLES}/compose.yaml`, "utf8"), { merge: true });
    const { redis: store, nginx, ...nodes } = services;
    const unit = readFileSync(`${EXAMPLES}/understudy.service`, "utf8");
    const ofUnit = /^ExecStart=\S+ (.*)$/m.exec(unit)![1]!.replace(/\$\{NODE_URL\}/, "http://10.0.0.5:4747");
    const commands = [...Object.values<{ command: string }>(nodes).map(({ command }) => command), ofUnit];
    vi.stubEnv("UNDERSTUDY_TOKEN", TOKEN);
    try {
      const read = commands.map(async (command) => readStartOptions(parsePlainStart(command.split(" "))!));
      const places = (await Promise.all(read)).map(({ server }) => server.store);
      expect(places).toEqual([
        ...Object.keys(nodes).map((name) => ({ url: "redis://redis:6379", nodeUrl: `http://${name}:4747` })),
        { url: "redis://10.0.0.9:6379", nodeUrl: "http://10.0.0.5:4747" },
      ]);
    } finally {
      vi.unstubAllEnvs();
    }
    expect(store.command).toContain("--appendonly yes");
    // The default configuration of Redis refuses clients of other machines without a password.
    expect(store.command).toContain("--protected-mode no");
    // nginx resolves a name only once, and a restarted container may get another address.
    const addresses = Object.values<{ networks: { default: { ipv4_address: string } } }>(nodes).map(
      ({ networks }) => networks.default.ipv4_address,
    );
    const [{ subnet }] = networks.default.ipam.config;
    expect(new Set(addresses).size).toBe(Object.keys(nodes).length);
    const range = ipaddr.parseCIDR(subnet);
    expect(addresses.filter((address) => !ipaddr.parse(address).match(range))).toEqual([]);
    expect(nginx.depends_on).toEqual(Object.keys(nodes));
    const conf = spawnSync("sh", ["-c", nginx.command[2].replace("/fleet", EXAMPLES).replace(/ > .*/, "")]);
    for (const name of Object.keys(nodes))
      expect(String(conf.stdout)).toContain(`server ${name}:4747 max_fails=1`);
    expect(String(conf.stdout)).not.toContain("server 127.");
    // A stopped node does not answer. nginx must retry on another node the requests that it has not sent.
    expect(String(conf.stdout)).toMatch(/^\s*proxy_next_upstream error timeout;$/m);
    const { port } = new URL(`http://localhost:${nginx.ports[0].split(":")[1]}`);
    expect(String(conf.stdout)).toContain(`listen ${port};`);
    // The program of the unit need not be installed on this machine.
    const file = join(createTempFolder(), "understudy.service");
    writeFileSync(file, unit.replace("/usr/bin/understudy", "/bin/true"));
    const checked = spawnSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8" });
    if (checked.error === undefined) expect([checked.status, checked.stderr]).toEqual([0, ""]);
  });

  it("is reached through the example's nginx.conf, which nginx accepts [interfaces 15]", ({ skip }) => {
    if (!hasNginx) skip(NO_NGINX);
    expect(checkNginxExample()).toBe("");
  });
});
