import type { BrowserContext, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { PageSandbox } from "../../src/client/browser.ts";
import { startInPage } from "../support/browser/page-sandbox.ts";
import { StaticApplication } from "../support/browser/static-application.ts";
import { openPage, see, useChromium } from "../support/browser/with-chromium.ts";
import { waitUntilPasses } from "../support/eventually.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/* Unusual ways to open, start and leave a page. */

const chromium = useChromium();
const application = new StaticApplication();
beforeAll(() => application.listen());
afterAll(() => application.close());

let profile: BrowserContext;
let page: Page;
beforeEach(async () => {
  application.arrived = [];
  application.policy = undefined;
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
declare const document: Any;
declare const location: { href: string; origin: string };
declare const getComputedStyle: (element: Any) => { position: string };
declare const showPanel: (sandbox: PageSandbox) => Any;
declare const asDan: { headers: { "api-key": string } };

const start = (options: object = {}) => startInPage(page, options);
const fetchStatus = (address = "/v1/models") =>
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
    expect(await fetchStatus()).toBe(200);
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
    "refuses paths that would match nothing, or the files of the page itself: %j [interfaces 17]",
    async (paths, message) => {
      await expect(start({ paths })).rejects.toThrow(message);
      expect(await page.evaluate(async () => (await fetch("/v1/models")).status)).toBe(404);
    },
  );

  it("accepts paths with a slash at the end, and paths of other origins [interfaces 17]", async () => {
    const other = application.origin.replace("127.0.0.1", "localhost");
    await start({ paths: ["/v1/", `${other}/v2`] });
    const ask = (address: string) => fetchStatus(address);
    expect([await ask("/v1/models"), await ask(`${other}/v2/models`)]).toEqual([200, 200]);
    expect([await ask("/v2/models"), await ask(`${other}/v1/models`)]).toEqual([404, undefined]);
  });

  it("does not answer requests to other origins, whatever their path [interfaces 17]", async () => {
    await start();
    const other = application.origin.replace("127.0.0.1", "localhost");
    await page.evaluate((origin) => fetch(`${origin}/v1/models`, { mode: "no-cors" }), other);
    expect(application.arrived).toEqual(["/v1/models"]);
    expect(await page.evaluate(async () => (await sandbox.journal.list()).total)).toBe(0);
  });

  it("refuses a user who has no key, and so does actAs [interfaces 17]", async () => {
    const message = /"dan" has no valid API key in this sandbox\..* usr_dan/;
    await expect(start({ user: "dan" })).rejects.toThrow(message);
    await start({ user: "usr_dan" });
    await expect(page.evaluate(() => sandbox.actAs("dan"))).rejects.toThrow(message);
    expect(await page.evaluate(() => sandbox.user)).toBe("usr_dan");
  });

  it("answers nothing after a failure, and the next start answers [interfaces 17]", async () => {
    await expect(start({ user: "dan" })).rejects.toThrow();
    await page.evaluate(() => Object.assign(globalThis, { asDan: {} }));
    expect(await fetchStatus()).toBeUndefined();
    await start();
    expect(await fetchStatus()).toBe(200);
    expect(application.arrived).toEqual([]);
  });

  it("that is called again replaces the first, also for requests that wake the worker [interfaces 17]", async () => {
    await start();
    await start();
    const session = await profile.newCDPSession(page);
    await session.send("ServiceWorker.enable");
    await session.send("ServiceWorker.stopAllWorkers");
    expect(await fetchStatus()).toBe(200);
    expect(await page.evaluate(async () => (await sandbox.journal.list()).total)).toBe(1);
  });

  it.each(["that was left", "of another tab"])(
    "replaces the worker of other paths while it waits for the answer to a page %s [interfaces 17]",
    async (which) => {
      await start();
      await page.evaluate(async () => {
        await sandbox.faults.add({ match: { operation: "models.list" }, effect: { wire: "hang" } });
        void fetch("/v1/models").catch(() => {});
      });
      if (which === "of another tab") ({ page } = await openPage(profile, application.origin));
      else await page.reload();
      await start({ paths: ["/v1"] });
      expect(await fetchStatus()).toBe(200);
    },
  );

  it("stores files for the time without a network also after a request of its paths [interfaces 17]", async () => {
    await page.evaluate(() => fetch("/v1/models"));
    await start({ offline: true });
    expect(await fetchStatus()).toBe(200);
    expect(application.arrived).toEqual(["/v1/models"]);
  });

  it("reports no error in the page for a part that cannot be stored for that time [interfaces 17]", async () => {
    const errors: Error[] = [];
    page.on("pageerror", (error) => errors.push(error));
    application.missing = `/built/${application.chunks().find((name) => name.startsWith("fidelity-"))}`;
    await start({ offline: true });
    await expect.poll(() => application.arrived).toContain(application.missing);
    await page.evaluate(`import("${application.missing}").catch(() => {})`);
    expect(errors).toEqual([]);
    application.missing = undefined;
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
    await waitUntilPasses(async () => {
      const { entries } = await page.evaluate(() => sandbox.journal.list({ method: "POST" } as never));
      expect(entries).toMatchObject([{ path: "/v1/models" }]);
    });
    expect(application.arrived).toEqual([]);
  });

  it("delays requests by relative URLs of a page with <base>, as Angular has [interfaces 17]", async () => {
    await page.goto(`${application.origin}/based/page/`);
    await page.waitForFunction(() => "begin" in globalThis);
    const found = await page.evaluate(async () => {
      const starting = begin();
      const answer = fetch("v1/models");
      const request = new XMLHttpRequest();
      request.open("GET", "v2/models");
      const ended = new Promise((resolve) => request.addEventListener("loadend", resolve));
      request.send();
      navigator.sendBeacon("v1/model/response", "{}");
      let message: string | undefined;
      try {
        new EventSource("v1/models");
      } catch (error) {
        message = (error as Error).message;
      }
      await Promise.all([starting, ended]);
      return [(await answer).status, request.status, message?.slice(0, 27)];
    });
    expect(found).toEqual([401, 401, "The sandbox has not started"]);
    expect(application.arrived).toEqual([]);
  });

  it("delays a request that was opened before, and one of another frame's class [interfaces 17]", async () => {
    await page.waitForFunction(() => "begin" in globalThis);
    const found = await page.evaluate(async () => {
      const request = new XMLHttpRequest();
      request.open("GET", "/v1/models");
      const frame = document.createElement("iframe");
      document.body.append(frame);
      const ofFrame = new frame.contentWindow.Request(`${location.origin}/v1/models`);
      const starting = begin();
      const ended = new Promise((resolve) => request.addEventListener("loadend", resolve));
      request.send();
      const answer = fetch(ofFrame);
      await Promise.all([starting, ended]);
      return [request.status, (await answer).status];
    });
    expect(found).toEqual([401, 401]);
    expect(application.arrived).toEqual([]);
  });

  it("sends a delayed request as it was when fetch was called [interfaces 17]", async () => {
    await page.waitForFunction(() => "begin" in globalThis);
    const sent = await page.evaluate(async () => {
      const starting = begin({ user: "usr_dan" });
      const body = new TextEncoder().encode('{"model":"called"}');
      const headers: Record<string, string> = { "content-type": "application/json" };
      const address = new URL("/v1/model/response?as=called", location.href);
      const answer = fetch(address, { method: "POST", body, headers });
      body.fill(32);
      headers["content-type"] = "text/html";
      address.search = "?as=changed";
      const own = await starting;
      await answer;
      const [entry] = (await own.journal.list()).entries as Any[];
      const { value } = entry.request.headers.find(({ name }: Any) => name === "content-type");
      const { ok } = await own.journal.verify({ match: { body: { model: "called" } }, count: 1 });
      return [entry.request.query, value, ok];
    });
    expect(sent).toEqual(["as=called", "application/json", true]);
  });

  it("refuses a synchronous XMLHttpRequest, which bypasses the worker, before and after [interfaces 17]", async () => {
    await page.waitForFunction(() => "begin" in globalThis);
    const messages = await page.evaluate(async () => {
      const ask = () => {
        try {
          const request = new XMLHttpRequest();
          request.open("GET", "/v1/models", false);
          request.send();
          return "sent";
        } catch (error) {
          return (error as Error).message;
        }
      };
      const starting = begin();
      const before = ask();
      await starting;
      return [before, ask()];
    });
    const message = /^The sandbox cannot answer a synchronous XMLHttpRequest to \/v1\/models: leave out/;
    expect(messages).toEqual([expect.stringMatching(message), expect.stringMatching(message)]);
    expect(application.arrived).toEqual([]);
  });

  it("keeps functions that other code has wrapped since [interfaces 17]", async () => {
    await page.waitForFunction(() => "begin" in globalThis);
    const calls = await page.evaluate(async () => {
      const starting = begin();
      const { prototype } = XMLHttpRequest;
      const { send } = prototype;
      let count = 0;
      prototype.send = function (...args: unknown[]) {
        count += 1;
        return send.apply(this, args);
      };
      await starting;
      const request = new XMLHttpRequest();
      request.open("GET", "/v1/models");
      const ended = new Promise((resolve) => request.addEventListener("loadend", resolve));
      request.send();
      await ended;
      return count;
    });
    expect(calls).toBe(1);
  });

  it("accepts uploads at the URLs that it returned, whatever its paths [4.6, interfaces 17]", async () => {
    const other = application.origin.replace("127.0.0.1", "localhost");
    for (const base of ["", other]) {
      await page.reload();
      await start({ paths: [`${base}/v1`] });
      const found = await page.evaluate(async (base) => {
        const headers = { ...asDan.headers, "content-type": "application/json" };
        const body = JSON.stringify({ filename: "a.txt", file_size: 5, mime_type: "text/plain" });
        const path = "/v1/organizations/org_acme/files/upload-url";
        const begun = await fetch(base + path, { method: "POST", headers, body });
        const { upload_url } = (await begun.json()) as { upload_url: string };
        return (await fetch(upload_url, { method: "PUT", body: "hello" })).status;
      }, base);
      expect(found).toBe(200);
    }
    expect(application.arrived).toEqual([]);
  });

  it("warns if another service worker replaces its worker [interfaces 17]", async () => {
    await start();
    const warned = page.waitForEvent("console", (message) => /no longer answers/.test(message.text()));
    await page.evaluate(() => navigator.serviceWorker.register("/other-worker.js"));
    expect((await warned).text()).toMatch(
      /\/other-worker\.js has replaced its service worker .*understudy-worker\.js/,
    );
  });

  it("says that a policy forbids it to compile schemas, and needs no other permission [interfaces 17]", async () => {
    const policy =
      "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'; style-src 'self'";
    application.policy = policy;
    await page.reload();
    await expect(start()).rejects.toThrow(
      /Content-Security-Policy forbids .* add 'unsafe-eval' to its script-src/,
    );
    application.policy = policy.replace("script-src 'self'", "script-src 'self' 'unsafe-eval'");
    await page.reload();
    await start({ persist: "with a policy" });
    expect(await fetchStatus()).toBe(200);
    await page.addScriptTag({ type: "module", url: "/panel.js" });
    await page.waitForFunction(() => "showPanel" in globalThis);
    const position = await page.evaluate(() => getComputedStyle(showPanel(sandbox)).position);
    expect(position).toBe("fixed");
  });

  it("fails delayed XMLHttpRequests if the sandbox does not start [interfaces 17]", async () => {
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

  it("sends no request that was aborted while it was delayed [interfaces 17]", async () => {
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
    expect(await fetchStatus()).toBeUndefined();
    expect(application.arrived).toEqual([]);
    await page.reload();
    expect(await page.evaluate(async () => (await fetch("/v1/models")).status)).toBe(404);
  });

  it("does not stop the one that was started after it [interfaces 17]", async () => {
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
    expect(await fetchStatus()).toBe(200);
  });
});

it("the console opens without a network once it was opened [interfaces 17]", async () => {
  const server = new StaticApplication();
  await server.listen();
  const { page: own } = await openPage(await chromium().newContext(), server.origin);
  const openConsole = async () => {
    await startInPage(own, { offline: true, persist: "offline console" });
    await own.evaluate(async () => {
      await fetch("/v1/models", asDan);
      const frame = document.createElement("iframe");
      Object.assign(frame, { src: sandbox.consoleUrl, width: 1200, height: 700 });
      document.body.append(frame);
    });
    await see(own.frameLocator("iframe").getByText("/v1/models").first()).toBeVisible();
  };
  await openConsole();
  await own.reload();
  await openConsole();
  server.close();
  await own.reload();
  await openConsole();
  expect(server.arrived).toEqual([]);
  await own.context().close();
});

describe("a page in a folder", () => {
  it("opens the console next to its worker [interfaces 17]", async () => {
    await page.goto(`${application.origin}/app/`);
    await start({ worker: "/app/understudy-worker.js" });
    expect(await fetchStatus()).toBe(200);
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
