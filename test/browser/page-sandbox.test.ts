import type { Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { PageSandbox } from "../../src/client/browser.ts";
import { startInPage } from "../support/browser/page-sandbox.ts";
import { StaticApplication } from "../support/browser/static-application.ts";
import { openPage, see, useChromium } from "../support/browser/with-chromium.ts";
import { startReference } from "../support/harness.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const chromium = useChromium();
const application = new StaticApplication();
beforeAll(() => application.listen());
afterAll(() => application.close());

let page: Page;
beforeEach(async () => {
  application.arrived = [];
  application.worker = undefined;
  ({ page } = await openPage(chromium()));
  await page.goto(application.origin);
});
afterEach(() => page.context().close());

declare const sandbox: PageSandbox;
declare const begin: (options?: object) => Promise<PageSandbox>;
// biome-ignore lint/suspicious/noExplicitAny: the types of browsers are not among this project's
type Any = any;
declare const XMLHttpRequest: Any;
declare const document: Any;
declare const caches: Any;
declare const location: { href: string };
declare const Worker: Any;
declare const asDan: { headers: { "api-key": string } };

const start = (options: object = {}) => startInPage(page, options);

describe("a sandbox in a page", () => {
  it("answers the page's requests without a server [interfaces 17]", async () => {
    await start({ seed: 7, clock: { mode: "frozen" } });
    const found = await page.evaluate(async () => {
      const answer = await fetch("/v1/models", asDan);
      const { entries } = await sandbox.journal.list();
      const body = (await answer.json()) as { models: unknown[] };
      return { status: answer.status, body, paths: entries.map(({ path }) => path) };
    });
    expect(found.status).toBe(200);
    expect(await page.evaluate(async () => (await sandbox.info()).base_url === sandbox.url)).toBe(true);
    expect(found.body.models.length).toBeGreaterThan(0);
    expect(found.paths).toEqual(["/v1/models"]);
    expect(await page.evaluate(async () => (await fetch("/v1/models")).status)).toBe(401);
    expect(application.arrived).toEqual([]);
  });

  it("shows and searches a body with a Content-Encoding, which a page cannot decode [interfaces 17]", async () => {
    await start();
    const found = await page.evaluate(async () => {
      const headers = { ...asDan.headers, "content-type": "application/json", "content-encoding": "gzip" };
      const refused = await fetch("/v1/model/response", { method: "POST", headers, body: "coded" });
      const { entries } = await sandbox.journal.list();
      const verified = await sandbox.journal.verify({ match: { body: { model: "none" } }, count: 0 });
      const { log } = await sandbox.journal.har();
      const shown = [entries.length, log.entries.length];
      return { status: refused.status, shown, verified };
    });
    expect(found).toMatchObject({ status: 415, shown: [1, 1], verified: { ok: true } });
  });

  it("leaves other paths and navigations to the application [interfaces 17]", async () => {
    await start({ paths: ["/v1"] });
    const statuses = await page.evaluate(async () => [
      (await fetch("/v1/models", asDan)).status,
      (await fetch("/v10/models")).status,
      (await fetch("/webhooks")).status,
    ]);
    expect(statuses).toEqual([200, 404, 404]);
    expect(application.arrived).toEqual(["/v10/models", "/webhooks"]);
    await page.goto(`${application.origin}/v1/models`);
    expect(application.arrived).toContain("/v1/models");
  });

  it("accepts forms and uploads, rewinds, and delivers webhooks within the page [interfaces 10, 17]", async () => {
    await start({ clock: { mode: "frozen" } });
    const found = await page.evaluate(async () => {
      const form = new FormData();
      form.set("file", new File(["hello"], "notes.txt", { type: "text/plain" }));
      const path = "/v1/organizations/org_acme/files/upload";
      const uploaded = await fetch(path, { ...asDan, method: "POST", body: form });
      const receiver = await sandbox.receivers.add({ answers: [500, 200] });
      const headers = { "api-key": sandbox.credentials["usr_ada"]!, "content-type": "application/json" };
      const body = { url: receiver.url, events: ["user.created"], organization_id: "org_acme" };
      await fetch("/webhooks", { method: "POST", headers, body: JSON.stringify(body) });
      await sandbox.events.trigger("user.created");
      await sandbox.clock.advance("1m");
      const [delivery] = (await sandbox.deliveries.list()).items;
      return { uploaded: uploaded.status, attempts: delivery!.attempts, status: delivery!.status };
    });
    expect(found).toEqual({ uploaded: 201, attempts: 2, status: "success" });
  });

  it("does not send webhooks to network addresses that the page intercepts [interfaces 17]", async () => {
    const found = await page.evaluate(async () => {
      const taken: string[] = [];
      const onDelivery = (request: Request) => {
        taken.push(request.url);
        return new Response(null, { status: 202 });
      };
      const local = await begin({ clock: { mode: "frozen" }, onDelivery });
      const headers = { "api-key": local.credentials["usr_ada"]!, "content-type": "application/json" };
      const webhook = {
        url: "https://hooks.example.test/a",
        events: ["user.created"],
        organization_id: "org_acme",
      };
      await fetch("/webhooks", { method: "POST", headers, body: JSON.stringify(webhook) });
      await local.events.trigger("user.created");
      return { taken, code: (await local.deliveries.list()).items[0]!.response_code };
    });
    expect(found).toEqual({ taken: ["https://hooks.example.test/a"], code: 202 });
  });

  it("shows broken connections as network errors, and streams piece by piece [interfaces 17]", async () => {
    await start();
    const found = await page.evaluate(async () => {
      const outcomes: string[] = [];
      for (const wire of ["reset", "empty", "garbage", "truncate"] as const) {
        await sandbox.faults.add({ match: { operation: "models.list" }, effect: { wire }, times: 1 });
        const read = fetch("/v1/models", asDan).then((answer) => answer.text());
        outcomes.push(
          await read.then(
            () => "an answer",
            (error: Error) => error.name,
          ),
        );
      }
      const stop = new AbortController();
      const stream = await fetch("/v1/meeting-buddy/sessions/mbsess_standup/transcripts/stream", {
        ...asDan,
        signal: stop.signal,
      });
      const { value } = await stream.body!.getReader().read();
      stop.abort();
      return { outcomes, first: new TextDecoder().decode(value) };
    });
    expect(found.outcomes).toEqual(["TypeError", "TypeError", "TypeError", "TypeError"]);
    expect(found.first).toMatch(/^(:|id: 1)/);
  });

  it("passes on every byte of a body that breaks in the middle [interfaces 17]", async () => {
    await start();
    const lengths = await page.evaluate(async () => {
      let whole = 0;
      let length = 0;
      // The sandbox breaks the body after a pause, which is too short if the browser stands still meanwhile.
      const { setTimeout: startTimer } = globalThis;
      const pauseUntilRead = (work: () => void, ms: number): unknown =>
        ms === 100 && length < whole ? startTimer(() => pauseUntilRead(work, ms), 5) : startTimer(work, ms);
      Object.assign(globalThis, { setTimeout: pauseUntilRead });
      const read = async (answer: Response) => {
        const reader = answer.body!.getReader();
        try {
          for (let next = await reader.read(); !next.done; next = await reader.read())
            length += next.value.length;
        } catch {
          return length;
        }
        throw new Error("the body did not break");
      };
      const effect = { wire: "truncate" } as const;
      await sandbox.faults.add({ match: { operation: "models.list" }, effect });
      whole = await read(await sandbox.fetch("/v1/models", asDan));
      const all = [whole];
      for (let n = 0; n < 20; n++) {
        length = 0;
        all.push(await read(await fetch("/v1/models", asDan)));
      }
      return all;
    });
    expect(lengths[0]).toBeGreaterThan(0);
    expect(new Set(lengths).size).toBe(1);
  });

  it("answers after the browser has stopped the worker [interfaces 17]", async () => {
    await start();
    const session = await page.context().newCDPSession(page);
    await session.send("ServiceWorker.enable");
    await session.send("ServiceWorker.stopAllWorkers");
    expect(await page.evaluate(async () => (await fetch("/v1/models", asDan)).status)).toBe(200);
    expect(application.arrived).toEqual([]);
  });

  it("answers requests of the page's own workers [interfaces 17]", async () => {
    await start();
    const fetchInWorker = () =>
      page.evaluate(async () => {
        const script = `fetch("${new URL("/v1/models", location.href)}", ${JSON.stringify(asDan)})
          .then(({ status }) => postMessage(status), ({ name }) => postMessage(name));`;
        const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
        return new Promise((resolve) => {
          worker.onmessage = ({ data }: { data: unknown }) => resolve(data);
        });
      });
    expect(await fetchInWorker()).toBe(200);
    const session = await page.context().newCDPSession(page);
    await session.send("ServiceWorker.enable");
    await session.send("ServiceWorker.stopAllWorkers");
    expect(await fetchInWorker()).toBe(200);
    expect(application.arrived).toEqual([]);
  });

  it("lets no request of a page without a running sandbox reach the network [interfaces 17]", async () => {
    await start();
    await page.reload();
    await page.waitForFunction(() => "begin" in globalThis);
    const outcome = await page.evaluate(async () => {
      const early = fetch("/v1/models").then(({ status }) => status);
      await begin();
      return early;
    });
    expect(outcome).toBe(401);
    expect(application.arrived).toEqual([]);
  });

  it.each([
    ["is missing", undefined, /cannot be loaded; write its file with: npx understudy worker-file DIR/],
    [
      "is another's",
      "addEventListener('activate', (e) => e.waitUntil(clients.claim()))",
      /is not Understudy's/,
    ],
    [
      "is of another version",
      "addEventListener('activate', (e) => e.waitUntil(clients.claim())); addEventListener('message', (e) => e.ports[0].postMessage({ type: 'version', version: '0.0.1' }))",
      /is of version 0.0.1, this page of .*worker-file DIR/,
    ],
  ])("says what to do if the worker's file %s [interfaces 17]", async (_, text, message) => {
    application.worker = text;
    const options = text === undefined ? { worker: "/nothing.js" } : {};
    await expect(start(options)).rejects.toThrow(message);
  });

  it("delays requests that the page makes before the worker runs [interfaces 17]", async () => {
    await page.waitForFunction(() => "begin" in globalThis);
    const outcomes = await page.evaluate(async () => {
      const started = begin();
      const byXhr = new Promise<number>((resolve) => {
        const request = new XMLHttpRequest();
        request.onload = () => resolve(request.status);
        request.open("GET", "/v1/models");
        request.send();
      });
      const other = fetch("/v10/models").then(({ status }) => status);
      const early = [fetch("/v1/models"), fetch(new Request("/webhooks"))].map(
        async (one) => (await one).status,
      );
      return { early: await Promise.all([...early, byXhr]), other: await other, url: (await started).url };
    });
    expect(outcomes).toMatchObject({ early: [401, 401, 401], other: 404 });
    expect(application.arrived).toEqual(["/v10/models"]);
  });

  it("fails delayed requests if the sandbox does not start [interfaces 17]", async () => {
    await page.waitForFunction(() => "begin" in globalThis);
    const outcome = await page.evaluate(async () => {
      const started = begin({ worker: "/nothing.js" }).catch(() => {});
      const early = fetch("/v1/models").catch((error: Error) => error.message);
      await started;
      return early;
    });
    expect(outcome).toBe("Failed to fetch: the sandbox did not start");
    expect(application.arrived).not.toContain("/v1/models");
  });

  it("replaces a worker of an older version, and one for other paths [interfaces 17]", async () => {
    const current = application.readWorker();
    application.worker = current.replace(/version:`[^`]*`|version:"[^"]*"/, 'version:"0.0.1"');
    expect(application.worker).not.toBe(current);
    await expect(start({ paths: ["/v1"] })).rejects.toThrow(/is of version 0.0.1/);
    application.worker = undefined;
    await page.reload();
    await start({ paths: ["/v1"] });
    expect(await page.evaluate(async () => (await fetch("/v1/models", asDan)).status)).toBe(200);
    await page.reload();
    await start({ paths: ["/v2", "/webhooks"] });
    const statuses = await page.evaluate(async () => [
      (await fetch("/v1/models")).status,
      (await fetch("/webhooks")).status,
    ]);
    expect(statuses).toEqual([404, 401]);
  });

  it("opens without a network, and accepts uploads at the URLs that it returned [interfaces 17]", async () => {
    const server = new StaticApplication();
    await server.listen();
    const { page: own } = await openPage(await chromium().newContext(), server.origin);
    await startInPage(own, { offline: true, persist: "offline" });
    const upload = () =>
      own.evaluate(async () => {
        const headers = { ...asDan.headers, "content-type": "application/json" };
        const body = JSON.stringify({ filename: "a.txt", file_size: 5, mime_type: "text/plain" });
        const path = "/v1/organizations/org_acme/files/upload-url";
        const begun = await fetch(path, { method: "POST", headers, body });
        const { upload_url } = (await begun.json()) as { upload_url: string };
        return (await fetch(upload_url, { method: "PUT", body: "hello" })).status;
      });
    expect(await upload()).toBe(200);
    expect(server.arrived).toEqual([]);
    const isStored = (file: string) =>
      own.evaluate(
        async (url) => (await caches.match(url, { ignoreVary: true })) !== undefined,
        `${server.origin}/built/${file}`,
      );
    // Files that no test has loaded yet.
    for (const file of server.chunks()) await expect.poll(() => isStored(file)).toBe(true);
    server.close();
    await own.context().setOffline(true);
    await own.reload();
    await startInPage(own, { offline: true, persist: "offline" });
    expect(await upload()).toBe(200);
    const spec = await own.evaluate(async () => (await sandbox.fetch("/_control/openapi.json")).status);
    expect(spec).toBe(200);
    await own.context().close();
  });

  it("passes on partial responses and endless streams, which it cannot store [interfaces 17]", async () => {
    await start({ offline: true });
    const found = await page.evaluate(async () => {
      const part = await (await fetch("/part")).text();
      const stream = (await fetch("/events")).body!.getReader();
      const { value } = await stream.read();
      await stream.cancel();
      return [part, new TextDecoder().decode(value)];
    });
    expect(found).toEqual(["a", "data: 1\n\n"]);
  });

  it("sends requests as the chosen user, whatever their credentials [interfaces 17]", async () => {
    await start({ user: "usr_dan" });
    const principals = await page.evaluate(async () => {
      const ask = () => fetch("/v1/models", { headers: { authorization: "Bearer stale" } });
      await ask();
      sandbox.actAs("usr_ada");
      await ask();
      sandbox.actAs(undefined);
      await ask();
      return (await sandbox.journal.list()).entries.map(({ principal }) => principal);
    });
    expect(principals.sort()).toEqual(["usr_ada", "usr_dan", null].sort());
  });

  it("opens the console of the page's own sandbox [interfaces 17]", async () => {
    const profile = await chromium().newContext();
    const { page: mine } = await openPage(profile, application.origin);
    await startInPage(mine);
    const { page: other } = await openPage(profile, application.origin);
    await startInPage(other);
    await mine.evaluate(async () => {
      await fetch("/v1/models", asDan);
      const frame = document.createElement("iframe");
      Object.assign(frame, { src: sandbox.consoleUrl, width: 1200, height: 700 });
      document.body.append(frame);
    });
    await see(mine.frameLocator("iframe").getByText("/v1/models").first()).toBeVisible();
    await profile.close();
    expect(application.arrived).toEqual([]);
  });

  it("opens the console of a page that is still there, after others were reloaded or closed [interfaces 17]", async () => {
    const profile = await chromium().newContext();
    const { page: mine } = await openPage(profile, application.origin);
    await startInPage(mine);
    const consoleUrl = await mine.evaluate(() => sandbox.consoleUrl);
    await mine.reload();
    await startInPage(mine);
    await mine.evaluate(() => fetch("/v1/models", asDan));
    const { page: other } = await openPage(profile, application.origin);
    await startInPage(other);
    await other.close();
    for (const address of [consoleUrl, consoleUrl.replace(/\?.*$/, "")]) {
      const { page: own } = await openPage(profile, address);
      await see(own.getByText("/v1/models").first()).toBeVisible();
    }
    await profile.close();
    expect(application.arrived).toEqual([]);
  });

  it("has the same scenarios as a server [interfaces 6, 17]", async () => {
    type Listed = { name: string; file: string; active: boolean };
    const path = "/_control/sandboxes/default/scenarios";
    const server = await startReference();
    const { items } = (await (await fetch(server.url + path)).json()) as { items: Listed[] };
    await server.close();
    await start({ scenarios: ["slow-network"] });
    const text = await page.evaluate(async (path) => (await sandbox.fetch(path)).text(), path);
    const inPage = (JSON.parse(text) as { items: Listed[] }).items;
    const withoutPlace = ({ file, active, ...scenario }: Listed) => scenario;
    expect(inPage.map(withoutPlace)).toEqual(items.map(withoutPlace));
    expect(inPage.filter(({ active }) => active).map(({ name }) => name)).toEqual(["slow-network"]);
    expect(items.length).toBeGreaterThan(50);
  });

  it("refuses options as the server does [interfaces 17]", async () => {
    await expect(start({ clock: { mode: "sideways" } })).rejects.toThrow(/clock.mode must be/);
    await expect(start({ settings: { processing_seconds: "x" } })).rejects.toThrow(/must be a number/);
    await expect(start({ port: 1 })).rejects.toThrow('start has no option "port"');
  });

  it("says that calls which a page cannot handle need a server [interfaces 17]", async () => {
    await start();
    const problem = await page.evaluate(async () => {
      const answer = await sandbox.fetch("/_control/sandboxes/default/receiver-test", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ url: "http://127.0.0.1:9/hook", secret: "whsec_0123456789abcdef" }),
      });
      return { status: answer.status, body: await answer.json() };
    });
    expect(problem).toMatchObject({
      status: 501,
      body: { detail: expect.stringContaining("needs a server") },
    });
  });

  it("holds a request until it is released, through the service worker [interfaces 20]", async () => {
    await start({ clock: { mode: "frozen" } });
    const found = await page.evaluate(async () => {
      await sandbox.faults.add({ match: { operation: "models.list" }, effect: { hold: {} } });
      let answered = false;
      const asked = fetch("/v1/models", asDan).then((answer) => {
        answered = true;
        return answer;
      });
      const held = await sandbox.held.next({ operation: "models.list" });
      const other = (await fetch("/v2/models", asDan)).status;
      const before = answered;
      await held.release({ answer: { status: 207, body: { own: true } } });
      const answer = await asked;
      return { other, before, status: answer.status, body: await answer.json() };
    });
    expect(found).toEqual({ other: 200, before: false, status: 207, body: { own: true } });
    expect(application.arrived).toEqual([]);
  });
});
