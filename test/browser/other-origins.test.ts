import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Frame, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { attack, fetchFromPage } from "../support/browser/attacks.ts";
import { findConsoleFiles } from "../support/browser/console.ts";
import { openPage, PATIENCE_MS, useChromium } from "../support/browser/with-chromium.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// Disables Chromium's own protection of loopback addresses, so that the protection of the server is tested.
const chromium = useChromium([
  "--host-resolver-rules=MAP evil.test 127.0.0.1",
  "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
]);

const BLANK = '<!doctype html><html lang="en"><title>another page</title><body></body></html>';

let api: Api;
let port: string;
/** Serves an empty page under any host name: as a foreign site, or as the user's frontend. */
let site: http.Server;
let sitePort: number;
beforeAll(async () => {
  site = http.createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
    response.end(BLANK);
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  sitePort = (site.address() as AddressInfo).port;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});
beforeEach(async () => {
  api = await startReference();
  port = new URL(api.url).port;
  await api.call(undefined, "POST", "/_control/sandboxes", {
    name: "victim",
    clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" },
  });
});
const pages: Page[] = [];
afterEach(async () => {
  await Promise.all(pages.splice(0).map((page) => page.close()));
  await api.close();
});

// page.route() is not used: Playwright would answer preflights itself.
async function visit(url: string): Promise<Page> {
  const { page } = await openPage(chromium());
  pages.push(page);
  await page.goto(url);
  return page;
}

/** A sandboxed frame, whose origin is `null`. */
async function openSandboxedFrame(page: Page): Promise<Frame> {
  await page.setContent(`<iframe sandbox="allow-scripts allow-forms" srcdoc="<body></body>"></iframe>`);
  const frame = (await (await page.waitForSelector("iframe")).contentFrame())!;
  await frame.waitForSelector("body", { state: "attached" });
  expect(await frame.evaluate("origin")).toBe("null");
  return frame;
}

/** The state that the attacks try to change. */
async function readState() {
  const { text } = await api.call(undefined, "GET", "/_control/sandboxes");
  const { status } = await api.call(undefined, "GET", "/_control/sandboxes/default/state/threads/thread_ada");
  return { text, thread: status, resets: api.understudy.sandboxes.get("default")!.resets };
}

const SITES: { name: string; open: () => Promise<Page | Frame>; target: () => string }[] = [
  {
    name: "a foreign site, at 127.0.0.1",
    open: () => visit(`http://evil.test:${sitePort}/`),
    target: () => `http://127.0.0.1:${port}`,
  },
  {
    name: "a foreign site, at localhost",
    open: () => visit(`http://evil.test:${sitePort}/`),
    target: () => `http://localhost:${port}`,
  },
  {
    name: "a foreign site, at its own name bound to loopback",
    open: () => visit(`http://evil.test:${sitePort}/`),
    target: () => `http://evil.test:${port}`,
  },
  {
    name: "a site whose name was rebound, at its own origin",
    // The error page has the origin of the attacker's page.
    open: () => visit(`http://evil.test:${port}/v1/models`),
    target: () => `http://evil.test:${port}`,
  },
  {
    name: "a sandboxed frame of a foreign site",
    open: async () => openSandboxedFrame(await visit(`http://evil.test:${sitePort}/`)),
    target: () => `http://127.0.0.1:${port}`,
  },
  {
    name: "a sandboxed frame of a page on loopback",
    open: async () => openSandboxedFrame(await visit(`http://127.0.0.1:${sitePort}/`)),
    target: () => `http://127.0.0.1:${port}`,
  },
];

const slow = { timeout: 4 * PATIENCE_MS };

