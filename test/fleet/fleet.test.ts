import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { platform, providePlatform } from "../../src/engine/platform.ts";
import { FleetSaver } from "../../src/fleet/fleet-saver.ts";
import { RedisConnection, toFleetRefusal } from "../../src/persistence/redis-connection.ts";
import { SandboxRestorer } from "../../src/persistence/sandbox-restorer.ts";
import { waitUntil } from "../support/eventually.ts";
import { startNode, startNodeProcess, type TestNode, TOKEN } from "../support/fleet.ts";
import { freePort } from "../support/free-port.ts";
import { KEYS } from "../support/harness.ts";
import { hasRedis, NO_REDIS, TestRedis } from "../support/redis.ts";
import { announce, chunk, makeNoise } from "../support/upload-setup.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

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
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const node of open.splice(0)) await node.close();
  if (hasRedis) await redis.command("FLUSHALL").catch(() => redis.launch());
});

async function start(options?: Parameters<typeof startNode>[1]): Promise<TestNode> {
  const node = await startNode(redis, options);
  open.push(node);
  return node;
}

const DEPARTMENTS = "/_control/sandboxes/ci/state/departments";
const makeDepartment = (id: string) => ({ id, name: id, organization_id: "org_acme" });

describe("a fleet [interfaces 15]", () => {
  it("shows, changes and deletes a sandbox of one node through any node [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    expect((await a.control("POST", "/_control/sandboxes", { name: "ci" })).status).toBe(201);
    const seen = await b.control("GET", "/_control/sandboxes/ci");
    expect([seen.status, seen.body.base_url]).toEqual([200, `${b.url}/_s/ci`]);
    expect((await b.control("GET", "/_control/sandboxes/%63i")).status).toBe(200);
    expect((await b.control("POST", DEPARTMENTS, makeDepartment("dept_one"))).status).toBe(201);
    expect((await a.control("GET", `${DEPARTMENTS}/dept_one`)).status).toBe(200);
    const limits = await b.call("ada", "GET", "/_s/ci/v1/analytics/usage/limits/org_acme");
    expect([limits.status, limits.headers.get("x-sandbox-decision")]).toEqual([200, "ok"]);
    expect((await b.call("ada", "GET", "/v1/analytics/usage/limits/org_acme")).status).toBe(200);
    const stranger = await b.call(undefined, "GET", "/_control/sandboxes/ci", undefined, {
      authorization: "Bearer not-the-token-of-the-fleet",
    });
    expect(stranger.status).toBe(401);
    expect((await b.control("DELETE", "/_control/sandboxes/ci")).status).toBe(204);
    expect((await a.control("GET", "/_control/sandboxes/ci")).status).toBe(404);
    expect(
      (await a.call("ada", "GET", "/_s/ci/v1/analytics/usage/limits/org_acme")).headers.get(
        "x-sandbox-decision",
      ),
    ).toBe("unknown-sandbox");
  });

  it("takes over all sandboxes of a node that stops, and continues at once [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    await a.control("POST", DEPARTMENTS, makeDepartment("dept_one"));
    open.splice(open.indexOf(a), 1);
    await a.close();
    // The stopping node released its leases, so the others do not wait for them to expire.
    const { nodes, leases } = (await b.control("GET", "/_control/fleet")).body;
    expect(nodes).toHaveLength(1);
    expect(leases).toContainEqual(expect.objectContaining({ sandbox: "ci", node: null }));
    expect((await b.control("GET", `${DEPARTMENTS}/dept_one`)).status).toBe(200);
    expect((await b.call("ada", "GET", "/v1/analytics/usage/limits/org_acme")).status).toBe(200);
  });

  it("passes a request for a stopping node to the next one, body included [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    // The other node has cached the owner.
    expect((await b.control("POST", DEPARTMENTS, makeDepartment("dept_before"))).status).toBe(201);
    open.splice(open.indexOf(a), 1);
    const ended = a.close();
    const asked = await Promise.all([
      b.control("POST", DEPARTMENTS, makeDepartment("dept_through_other")),
      a.control("POST", DEPARTMENTS, makeDepartment("dept_through_ending")),
      a.call("ada", "GET", "/_s/ci/v1/analytics/usage/limits/org_acme"),
    ]);
    expect(asked.map(({ status }) => status)).toEqual([201, 201, 200]);
    await ended;
    const { items } = (await b.control("GET", DEPARTMENTS)).body;
    const ids = items.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining(["dept_before", "dept_through_other", "dept_through_ending"]));
  });

  it("shows at every node a sandbox that one node opened from a file [interfaces 15, 19]", async () => {
    const [a, b] = [await start(), await start()];
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const exported = await fetch(`${a.url}/_control/sandboxes/ci/export`, { method: "POST", headers });
    const file = Buffer.from(await exported.arrayBuffer()).toString("base64");
    const opened = await b.control("POST", "/_control/open", { file });
    expect([opened.status, opened.body.name]).toEqual([201, "ci-2"]);
    expect((await a.control("GET", "/_control/sandboxes/ci-2")).status).toBe(200);
    open.splice(open.indexOf(b), 1);
    await b.close();
    expect((await a.control("GET", "/_control/sandboxes/ci-2")).status).toBe(200);
    expect((await a.control("POST", "/_control/open", { file, name: "ci-2" })).status).toBe(409);
  });

  it("creates one sandbox of two with the same name [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    for (let i = 0; i < 20; i++) {
      const made = await Promise.all(
        [a, b].map((node) => node.control("POST", "/_control/sandboxes", { name: `x${i}` })),
      );
      expect(made.map(({ status }) => status).sort()).toEqual([201, 409]);
    }
  });

  it("keeps a sandbox of the name that a call wants to create while this node takes it over [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    await a.control("POST", DEPARTMENTS, makeDepartment("dept_one"));
    open.splice(open.indexOf(a), 1);
    await a.close();
    const { restoreRows } = SandboxRestorer.prototype;
    const register = vi.spyOn(FleetSaver.prototype, "register");
    const restore = vi.spyOn(SandboxRestorer.prototype, "restoreRows");
    restore.mockImplementation(async function (this: SandboxRestorer, ...args) {
      await waitUntil(() => register.mock.calls.length > 0);
      return restoreRows.apply(this, args);
    });
    const read = b.control("GET", `${DEPARTMENTS}/dept_one`);
    await waitUntil(() => restore.mock.calls.length > 0);
    const created = await b.control("POST", "/_control/sandboxes", { name: "ci" });
    expect([created.status, (await read).status]).toEqual([409, 200]);
    expect((await b.control("GET", `${DEPARTMENTS}/dept_one`)).status).toBe(200);
  });

  it("lists and counts all sandboxes with their owners, on any node [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    await b.control("POST", "/_control/sandboxes", { name: "second" });
    await a.control("POST", "/_control/sandboxes", { name: "third" });
    for (const node of [a, b]) {
      const { body } = await node.control("GET", "/_control/sandboxes");
      expect(body.items.map(({ name }: { name: string }) => name)).toEqual(["default", "second", "third"]);
      expect(body.items[1].base_url).toBe(`${node.url}/_s/second`);
    }
    const health = await b.control("GET", "/_control/health");
    expect(health.body).toMatchObject({ sandboxes: 3, saving: { state: "ok" } });
    expect(health.body.fleet).toMatchObject({
      node: b.url,
      lease: "held",
      owned: 1,
      taken_over: 0,
      fenced: 0,
    });
    expect((await a.control("GET", "/_control/metrics")).text).toContain("understudy_fleet_owned 2\n");
    const { body } = await a.control("GET", "/_control/fleet?limit=2");
    expect(body.nodes.map(({ url, owned }: { url: string; owned: number }) => [url, owned]).sort()).toEqual(
      [[a.url, 2] as const, [b.url, 1] as const].sort(),
    );
    expect(body.sandboxes).toEqual({ total: 3, owned: 3, free: 0 });
    expect(body.leases).toEqual([
      { sandbox: "default", node: a.url, epoch: 1 },
      { sandbox: "second", node: b.url, epoch: 1 },
    ]);
  });

  it("passes streams, uploads and broken answers through another node unchanged [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    const authorization = { authorization: `Bearer ${TOKEN}` };
    const stream = await fetch(`${b.url}/_control/sandboxes/ci/journal/stream`, { headers: authorization });
    const reader = stream.body!.getReader();
    await b.call("ada", "GET", "/_s/ci/v1/analytics/usage/limits/org_acme");
    let seen = "";
    while (!seen.includes("usage.retrieve_limits"))
      seen += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    for (const fault of ["reset", "empty", "truncate"]) {
      const broken = fetch(`${b.url}/_s/ci/v1/analytics/usage/limits/org_acme`, {
        headers: { "api-key": KEYS.ada, "x-sandbox-fault": fault },
      }).then((answer) => answer.text());
      await expect(broken, fault).rejects.toThrow();
    }
    expect((await b.control("GET", "/_control/health")).body.fleet.proxied).toBeGreaterThan(4);
  });

  it("sends a request whose answer is a broken connection to the owner only once [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    for (const fault of ["reset", "empty", "truncate"]) {
      // Opens the connection between the nodes that the next request uses too.
      await b.call("ada", "GET", "/_s/ci/v1/models");
      const broken = fetch(`${b.url}/_s/ci/v1/analytics/usage/limits/org_acme`, {
        headers: { "api-key": KEYS.ada, "x-sandbox-fault": fault },
      }).then((answer) => answer.text());
      await expect(broken, fault).rejects.toThrow();
    }
    const path = "/_control/sandboxes/ci/journal?operation=usage.retrieve_limits";
    expect((await a.control("GET", path)).body.entries).toHaveLength(3);
  });

  it("continues a half-finished upload at another node [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    const bytes = makeNoise(700_000);
    const { upload_url, gcs_path, announced } = await announce(b as never, { file_size: bytes.length });
    expect((await chunk(upload_url, bytes.subarray(0, 400_000), 0, bytes.length)).status).toBe(308);
    open.splice(open.indexOf(a), 1);
    await a.close();
    expect((await chunk(upload_url, bytes.subarray(400_000), 400_000, bytes.length)).status).toBe(200);
    const file = { ...announced, gcs_path };
    expect((await b.call("dan", "POST", "/v1/organizations/org_acme/files", file)).status).toBe(201);
  });

  it("keeps no uploads of a sandbox that it cannot take over [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    const { upload_url } = await announce(b as never, { file_size: 500 });
    expect((await chunk(upload_url, makeNoise(400), 0, 500)).status).toBe(308);
    vi.spyOn(SandboxRestorer.prototype, "restoreRows").mockRejectedValue(new Error("a row is broken"));
    open.splice(open.indexOf(a), 1);
    await a.close();
    for (let attempt = 0; attempt < 2; attempt++)
      expect((await b.call("dan", "GET", "/v1/models")).status).toBe(503);
    const ofThisProcess = readdirSync(tmpdir()).filter((name) => name.includes(`-${process.pid}-`));
    const kept = ofThisProcess.flatMap((folder) => readdirSync(join(tmpdir(), folder)));
    expect(kept.filter((name) => name.startsWith("default-"))).toEqual([]);
  });

  it("answers 503 with a time to retry without Redis, loses nothing acknowledged, and recovers [interfaces 15]", async () => {
    const a = await start();
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    expect((await a.control("POST", DEPARTMENTS, makeDepartment("dept_one"))).status).toBe(201);
    await redis.stop();
    const refused = await a.control("POST", DEPARTMENTS, makeDepartment("dept_two"));
    expect([refused.status, refused.headers.get("retry-after"), refused.body.type]).toEqual([
      503,
      "1",
      "urn:understudy:problem:store-failing",
    ]);
    const emulated = await a.call("ada", "GET", "/_s/other/v1/analytics/usage/limits/org_acme");
    expect([emulated.status, emulated.headers.get("x-sandbox-decision")]).toEqual([503, "store"]);
    const { body } = await a.control("GET", "/_control/health");
    expect(body.saving.state).toBe("failing");
    await redis.launch();
    await waitUntil(
      async () => (await a.control("POST", DEPARTMENTS, makeDepartment("dept_three"))).status === 201,
    );
    let there: string[] = [];
    // Redis restarted. The nodes compare its data with theirs before they show any.
    await waitUntil(async () => {
      const { status, body } = await a.control("GET", DEPARTMENTS);
      if (status === 200) there = body.items.map(({ id }: { id: string }) => id);
      return status === 200;
    });
    expect(there).toEqual(expect.arrayContaining(["dept_one", "dept_three"]));
    expect(there).not.toContain("dept_two");
    await waitUntil(async () => (await a.control("GET", "/_control/health")).body.saving.state === "ok");
    expect(a.warnings.join("\n")).toContain("Changes are saved again.");
  }, 60_000);

  it("restores the last seconds that a Redis has lost from the owner [interfaces 15]", async () => {
    const a = await start();
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    await a.control("POST", DEPARTMENTS, makeDepartment("dept_one"));
    await redis.stop();
    redis.dropLastWrite();
    await redis.launch();
    await waitUntil(
      async () => (await a.control("POST", DEPARTMENTS, makeDepartment("dept_two"))).status === 201,
    );
    open.splice(open.indexOf(a), 1);
    await a.close();
    const b = await start();
    await waitUntil(async () => (await b.control("GET", `${DEPARTMENTS}/dept_one`)).status === 200);
    expect((await b.control("GET", `${DEPARTMENTS}/dept_two`)).status).toBe(200);
  }, 60_000);

  it("refuses to start nodes with one address, another token or newer data, with the reason in one sentence [interfaces 15]", async () => {
    const a = await start();
    const port = Number(new URL(a.url).port);
    await expect(start({ port })).rejects.toThrow(
      `--node-url ${a.url} is the address of a node that is running`,
    );
    const shared = { token: "another-token-than-theirs" };
    await expect(start({ shared })).rejects.toThrow("give all nodes of a fleet the same UNDERSTUDY_TOKEN");
    await redis.command("SET", "understudy:format", "99");
    await expect(start()).rejects.toThrow("written by a newer Understudy (format 99");
  });

  it("logs an unreachable node, and refuses its sandboxes at other nodes [interfaces 15]", async () => {
    const nowhere = await start({
      store: { url: redis.url, nodeUrl: `http://127.0.0.1:${await freePort()}` },
    });
    await nowhere.control("POST", "/_control/sandboxes", { name: "ci" });
    const b = await start();
    const ask = () => b.call("ada", "GET", "/_s/ci/v1/analytics/usage/limits/org_acme");
    await waitUntil(async () => (await ask()).body.detail.includes("which cannot be reached from here"));
    const refused = await ask();
    expect([
      refused.status,
      refused.headers.get("retry-after"),
      refused.headers.get("x-sandbox-decision"),
    ]).toEqual([503, "1", "moved"]);
    expect(b.warnings.join()).toContain("its --node-url is not an address at which all nodes reach it");
    await waitUntil(() => nowhere.warnings.join().includes("does not answer at its own --node-url"));
  });

  it("has one limit of sandboxes for all nodes [interfaces 15]", async () => {
    const shared = { token: TOKEN, limits: { sandboxes: 3 } };
    const [a, b] = [await start({ shared }), await start({ shared })];
    const createSandbox = (node: TestNode, name: string) =>
      node.control("POST", "/_control/sandboxes", { name });
    expect((await createSandbox(a, "one")).status).toBe(201);
    expect((await createSandbox(b, "two")).status).toBe(201);
    for (const node of [a, b]) {
      const refused = await createSandbox(node, "three");
      expect([refused.status, refused.body.type]).toEqual([409, "urn:understudy:problem:limit-reached"]);
      expect(refused.body.detail).toContain("The fleet has 3 sandboxes, which is its limit");
      expect((await node.control("GET", "/_control/sandboxes/three")).status).toBe(404);
    }
    expect((await b.control("DELETE", "/_control/sandboxes/one")).status).toBe(204);
    expect((await createSandbox(b, "three")).status).toBe(201);
  });

  it("answers a call that names two sandboxes if another node owns the second [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    await b.control("POST", "/_control/sandboxes", { name: "other" });
    await a.call("ada", "DELETE", "/_s/ci/v1/threads/thread_ada");
    const { entries } = (await a.control("GET", "/_control/sandboxes/ci/history")).body;
    const repeat = (body: object) =>
      a.control("POST", `/_control/sandboxes/ci/history/${entries[0].id}/repeat`, body);
    const fetchDifference = () => a.control("GET", "/_control/sandboxes/ci/snapshots/now/diff/now?of=other");
    // On a busy machine a node may lose a sandbox for a moment. The answer then asks the client to repeat the request.
    await waitUntil(async () => JSON.stringify((await fetchDifference()).body).includes("thread_ada"));
    const ruled = await repeat({ in: "other", with: { effect: { error: "RATE_LIMIT_EXCEEDED" } } });
    expect(ruled.body).toMatchObject({ same: false });
    expect(ruled.body.differences[0]).toEqual({ what: "status", before: 200, after: 429 });
    expect((await b.control("GET", "/_control/sandboxes/other/faults")).body.items).toEqual([]);
    expect((await repeat({ in: "other" })).body).toMatchObject({ same: true, differences: [] });
    expect((await b.control("GET", "/_control/sandboxes/other/state/threads/thread_ada")).status).toBe(404);
    expect(JSON.stringify((await fetchDifference()).body)).not.toContain("thread_ada");
    const wrong = await repeat({ in: "othr" });
    expect(wrong.body).toMatchObject({ status: 422, field: "in", hint: "other" });
    const none = await a.control("GET", "/_control/sandboxes/ci/snapshots/now/diff/none?of=other");
    expect(none.body).toMatchObject({ status: 404, type: "urn:understudy:problem:unknown-snapshot" });
  });

  it("records a request that came through another node as the client sent it, so that a third can repeat it [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    await b.control("POST", "/_control/sandboxes", { name: "other" });
    await b.call("ada", "GET", "/_s/ci/v1/models");
    const { entries } = (await b.control("GET", "/_control/sandboxes/ci/journal")).body;
    const { headers } = entries[0].request;
    expect(headers.map(({ name }: { name: string }) => name)).not.toContain("x-understudy-hop");
    const path = `/_control/sandboxes/ci/history/${entries[0].id}/repeat`;
    expect((await a.control("POST", path, { in: "other" })).body).toMatchObject({ differences: [] });
  });

  it("returns URLs of the same base for a repeat in another node's sandbox [interfaces 10, 15]", async () => {
    const a = await start();
    const b = await startNodeProcess(redis);
    try {
      await a.control("POST", "/_control/sandboxes", { name: "ci" });
      await b.control("POST", "/_control/sandboxes", { name: "other" });
      const file = { filename: "a.txt", file_size: 1, mime_type: "text/plain" };
      const { body } = await a.call("ada", "POST", "/_s/ci/v1/organizations/org_acme/files/upload-url", file);
      const { entries } = (await a.control("GET", "/_control/sandboxes/ci/history")).body;
      const path = `/_control/sandboxes/ci/history/${entries[0].id}/repeat`;
      const { differences } = (await a.control("POST", path, { in: "other" })).body;
      const url = differences.find(({ what }: { what: string }) => what === "body.upload_url").after;
      expect(withoutToken(url)).toBe(withoutToken(body.upload_url));
    } finally {
      await b.stop();
    }
  });
  const withoutToken = (url: string) => url.replace(/upload_id=.*/, "");

  it("sends nothing in a stream that Redis has not acknowledged [interfaces 15]", async () => {
    const a = await start();
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const follow = () => fetch(`${a.url}/_control/sandboxes/ci/live`, { headers });
    const reader = (await follow()).body!.getReader();
    let seen = "";
    const read = (async () => {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read())
        seen += new TextDecoder().decode(piece.value);
    })().catch(() => {});
    await waitUntil(() => seen.includes("data:"));
    redis.signal("SIGSTOP");
    const lost = a.control("POST", DEPARTMENTS, makeDepartment("dept_lost"));
    expect((await lost).status).toBe(503);
    redis.signal("SIGCONT");
    // The stream was closed because a change that it would have reported was undone.
    await read;
    expect(seen).not.toContain("dept_lost");
    await waitUntil(
      async () => (await a.control("POST", DEPARTMENTS, makeDepartment("dept_kept"))).status === 201,
    );
    const again = (await follow()).body!.getReader();
    let after = "";
    while (!after.includes("dept_kept")) after += new TextDecoder().decode((await again.read()).value);
    await again.cancel();
    expect(after).toMatch(/"dept_lost was added to departments\.".*?"undone":true/);
    expect((await a.control("GET", `${DEPARTMENTS}/dept_lost`)).status).toBe(404);
  }, 60_000);

  it("refuses and undoes writes while Redis has no memory, and recovers [interfaces 15]", async () => {
    const a = await start();
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    expect((await a.control("POST", DEPARTMENTS, makeDepartment("dept_one"))).status).toBe(201);
    await redis.command("CONFIG", "SET", "maxmemory", "1");
    try {
      const refused = await a.control("POST", DEPARTMENTS, makeDepartment("dept_two"));
      expect([refused.status, refused.headers.get("retry-after"), refused.body]).toEqual([
        503,
        "1",
        expect.objectContaining({
          type: "urn:understudy:problem:store-failing",
          detail: expect.stringContaining("has no memory left (OOM"),
        }),
      ]);
      expect((await a.control("GET", `${DEPARTMENTS}/dept_one`)).status).toBe(200);
      expect((await a.control("GET", `${DEPARTMENTS}/dept_two`)).status).toBe(404);
    } finally {
      await redis.command("CONFIG", "SET", "maxmemory", "0");
    }
    expect((await a.control("POST", DEPARTMENTS, makeDepartment("dept_three"))).status).toBe(201);
    await waitUntil(async () => (await a.control("GET", "/_control/health")).body.saving.state === "ok");
    open.splice(open.indexOf(a), 1);
    await a.close();
    const b = await start();
    const { items } = (await b.control("GET", DEPARTMENTS)).body;
    const ids = items.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining(["dept_one", "dept_three"]));
    expect(ids).not.toContain("dept_two");
  }, 60_000);

  it("answers 503 to a deletion if Redis does not respond, and counts no sandbox as lost to another node [interfaces 15]", async () => {
    const a = await start();
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    redis.signal("SIGSTOP");
    const refused = await a.control("DELETE", "/_control/sandboxes/ci");
    redis.signal("SIGCONT");
    expect([refused.status, refused.body.detail]).toEqual([
      503,
      expect.stringContaining("it does not answer"),
    ]);
    expect((await a.control("GET", "/_control/health")).body.fleet.fenced).toBe(0);
  }, 60_000);

  it.each(["the same node", "another node"])(
    "leaves the name of a refused creation free if Redis committed it unheard, also at %s [interfaces 15]",
    async (place) => {
      const [a, b] = [await start(), await start()];
      const { runScript } = RedisConnection.prototype;
      const cut = vi.spyOn(RedisConnection.prototype, "runScript");
      cut.mockImplementation(async function (this: RedisConnection, script, keys, words) {
        const reply = await runScript.call(this, script, keys, words);
        if (keys[0]!.includes("{cut}")) throw toFleetRefusal("unreachable", "the connection was cut");
        return reply;
      });
      expect((await a.control("POST", "/_control/sandboxes", { name: "cut" })).status).toBe(503);
      cut.mockRestore();
      if (place === "another node")
        await waitUntil(async () => (await b.control("GET", "/_control/sandboxes/cut")).status === 404);
      const node = place === "another node" ? b : a;
      expect((await node.control("POST", "/_control/sandboxes", { name: "cut", seed: 9 })).status).toBe(201);
      await waitUntil(async () => (await a.control("GET", "/_control/health")).body.saving.state === "ok");
      expect((await a.control("GET", "/_control/sandboxes/cut")).body.seed).toBe(9);
      expect((await b.control("GET", "/_control/sandboxes")).body.total).toBe(2);
      expect((await a.control("GET", "/_control/health")).body.fleet.fenced).toBe(0);
    },
    60_000,
  );

  it("refuses with Retry-After while Redis is silent for longer than a lease, and recovers [interfaces 15]", async () => {
    const a = await start();
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    expect((await a.control("POST", DEPARTMENTS, makeDepartment("dept_one"))).status).toBe(201);
    redis.signal("SIGSTOP");
    try {
      const refused = await a.control("POST", DEPARTMENTS, makeDepartment("dept_two"));
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
      // No node can know any longer which of them owns the sandbox.
      await waitUntil(async () => {
        const { status, headers } = await a.call("ada", "GET", "/_s/ci/v1/analytics/usage/limits/org_acme");
        if (status !== 200)
          expect([status, headers.get("retry-after"), headers.get("x-sandbox-decision")]).toEqual([
            503,
            "1",
            "store",
          ]);
        return status === 503;
      });
    } finally {
      redis.signal("SIGCONT");
    }
    await waitUntil(
      async () => (await a.control("POST", DEPARTMENTS, makeDepartment("dept_three"))).status === 201,
    );
    expect((await a.control("GET", `${DEPARTMENTS}/dept_one`)).status).toBe(200);
    await waitUntil(async () => (await a.control("GET", "/_control/health")).body.saving.state === "ok");
  }, 60_000);

  it("keeps the data of the owners if a node starts while Redis has lost data [interfaces 15]", async () => {
    const own = await TestRedis.start();
    const a = await startNodeProcess(own);
    try {
      await a.control("POST", "/_control/sandboxes", { name: "ci" });
      for (let i = 0; i < 60; i++)
        expect((await a.control("POST", DEPARTMENTS, makeDepartment(`dept_${i}`))).status).toBe(201);
      a.signal("SIGSTOP");
      await own.stop();
      own.dropLastWrite();
      await own.launch();
      // The session was part of the data that Redis lost.
      await own.command("DEL", `understudy:node:${a.url}`);
      const b = await startNode(own);
      open.push(b);
      const asked = b.control("GET", `${DEPARTMENTS}/dept_59`);
      a.signal("SIGCONT");
      expect([200, 503]).toContain((await asked).status);
      await waitUntil(async () => (await b.control("GET", `${DEPARTMENTS}/dept_59`)).status === 200);
    } finally {
      a.signal("SIGCONT");
      await a.stop();
      for (const node of open.splice(0)) await node.close();
      await own.remove();
    }
  }, 60_000);

  it("lists a node and its sandboxes again after its session had expired [interfaces 15]", async () => {
    const [a, b] = [await start(), await start()];
    await b.control("POST", "/_control/sandboxes", { name: "ci" });
    await redis.command("DEL", `understudy:node:${b.url}`);
    const listUrls = async () =>
      (await a.control("GET", "/_control/fleet")).body.nodes.map(({ url }: { url: string }) => url);
    expect(await listUrls()).toEqual([a.url]);
    await waitUntil(async () => (await listUrls()).includes(b.url));
    await waitUntil(async () => (await b.control("GET", "/_control/sandboxes/ci")).status === 200);
    const { items } = (await a.control("GET", "/_control/sandboxes")).body;
    expect(items.map(({ name }: { name: string }) => name)).toContain("ci");
  });

  it("logs differing clocks, and moves no sandbox's clock back [interfaces 15]", async () => {
    const hour = 3_600_000;
    const readTime = async (node: TestNode) =>
      Date.parse((await node.control("GET", "/_control/sandboxes/ci/clock")).body.now);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hour });
    const real = platform();
    providePlatform({ ...real, timers: { ...real.timers, now: () => Date.now() } });
    const a = await start();
    expect(a.warnings.join()).toContain("ahead of that of Redis");
    await a.control("POST", "/_control/sandboxes", { name: "ci", clock: { mode: "real" } });
    const ahead = await readTime(a);
    expect(ahead).toBeGreaterThan(Date.now() - hour / 2);
    open.splice(open.indexOf(a), 1);
    await a.close();
    vi.useRealTimers();
    providePlatform(real);
    const b = await start();
    expect(b.warnings.join()).not.toContain("that of the Redis");
    expect(await readTime(b)).toBeGreaterThanOrEqual(ahead);
  });

  it("takes over a sandbox saved by an older version with fewer settings [interfaces 15]", async () => {
    const a = await start();
    await a.control("POST", "/_control/sandboxes", { name: "ci", settings: { processing_seconds: 7 } });
    await a.control("POST", DEPARTMENTS, makeDepartment("dept_one"));
    open.splice(open.indexOf(a), 1);
    await a.close();
    const field = "sandbox\0about";
    const about = JSON.parse(await redis.command("HGET", "understudy:{ci}:rows", field));
    delete about.settings.history_limit;
    await redis.command("HSET", "understudy:{ci}:rows", field, JSON.stringify(about));
    await redis.command("SET", "understudy:format", "1");
    const b = await start();
    const { settings } = (await b.control("GET", "/_control/sandboxes/ci")).body;
    expect(settings).toMatchObject({ processing_seconds: 7, history_limit: 1000 });
    expect((await b.control("GET", `${DEPARTMENTS}/dept_one`)).status).toBe(200);
  });

  it("leaves unreadable rows in Redis, and refuses requests to their sandbox with the reason [interfaces 15]", async () => {
    const a = await start();
    await a.control("POST", "/_control/sandboxes", { name: "ci" });
    open.splice(open.indexOf(a), 1);
    await a.close();
    await redis.command("HSET", "understudy:{ci}:rows", "of-tomorrow\0x", "1");
    const b = await start();
    const refused = await b.control("GET", "/_control/sandboxes/ci");
    expect([refused.status, refused.body.detail]).toEqual([
      503,
      expect.stringContaining("of-tomorrow is unknown to"),
    ]);
    await redis.command("HDEL", "understudy:{ci}:rows", "of-tomorrow\0x");
    expect((await b.control("GET", "/_control/sandboxes/ci")).status).toBe(200);
  });
});
