import type { BrowserContext, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { PageSandbox } from "../../src/client/browser.ts";
import { startInPage } from "../support/browser/page-sandbox.ts";
import { StaticApplication } from "../support/browser/static-application.ts";
import { openPage, see, useChromium } from "../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/* Pages that are opened, started and left in other ways than most. */

const chromium = useChromium();
const application = new StaticApplication();
beforeAll(() => application.listen());
afterAll(() => application.close());

let profile: BrowserContext;
let page: Page;
beforeEach(async () => {
  application.arrived = [];
  profile = await chromium().newContext();
  ({ page } = await openPage(profile, application.origin));
});
afterEach(() => profile.close());

declare const sandbox: PageSandbox;
declare const begin: (options?: object) => Promise<PageSandbox>;
// biome-ignore lint/suspicious/noExplicitAny: the types of browsers are not among this project's
type Any = any;
declare const XMLHttpRequest: Any;
declare const EventSource: Any;
declare const navigator: Any;
declare const asDan: { headers: { "api-key": string } };

const start = (options: object = {}) => startInPage(page, options);
const status = (address = "/v1/models") =>
  page.evaluate(async (where) => {
    const answer = await fetch(where, asDan).catch(() => undefined);
    return answer?.status;
  }, address);

describe("start", () => {
  it("works after a reload that bypasses the worker, as Ctrl-Shift-R [interfaces 17]", async () => {
    await start();
    const session = await profile.newCDPSession(page);
    await session.send("Page.enable");
    await Promise.all([page.waitForEvent("load"), session.send("Page.reload", { ignoreCache: true })]);
    await start();
    expect(await status()).toBe(200);
    expect(application.arrived).toEqual([]);
  });

  it("says that the worker's file is in a folder that does not contain the page [interfaces 17]", async () => {
    await expect(start({ worker: "/static/understudy-worker.js" })).rejects.toThrow(
      /\/static\/understudy-worker\.js controls only pages below .*\/static\/, and so not this one; write its file into this page's folder/,
    );
  });

  it("says if the worker does not take control of the page [interfaces 17]", async () => {
    application.worker = "addEventListener('fetch', () => {})";
    await expect(start()).rejects.toThrow(/The service worker does not control this page: reload it/);
    application.worker = undefined;
  });

  it.each([
    ["/v1", /paths is a list of paths such as "\/v1", .*; it was given "\/v1"/],
    [[], /paths is a list of paths such as "\/v1", .*; it was given \[\]/],
    [["v1"], /paths is a list of paths such as "\/v1", .*; it was given \["v1"\]/],
    [["/"], /paths is a list of paths such as "\/v1", .*; it was given \["\/"\]/],
    [[1], /paths is a list/],
    [["/v1?a=1"], /paths is a list/],
  ])(
    "refuses paths that would match nothing, or the page's own files: %j [interfaces 17]",
    async (paths, message) => {
      await expect(start({ paths })).rejects.toThrow(message);
      expect(await page.evaluate(async () => (await fetch("/v1/models")).status)).toBe(404);
    },
  );

  it("takes paths with a slash at the end, and of other origins [interfaces 17]", async () => {
    const other = application.origin.replace("127.0.0.1", "localhost");
    await start({ paths: ["/v1/", `${other}/v2`] });
    const ask = (address: string) => status(address);
    expect([await ask("/v1/models"), await ask(`${other}/v2/models`)]).toEqual([200, 200]);
    expect([await ask("/v2/models"), await ask(`${other}/v1/models`)]).toEqual([404, undefined]);
  });

  it("leaves requests to other origins alone, whatever their path [interfaces 17]", async () => {
    await start();
    const other = application.origin.replace("127.0.0.1", "localhost");
    await page.evaluate((origin) => fetch(`${origin}/v1/models`, { mode: "no-cors" }), other);
    expect(application.arrived).toEqual(["/v1/models"]);
    expect(await page.evaluate(async () => (await sandbox.journal.list()).total)).toBe(0);
  });

  it("refuses a user who has no key, and so does actAs [interfaces 17]", async () => {
    const message = /"dan" has no usable API key in this sandbox\..* usr_dan/;
    await expect(start({ user: "dan" })).rejects.toThrow(message);
    await start({ user: "usr_dan" });
    await expect(page.evaluate(() => sandbox.actAs("dan"))).rejects.toThrow(message);
    expect(await page.evaluate(() => sandbox.user)).toBe("usr_dan");
  });

  it("that failed answers nothing, and the next one answers [interfaces 17]", async () => {
    await expect(start({ user: "dan" })).rejects.toThrow();
    await page.evaluate(() => Object.assign(globalThis, { asDan: {} }));
    expect(await status()).toBeUndefined();
    await start();
    expect(await status()).toBe(200);
    expect(application.arrived).toEqual([]);
  });

  it("that is called again replaces the first, also for requests that wake the worker [interfaces 17]", async () => {
    await start();
    await start();
    const session = await profile.newCDPSession(page);
    await session.send("ServiceWorker.enable");
    await session.send("ServiceWorker.stopAllWorkers");
    expect(await status()).toBe(200);
    expect(await page.evaluate(async () => (await sandbox.journal.list()).total)).toBe(1);
  });

  it("lets neither a beacon nor an EventSource of a first visit reach the network [interfaces 17]", async () => {
    const problem = await page.evaluate(async () => {
      const starting = begin();
      navigator.sendBeacon("/v1/models", "{}");
      let message: string | undefined;
      try {
        new EventSource("/v1/models");
      } catch (error) {
        message = (error as Error).message;
      }
      Object.assign(globalThis, { sandbox: await starting });
      new EventSource("/v1/models").close();
      return message;
    });
    expect(problem).toBe('The sandbox has not started: await start() before new EventSource("/v1/models")');
    await vi.waitFor(async () => {
      const { entries } = await page.evaluate(() => sandbox.journal.list({ method: "POST" } as never));
      expect(entries).toMatchObject([{ path: "/v1/models" }]);
    });
    expect(application.arrived).toEqual([]);
  });

  it("fails requests that XMLHttpRequest made if the sandbox does not start [interfaces 17]", async () => {
    await page.waitForFunction(() => "begin" in globalThis);
    const seen = await page.evaluate(async () => {
      const started = begin({ worker: "/nothing.js" }).catch(() => {});
      const events: string[] = [];
      const request = new XMLHttpRequest();
      for (const type of ["load", "error", "abort"]) request.addEventListener(type, () => events.push(type));
      request.open("GET", "/v1/models");
      const ended = new Promise((resolve) => request.addEventListener("loadend", resolve));
      request.send();
      await Promise.all([started, ended]);
      return events;
    });
    expect(seen).toEqual(["error"]);
  });

  it("sends no request that was aborted while it waited [interfaces 17]", async () => {
    await page.waitForFunction(() => "begin" in globalThis);
    const found = await page.evaluate(async () => {
      const started = begin();
      const events: string[] = [];
      const request = new XMLHttpRequest();
      for (const type of ["load", "error", "abort", "loadend"])
        request.addEventListener(type, () => events.push(type));
      request.open("GET", "/v1/models");
      request.send();
      request.abort();
      const before = [...events];
      const stop = new AbortController();
      const asked = fetch("/v1/models", { signal: stop.signal }).catch(({ name }: Error) => name);
      stop.abort();
      const first = await Promise.race([asked, started]);
      const own = await started;
      request.open("GET", "/v1/organizations");
      const again = new Promise((resolve) => request.addEventListener("loadend", resolve));
      request.send();
      await again;
      const { entries } = await own.journal.list();
      return { before, first, events, paths: entries.map(({ path }) => path) };
    });
    expect(found).toEqual({
      before: ["abort", "loadend"],
      first: "AbortError",
      events: ["abort", "loadend", "load", "loadend"],
      paths: ["/v1/organizations"],
    });
  });
});

describe("a sandbox that was stopped", () => {
  it("answers no request, and lets none reach the network [interfaces 17]", async () => {
    await start();
    await page.evaluate(() => sandbox.stop());
    expect(await status()).toBeUndefined();
    expect(application.arrived).toEqual([]);
    await page.reload();
    expect(await page.evaluate(async () => (await fetch("/v1/models")).status)).toBe(404);
  });

  it("does not end the one that was started after it [interfaces 17]", async () => {
    await start();
    const found = await page.evaluate(async () => {
      const second = await begin();
      await sandbox.stop();
      const answer = await fetch("/v1/models", asDan);
      return [answer.status, (await second.journal.list()).total];
    });
    expect(found).toEqual([200, 1]);
    await page.reload();
    await start();
    expect(await status()).toBe(200);
  });
});

describe("a page in a folder", () => {
  it("opens the console that is beside its worker [interfaces 17]", async () => {
    await page.goto(`${application.origin}/app/`);
    await start({ worker: "/app/understudy-worker.js" });
    expect(await status()).toBe(200);
    await page.addScriptTag({
      type: "module",
      content: `import { showPanel } from "/built/panel.js"; showPanel(sandbox);`,
    });
    await page.getByRole("button", { name: /Understudy/ }).click();
    await page.getByRole("button", { name: "Open console" }).click();
    await see(page.frameLocator("understudy-panel iframe").getByText("/v1/models").first()).toBeVisible();
    expect(application.arrived).toEqual([]);
  });
});

it("a page that starts no sandbox shows in the browser's console why its requests fail [interfaces 17]", async () => {
  await start();
  const warnings: string[] = [];
  profile.serviceWorkers()[0]!.on("console", (message) => warnings.push(message.text()));
  const { page: other } = await openPage(profile, application.origin);
  const outcome = await other.evaluate(() => fetch("/v1/models").catch(({ name }: Error) => name));
  expect(outcome).toBe("TypeError");
  await expect
    .poll(() => warnings)
    .toEqual([expect.stringMatching(/^GET http.*\/v1\/models failed: no page .*unregister/)]);
  expect(application.arrived).toEqual([]);
});
