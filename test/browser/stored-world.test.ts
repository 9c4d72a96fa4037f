import type { BrowserContext, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { PageSandbox } from "../../src/client/browser.ts";
import { startInPage } from "../support/browser/page-sandbox.ts";
import { StaticApplication } from "../support/browser/static-application.ts";
import { collectComplaints, openPage, useChromium } from "../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const chromium = useChromium();
const application = new StaticApplication();
beforeAll(() => application.listen());
afterAll(() => application.close());

declare const sandbox: PageSandbox;
declare const begin: (options?: object) => Promise<PageSandbox>;
declare const asDan: { headers: { "api-key": string } };
// biome-ignore lint/suspicious/noExplicitAny: the types of browsers are not among this project's
type Any = any;
declare const indexedDB: Any;
declare const localStorage: Any;
declare const navigator: Any;

let profile: BrowserContext;
beforeEach(async () => {
  application.arrived = [];
  profile = await chromium().newContext();
});
afterEach(() => profile.close());

/** Opens a tab that starts a sandbox as the global `sandbox`. */
async function openTab(options: object = {}): Promise<Page> {
  const { page } = await openPage(profile);
  await page.goto(application.origin);
  await start(page, options);
  return page;
}

const start = (page: Page, options: object = {}) =>
  startInPage(page, { persist: "preview", seed: 7, clock: { mode: "frozen" }, ...options });

async function reload(page: Page): Promise<void> {
  await page.reload();
  await start(page);
}

const countThreads = (page: Page) =>
  page.evaluate(async () => (await sandbox.state("threads").list({ limit: 1000 })).items.length);
const addThread = (page: Page) => page.evaluate(async () => void (await sandbox.state("threads").create()));

describe("a world that a page stores", () => {
  it("is there after a reload: records, clock, snapshots, history and bytes of uploads [interfaces 17]", async () => {
    const page = await openTab();
    const before = await countThreads(page);
    await addThread(page);
    await page.evaluate(async () => {
      await sandbox.snapshots.save("early");
      await sandbox.clock.advance("6h");
      const path = "/v1/organizations/org_acme/files/upload-url";
      const body = JSON.stringify({ filename: "a.txt", file_size: 11, mime_type: "text/plain" });
      const headers = { ...asDan.headers, "content-type": "application/json" };
      const begun = await fetch(path, { method: "POST", headers, body });
      const { upload_url } = (await begun.json()) as { upload_url: string };
      localStorage.setItem("upload", upload_url);
      const { pathname, search } = new URL(upload_url);
      const range = { "content-range": "bytes 0-4/11" };
      await sandbox.fetch(pathname + search, { method: "PUT", headers: range, body: "hello" });
    });
    const clock = await page.evaluate(async () => (await sandbox.clock.show()).now);
    const entries = await page.evaluate(async () => (await sandbox.history.list()).entries.length);
    await addThread(page);
    await reload(page);
    expect(await countThreads(page)).toBe(before + 2);
    const found = await page.evaluate(async () => {
      const { pathname, search } = new URL(localStorage.getItem("upload")!);
      const headers = { "content-range": "bytes */11" };
      const upload = await sandbox.fetch(pathname + search, { method: "PUT", headers });
      return {
        clock: (await sandbox.clock.show()).now,
        snapshots: (await sandbox.snapshots.list()).items.map(({ name }) => name),
        entries: (await sandbox.history.list()).entries.length,
        range: upload.headers.get("range"),
      };
    });
    expect(found).toMatchObject({ clock, snapshots: ["early"], range: "bytes=0-4" });
    expect(found.entries).toBeGreaterThanOrEqual(entries);
  });

  it("has each change that was answered, however soon the page is closed [interfaces 17]", async () => {
    const page = await openTab();
    const before = await countThreads(page);
    for (let turn = 1; turn <= 10; turn++) {
      await addThread(page);
      await reload(page);
      expect(await countThreads(page)).toBe(before + turn);
    }
  });

  it("has its OpenAPI document, records and active scenario again, and none after it was removed [interfaces 18]", async () => {
    const tag = {
      type: "object",
      required: ["id", "name"],
      properties: { id: { type: "string", readOnly: true }, name: { type: "string", minLength: 1 } },
    };
    const answer = (schema: object) => ({ description: "", content: { "application/json": { schema } } });
    const openapi = {
      openapi: "3.1.0",
      info: { title: "Tags", version: "1" },
      paths: {
        "/v1/tags": {
          get: { operationId: "listTags", responses: { 200: answer({ type: "array", items: tag }) } },
          post: {
            operationId: "createTag",
            requestBody: { required: true, content: { "application/json": { schema: tag } } },
            responses: { 201: answer(tag) },
          },
        },
        "/v1/tags/{tag_id}": { get: { operationId: "getTag", responses: { 200: answer(tag) } } },
      },
    };
    const page = await openTab();
    const listNames = (tab: Page) =>
      tab.evaluate(async () => {
        const found = await fetch("/v1/tags", asDan);
        return found.ok ? ((await found.json()) as Any[]).map(({ name }) => name) : found.status;
      });
    const add = (tab: Page, name: string) =>
      tab.evaluate(async (text) => {
        const headers = { ...asDan.headers, "content-type": "application/json" };
        return (await fetch("/v1/tags", { method: "POST", headers, body: JSON.stringify({ name: text }) }))
          .status;
      }, name);
    await page.evaluate((document) => sandbox.operations.replace(document), openapi as object);
    expect([await add(page, "one"), await add(page, "")]).toEqual([201, 422]);
    await page.evaluate(async () => {
      await sandbox.snapshots.save("one");
      await sandbox.scenarios.activate("getTag-not-found" as never);
    });
    await reload(page);
    expect([await listNames(page), await add(page, "two")]).toEqual([["one"], 201]);
    const active = await page.evaluate(async () => (await sandbox.info()).scenarios);
    expect(active).toEqual(["getTag-not-found"]);
    // Another tab gets its answers through the first.
    const second = await openTab();
    expect(await listNames(second)).toEqual(["two", "one"]);
    await page.evaluate(async () => void (await sandbox.snapshots.restore("one")));
    await reload(page);
    expect(await listNames(page)).toEqual(["one"]);
    await page.evaluate(() => sandbox.operations.clear());
    await reload(page);
    expect(await listNames(page)).toBe(404);
  });

  it("is shared by two tabs, of which the other continues when the leading one is closed [interfaces 17]", async () => {
    const first = await openTab();
    const second = await openTab();
    const before = await countThreads(first);
    await addThread(first);
    await addThread(second);
    expect([await countThreads(first), await countThreads(second)]).toEqual([before + 2, before + 2]);
    expect(await second.evaluate(async () => (await fetch("/v1/models", asDan)).status)).toBe(200);
    const entries = await first.evaluate(async () => (await sandbox.journal.list()).entries.length);
    expect(entries).toBe(1);
    await first.close();
    // A call during the takeover fails: the first tab may still be answering when it is closed.
    await second.waitForFunction(async () => (await navigator.locks.query()).pending.length === 0);
    expect(await countThreads(second)).toBe(before + 2);
    await addThread(second);
    const third = await openTab();
    expect(await countThreads(third)).toBe(before + 3);
    expect(application.arrived).toEqual([]);
  });

  it("does not let requests of any tab wait for a tab that was closed [interfaces 17]", async () => {
    const tabs = [await openTab(), await openTab(), await openTab()] as const;
    const [first, ...others] = tabs;
    await first.evaluate(() =>
      sandbox.faults.add({ match: { operation: "models.list" }, effect: { hold: {} } }),
    );
    const waiting = others.map((tab) =>
      tab.evaluate(() => fetch("/v1/models", asDan).catch(({ name }: Error) => name)),
    );
    await first.waitForFunction(async () => (await sandbox.held.list()).items.length === 2);
    await first.close();
    expect(await Promise.all(waiting)).toEqual(["TypeError", "TypeError"]);
    for (const tab of others) expect(await countThreads(tab)).toBeGreaterThan(0);
  });

  it("passes streams and broken connections from one tab to the other [interfaces 17]", async () => {
    await openTab();
    const second = await openTab();
    const found = await second.evaluate(async () => {
      await sandbox.faults.add({ match: { operation: "models.list" }, effect: { wire: "reset" }, times: 1 });
      const broken = await fetch("/v1/models", asDan).catch((error: Error) => error.name);
      const stop = new AbortController();
      const path = "/v1/meeting-buddy/sessions/mbsess_standup/transcripts/stream";
      const stream = await fetch(path, { ...asDan, signal: stop.signal });
      const { value } = await stream.body!.getReader().read();
      stop.abort();
      return { broken, first: new TextDecoder().decode(value) };
    });
    expect(found.broken).toBe("TypeError");
    expect(found.first).toMatch(/^(:|id: 1)/);
  });

  it("is separate for each name, and a page without a name stores nothing [interfaces 17]", async () => {
    const page = await openTab();
    const before = await countThreads(page);
    await addThread(page);
    const other = await openTab({ persist: "other" });
    const none = await openTab({ persist: undefined });
    expect([await countThreads(other), await countThreads(none)]).toEqual([before, before]);
    const names = await page.evaluate(async () => (await indexedDB.databases()).map((one: Any) => one.name));
    expect(names.sort()).toEqual(["understudy:other", "understudy:preview"]);
  });

  it("says that the leading tab has another version [interfaces 17]", async () => {
    const page = await openTab();
    await page.evaluate(() => {
      const channel = new BroadcastChannel("understudy:elsewhere") as Any;
      channel.onmessage = () => channel.postMessage({ type: "leads", version: "0.0.1" });
      void navigator.locks.request("understudy:elsewhere", () => new Promise(() => {}));
    });
    await expect(openTab({ persist: "elsewhere" })).rejects.toThrow(
      /open in a tab with version 0\.0\.1 of Understudy, this page has .*reload that tab, or close it/,
    );
  });

  it("says that a newer version wrote it [interfaces 17]", async () => {
    const { page } = await openPage(profile);
    await page.goto(application.origin);
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          const asked = indexedDB.open("understudy:preview", 99);
          asked.onsuccess = () => {
            asked.result.close();
            resolve();
          };
        }),
    );
    await expect(start(page)).rejects.toThrow(/written by a newer Understudy \(format 99/);
  });

  it("lasts until the page is closed if the browser cannot store it, and the page says so [interfaces 17]", async () => {
    const { page } = await openPage(profile);
    await page.addInitScript(() => {
      indexedDB.open = () => {
        throw new DOMException("The operation is insecure.", "SecurityError");
      };
    });
    const complaints = collectComplaints(page);
    await page.goto(application.origin);
    await start(page);
    await addThread(page);
    expect(await page.evaluate(async () => (await fetch("/v1/models", asDan)).status)).toBe(200);
    expect(complaints).toEqual([
      expect.stringMatching(/This browser stores nothing: .*SecurityError.* lasts until the page is left/),
    ]);
    const health = await page.evaluate(async () => (await sandbox.fetch("/_control/health")).json());
    expect(health).toMatchObject({ saving: { reason: expect.stringContaining("SecurityError") } });
  });

  it("continues in memory while the storage is full, says so, and is stored when there is room [interfaces 17]", async () => {
    const { page } = await openPage(profile);
    const complaints = collectComplaints(page);
    await page.goto(application.origin);
    const session = await profile.newCDPSession(page);
    const overrideQuota = (bytes?: number) =>
      session.send("Storage.overrideQuotaForOrigin", {
        origin: application.origin,
        ...(bytes !== undefined && { quotaSize: bytes }),
      });
    await overrideQuota(1);
    await start(page);
    const before = await countThreads(page);
    await addThread(page);
    await expect
      .poll(() => complaints)
      .toContainEqual(
        expect.stringMatching(/Changes cannot be saved: there is no room left for the world "preview"/),
      );
    await addThread(page);
    expect(await countThreads(page)).toBe(before + 2);
    await overrideQuota();
    await expect.poll(() => complaints).toContainEqual(expect.stringMatching(/Everything is saved again/));
    await reload(page);
    expect(await countThreads(page)).toBe(before + 2);
  });

  it("is set aside if it cannot be read, and a new one starts [interfaces 17]", async () => {
    const page = await openTab();
    const before = await countThreads(page);
    await addThread(page);
    await page.evaluate(async () => {
      await sandbox.stop();
      await new Promise<void>((resolve) => {
        const asked = indexedDB.open("understudy:preview", 1);
        asked.onsuccess = () => {
          const transaction = asked.result.transaction("changes", "readwrite");
          const change = { sandbox: "default", section: "world", id: "facts", text: "{" };
          transaction.objectStore("changes").add([change]);
          transaction.oncomplete = () => {
            asked.result.close();
            resolve();
          };
        };
      });
    });
    const complaints = collectComplaints(page);
    await reload(page);
    expect(await countThreads(page)).toBe(before);
    expect(complaints).toEqual([
      expect.stringMatching(/default could not be loaded and was set aside as .*IndexedDB/),
    ]);
  });

  it("contains 100,000 records, and opens again within seconds [interfaces 17]", {
    timeout: 240_000,
  }, async () => {
    const fixture = { extends: "reference", generate: { departments: 100_000 } };
    const page = await openTab({ persist: undefined, fixture });
    const saved = await page.evaluate(async () => {
      await sandbox.snapshots.save("all");

      const all = await sandbox.snapshots.export("all");

      await sandbox.stop();
      Object.assign(globalThis, { sandbox: await begin({ persist: "preview", clock: { mode: "frozen" } }) });

      await sandbox.snapshots.import("all", all);

      await sandbox.snapshots.restore("all");
      await sandbox.snapshots.remove("all");
      const began = performance.now();
      await sandbox.stop();
      return performance.now() - began;
    });
    const began = performance.now();
    await reload(page);
    const opened = performance.now() - began;
    const found = await page.evaluate(async () => {
      const path = "/_control/sandboxes/default/state/departments?limit=1";
      return (await (await sandbox.fetch(path)).json()) as { total: number };
    });
    expect(found).toMatchObject({ total: 100_000 });
    expect(saved).toBeLessThan(30_000);
    expect(opened).toBeLessThan(30_000);
  });
});