describe("a page of another origin in Chromium", slow, () => {
  it.each(SITES)("reads nothing and changes nothing by $name [interfaces 7]", async ({ open, target }) => {
    const page = await open();
    const before = await readState();
    expect(before).toMatchObject({ thread: 200 });
    const outcomes = (await page.evaluate(attack(target(), findConsoleFiles()))) as Record<string, string>;
    expect(Object.keys(outcomes).length).toBeGreaterThanOrEqual(29);
    const got = Object.entries(outcomes).filter(([, outcome]) => !/^(refused|sent)$/.test(outcome));
    expect(got).toEqual([]);
    // Beacons and simple requests do not report when they arrive. A later request on the same connection does.
    await page.evaluate(fetchFromPage(`${target()}/_control/health`, { mode: "no-cors", cache: "no-store" }));
    expect(await readState()).toEqual(before);
  });

  it("reads and changes nothing of the emulated API under a rebound name [interfaces 3]", async () => {
    const page = await visit(`http://evil.test:${port}/v1/models`);
    const before = await readState();
    const base = `http://evil.test:${port}`;
    const header = { "api-key": KEYS.ada };
    const tries: [string, object][] = [
      ["/v1/models", { headers: header }],
      ["/_s/victim/v1/models", { headers: header }],
      ["/v1/models?simple", { headers: { Authorization: `Bearer ${KEYS.ada}` }, cache: "no-store" }],
      ["/v1/threads/thread_ada", { method: "DELETE", headers: header }],
      ["/v1/auth/token", { method: "POST", body: "{}" }],
    ];
    for (const [path, init] of tries) {
      const seen = await page.evaluate(fetchFromPage(base + path, init));
      expect([path, seen]).toMatchObject([
        path,
        { status: 403, headers: { "content-type": "application/problem+json" } },
      ]);
    }
    expect(await readState()).toEqual(before);
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/journal");
    expect(body.total).toBe(0);
    // With the host name allowed, the same page works.
    const open = await startReference({ allowHosts: ["evil.test"] });
    const own = await visit(`http://evil.test:${new URL(open.url).port}/v1/models`);
    const mine = `http://evil.test:${new URL(open.url).port}/v1/models`;
    expect(await own.evaluate(fetchFromPage(mine, { headers: header }))).toMatchObject({ status: 200 });
    await open.close();
  });

  it("would succeed with the same attempts if its own origin were on loopback [interfaces 7]", async () => {
    const page = await visit(`http://127.0.0.1:${sitePort}/`);
    const before = await readState();
    const outcomes = (await page.evaluate(attack(api.url, findConsoleFiles()))) as Record<string, string>;
    expect(outcomes).toMatchObject({
      "read /health": expect.stringMatching(/^got 200/),
      EventSource: "got",
      // The console still cannot be framed or loaded as a script, and the streams are not WebSockets.
      "read console": "refused",
      "<iframe> console": "refused",
      "<script> console": "refused",
      "WebSocket /_console": "refused",
      create: expect.stringMatching(/^got 201/),
      delete: expect.stringMatching(/^got 204/),
    });
    const after = await readState();
    expect(after.text).toContain('"forged"');
    expect(after.text).not.toContain('"victim"');
    expect(after.resets).toBeGreaterThan(before.resets);
  });
});

const PREFLIGHTED = {
  headers: { "api-key": KEYS.dan, "X-Sandbox-Fault": "RATE_LIMIT_EXCEEDED" },
};
const CHANGE = { method: "DELETE", headers: { "api-key": KEYS.ada } };

interface PageResult {
  status: number;
  headers: Record<string, string>;
}

