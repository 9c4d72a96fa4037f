import type { BrowserContext, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { StorybookPreview } from "../../src/client/storybook.ts";
import { StaticApplication } from "../support/browser/static-application.ts";
import { openPage, useChromium } from "../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/* The loader, called as Storybook calls it. `npm run matrix` builds docs/examples/storybook and checks each story. */

const chromium = useChromium();
const application = new StaticApplication();
beforeAll(() => application.listen());
afterAll(() => application.close());

declare const preview: StorybookPreview;

let profile: BrowserContext;
beforeEach(async () => {
  application.arrived = [];
  profile = await chromium().newContext();
});
afterEach(() => profile.close());

/** Opens a frame, as Storybook does for each story. */
async function openFrame(): Promise<Page> {
  const { page } = await openPage(profile, application.origin);
  const content = `import { understudy } from "/built/storybook.js"; globalThis.preview = understudy();`;
  await page.addScriptTag({ type: "module", content });
  await page.waitForFunction(() => "preview" in globalThis);
  return page;
}

/** Loads a story, moves a department in it, and returns the number of requests up to then. */
const loadStory = (page: Page, parameters: object | undefined, viewMode = "story") =>
  page.evaluate(
    async ({ parameters, viewMode }) => {
      const context = { parameters: { understudy: parameters }, viewMode };
      const { understudy: sandbox } = await preview.loaders[0]!(context);
      const path = "/v1/organizations/org_acme/departments/dept_ml/reparent";
      const answer = await fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ new_parent_id: "dept_ops" }),
      }).catch(() => undefined);
      const { entries } = await sandbox.journal.list();
      return { status: answer?.status, requests: entries.length, now: (await sandbox.clock.show()).now };
    },
    { parameters, viewMode },
  );

const ADA = { user: "usr_ada", clock: { mode: "frozen", now: "2026-03-15T12:00:00.000Z" } };
const now = "2026-03-15T12:00:00.000Z";

describe("a story's sandbox", () => {
  it("starts as its parameters say, and again with the next story [interfaces 17]", async () => {
    const page = await openFrame();
    expect(await loadStory(page, ADA)).toEqual({ status: 200, requests: 1, now });
    const scenario = "departments-reparent-cycle";
    expect(await loadStory(page, { ...ADA, scenario })).toEqual({ status: 422, requests: 1, now });
    const faults = [{ match: { operation: "departments.reparent" }, effect: { wire: "reset" } }];
    expect(await loadStory(page, { ...ADA, faults })).toEqual({ status: undefined, requests: 1, now });
    const fixture = { extends: "reference", departments: { dept_ml: { parent_id: "dept_ops" } } };
    expect(await loadStory(page, { ...ADA, fixture, seed: 7 })).toMatchObject({ status: 200, requests: 1 });
    expect(await loadStory(page, undefined)).toMatchObject({ status: 401, requests: 1 });
    expect(application.arrived).toEqual([]);
  });

  it("is not shared with another story on the same docs page [interfaces 17]", async () => {
    const [one, other] = [await openFrame(), await openFrame()];
    const stories = [
      loadStory(one, ADA),
      loadStory(other, { ...ADA, scenario: "departments-reparent-rate-limited" }),
    ];
    expect((await Promise.all(stories)).map(({ status, requests }) => [status, requests])).toEqual([
      [200, 1],
      [429, 1],
    ]);
    expect(await one.evaluate(() => preview.parameters)).toEqual({ docs: { story: { inline: false } } });
    await expect(loadStory(one, ADA, "docs")).rejects.toThrow(
      /share its window.*leave parameters.docs.story.inline false/,
    );
  });

  it("is the newest one after an update of the preview, and the last of two that load at the same time [interfaces 17]", async () => {
    const page = await openFrame();
    expect(await loadStory(page, ADA)).toMatchObject({ status: 200 });
    // Hot reload does the same: it keeps the module.
    const content = `import { understudy } from "/built/storybook.js"; globalThis.preview = understudy();`;
    await page.evaluate(() => Object.assign(globalThis, { before: preview }));
    await page.addScriptTag({ type: "module", content });
    await page.waitForFunction(() => preview !== (globalThis as { before?: unknown }).before);
    expect(await loadStory(page, ADA)).toMatchObject({ status: 200, requests: 1 });
    const session = await profile.newCDPSession(page);
    await session.send("ServiceWorker.enable");
    await session.send("ServiceWorker.stopAllWorkers");
    expect(await loadStory(page, ADA)).toMatchObject({ status: 200, requests: 1 });
    const found = await page.evaluate(async (parameters) => {
      const load = (seed: number) =>
        preview.loaders[0]!({ parameters: { understudy: { ...parameters, seed } }, viewMode: "story" });
      const [, { understudy: last }] = await Promise.all([load(1), load(2)]);
      await fetch("/v1/models");
      return [(await last.info()).seed, (await last.journal.list()).entries.length];
    }, ADA);
    expect(found).toEqual([2, 1]);
  });

  it("passes webhooks that leave it to the story's own function [interfaces 17]", async () => {
    const page = await openFrame();
    const called = await page.evaluate(async () => {
      const urls: string[] = [];
      const story = { onDelivery: ({ url }: Request) => void urls.push(url) };
      const context = { parameters: { understudy: story }, viewMode: "story" };
      const { understudy: sandbox } = await preview.loaders[0]!(context);
      const url = "https://partner.example.com/hook";
      await sandbox.state("webhooks").create({ url, events: ["user.created"] });
      await sandbox.events.trigger("user.created");
      return urls;
    });
    expect(called).toEqual(["https://partner.example.com/hook"]);
  });

  it("refuses misspelt parameters, scenarios and rules [interfaces 17]", async () => {
    const page = await openFrame();
    await expect(loadStory(page, { scenarios: "x" })).rejects.toThrow(
      'parameters.understudy has no option "scenarios"',
    );
    await expect(loadStory(page, { scenario: "departments-reparent-cicle" })).rejects.toThrow(
      /departments-reparent-cicle/,
    );
    await expect(loadStory(page, { user: "usr_adda" })).rejects.toThrow(/usr_ada/);
    const faults = [{ match: { operation: "departments.reparents" }, effect: { wire: "reset" } }];
    await expect(loadStory(page, { faults })).rejects.toThrow(/departments.reparent/);
  });
});