describe("the emulated API in Chromium", slow, () => {
  it.each(["127.0.0.1", "localhost"])(
    "lets a page on %s send its headers and read the responses [G30]",
    async (host) => {
      const page = await visit(`http://${host}:${sitePort}/`);
      const models = (await page.evaluate(
        fetchFromPage(`${api.url}/v1/models`, { headers: { "X-API-Key": KEYS.dan } }),
      )) as PageResult;
      expect(models.status).toBe(200);
      for (const name of [
        "x-request-id",
        "service-api-version",
        "x-ratelimit-remaining",
        "x-sandbox-decision",
      ]) {
        expect(models.headers).toHaveProperty(name);
      }
      const limited = (await page.evaluate(fetchFromPage(`${api.url}/v1/models`, PREFLIGHTED))) as PageResult;
      expect(limited).toMatchObject({ status: 429, headers: { "retry-after": expect.any(String) } });
      const reparented = (await page.evaluate(
        fetchFromPage(`${api.url}/v1/organizations/org_acme/departments/dept_platform/reparent`, {
          method: "POST",
          headers: { Authorization: `Bearer ${KEYS.ben}`, "Content-Type": "application/json" },
          body: JSON.stringify({ new_parent_id: "dept_ops" }),
        }),
      )) as PageResult;
      expect(reparented.status).toBe(200);
      const removed = (await page.evaluate(
        fetchFromPage(`${api.url}/v1/threads/thread_ada`, CHANGE),
      )) as PageResult;
      expect(removed.status).toBe(200);
    },
  );

  it("lets a page of another origin read nothing, and gets none of its preflighted requests [G30]", async () => {
    const page = await visit(`http://evil.test:${sitePort}/`);
    const frame = await openSandboxedFrame(await visit(`http://127.0.0.1:${sitePort}/`));
    for (const place of [page, frame]) {
      expect(await place.evaluate(fetchFromPage(`${api.url}/v1/models`, {}))).toBe("refused");
      expect(await place.evaluate(fetchFromPage(`${api.url}/v1/models`, PREFLIGHTED))).toBe("refused");
      expect(await place.evaluate(fetchFromPage(`${api.url}/v1/threads/thread_ada`, CHANGE))).toBe("refused");
    }
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/journal");
    const sent = body.entries.map(({ method, status }: { method: string; status: number }) => [
      method,
      status,
    ]);
    // Simple requests reach the server without a key, and the page cannot read the response.
    expect(sent).toEqual([
      ["GET", 401],
      ["GET", 401],
    ]);
    expect(await readState()).toMatchObject({ thread: 200 });
  });

  it("allows only the origin of `cors_origins` [G30]", async () => {
    await api.call(undefined, "PATCH", "/_control/sandboxes/default", {
      settings: { cors_origins: [`http://evil.test:${sitePort}`] },
    });
    const page = await visit(`http://evil.test:${sitePort}/`);
    expect(await page.evaluate(fetchFromPage(`${api.url}/v1/models`, PREFLIGHTED))).toMatchObject({
      status: 429,
    });
    const frame = await openSandboxedFrame(page);
    expect(await frame.evaluate(fetchFromPage(`${api.url}/v1/models`, PREFLIGHTED))).toBe("refused");
  });

  it("lets a page send custom headers and cookies with `cors_headers` and `cors_credentials` [interfaces 11]", async () => {
    const origin = `http://evil.test:${sitePort}`;
    const configure = (settings: object) =>
      api.call(undefined, "PATCH", "/_control/sandboxes/default", {
        settings: { cors_origins: [origin], ...settings },
      });
    const page = await visit(`${origin}/`);
    const fetchModels = (init: object, headers: object = {}) =>
      page.evaluate(
        fetchFromPage(`${api.url}/v1/models`, { ...init, headers: { "api-key": KEYS.dan, ...headers } }),
      );
    const ok = expect.objectContaining({ status: 200 });
    await configure({});
    expect(await fetchModels({}, { "X-Trace": "1" })).toBe("refused");
    expect(await fetchModels({ credentials: "include" })).toBe("refused");
    await configure({ cors_headers: ["X-Trace"] });
    expect(await fetchModels({}, { "X-Trace": "1" })).toEqual(ok);
    expect(await fetchModels({}, { "X-Other": "1" })).toBe("refused");
    expect(await fetchModels({ credentials: "include" })).toBe("refused");
    await configure({ cors_headers: ["*"], cors_credentials: true });
    expect(await fetchModels({ credentials: "include" }, { "X-Other": "1" })).toEqual(ok);
  });
});
