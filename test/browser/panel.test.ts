import { mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { PageSandbox } from "../../src/client/page-start.ts";
import { startInPage } from "../support/browser/page-sandbox.ts";
import { StaticApplication } from "../support/browser/static-application.ts";
import { openPage, see, useChromium } from "../support/browser/with-chromium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const chromium = useChromium();
const application = new StaticApplication();
beforeAll(() => application.listen());
afterAll(() => application.close());

declare const sandbox: PageSandbox;
declare const asDan: { headers: { "api-key": string } };

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
/** A folder for pictures of the panel; unset: none. */
const PICTURES = process.env["UNDERSTUDY_PICTURES"];

let profile: BrowserContext;
let page: Page;
beforeEach(async () => {
  application.arrived = [];
  profile = await chromium().newContext({ viewport: { width: 1280, height: 800 } });
  ({ page } = await openPage(profile, application.origin));
  await startInPage(page, { clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" } });
  await page.addScriptTag({
    type: "module",
    content: `import { showPanel } from "/built/panel.js";
      globalThis.changes = 0;
      showPanel(sandbox).addEventListener("change", () => { globalThis.changes += 1; });`,
  });
  await see(handle()).toBeVisible();
});
afterEach(() => profile.close());

const handle = () => page.getByRole("button", { name: /Understudy/ });
const fetchStatus = (path = "/v1/models") =>
  page.evaluate(async (where) => (await fetch(where, asDan)).status, path);

describe("the panel", () => {
  it("shows the page's sandbox, and switches scenario, user and clock [interfaces 17]", async () => {
    await handle().click();
    await see(page.getByText("default: fixture reference, seed 1")).toBeVisible();
    await page.getByLabel("Scenario").selectOption("models-list-rate-limited");
    await see(handle()).toContainText("models-list-rate-limited");
    expect(await fetchStatus()).toBe(429);
    await page.getByLabel("Scenario").selectOption("");
    await page.getByLabel(/^User/).selectOption("usr_gus");
    await see(handle()).toContainText("usr_gus");
    expect(await fetchStatus()).toBe(401);
    await page.getByLabel(/^User/).selectOption("");
    await see(page.getByText("2026-03-15 12:00:00 UTC")).toBeVisible();
    await page.getByRole("button", { name: "+1 hour" }).click();
    await see(page.getByText("2026-03-15 13:00:00 UTC")).toBeVisible();
    await page.getByLabel("Mode of the clock").selectOption("real");
    await page.evaluate(() => sandbox.state("threads").create());
    await page.getByRole("button", { name: "Reset" }).click();
    await see(page.getByRole("button", { name: "Reset" })).toBeEnabled();
    await page.waitForFunction(() => (globalThis as { changes?: number }).changes === 7);
    const threads = await page.evaluate(async () => (await sandbox.state("threads").list()).items.length);
    expect(threads).toBe(3);
  });

  it("names all active scenarios on its handle [interfaces 17]", async () => {
    await page.evaluate(() =>
      sandbox.scenarios.activate("models-list-rate-limited", "threads-delete-forbidden"),
    );
    await handle().click();
    await see(handle()).toContainText("models-list-rate-limited");
    expect(await handle().textContent()).toContain("models-list-rate-limited, threads-delete-forbidden");
  });

  it("is used by keyboard alone [interfaces 17]", async () => {
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await see(page.getByLabel("Scenario")).toBeFocused();
    await page.keyboard.press("Escape");
    await see(page.getByLabel("Scenario")).toBeHidden();
    await see(handle()).toBeFocused();
    expect(await handle().getAttribute("aria-expanded")).toBe("false");
  });

  it("opens the console over the page's sandbox [interfaces 17]", async () => {
    await fetchStatus();
    await handle().click();
    await page.getByRole("button", { name: "Open console" }).click();
    await see(page.frameLocator("understudy-panel iframe").getByText("/v1/models").first()).toBeVisible();
    await savePicture("console");
    await page.getByRole("button", { name: "Close" }).click();
    await see(page.getByRole("dialog")).toBeHidden();
    expect(application.arrived).toEqual([]);
  });

  it("says how to get the files of the console, and why a change failed [interfaces 17]", async () => {
    application.console = false;
    await handle().click();
    await page.getByRole("button", { name: "Open console" }).click();
    await see(page.getByRole("status")).toContainText("npx understudy worker-file DIR --console");
    application.console = true;
    await page.evaluate(() => {
      sandbox.clock.advance = () => Promise.reject(new Error("The clock is at its end."));
    });
    await page.getByRole("button", { name: "+1 day" }).click();
    await see(page.getByRole("status")).toContainText("The clock is at its end.");
    expect(await page.evaluate(() => (globalThis as { changes?: number }).changes)).toBe(0);
  });

  it("says why it cannot show what the console changed [interfaces 17]", async () => {
    const errors: Error[] = [];
    page.on("pageerror", (error) => errors.push(error));
    await handle().click();
    await page.getByRole("button", { name: "Open console" }).click();
    await page.evaluate(() => {
      sandbox.info = () => Promise.reject(new Error("The sandbox has ended."));
    });
    await page.getByRole("button", { name: "Close" }).click();
    await see(page.getByRole("status")).toContainText("The sandbox has ended.");
    expect(errors).toEqual([]);
  });

  it.each([
    ["light", 360],
    ["dark", 360],
    ["light", 1280],
    ["dark", 1280],
    ["light", 1920],
    ["dark", 1920],
  ] as const)("fits a %s page of %i pixels and is accessible [interfaces 17]", async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 740 });
    await handle().click();
    await page.getByLabel("Scenario").selectOption("meeting-sessions-delete-permanently-foreign-session");
    await see(handle()).toContainText("meeting-sessions");
    await savePicture(`panel-${colorScheme}-${width}`);
    const box = await page.getByRole("region", { name: "Understudy" }).boundingBox();
    expect(box!.x).toBeGreaterThanOrEqual(0);
    expect(box!.x + box!.width).toBeLessThanOrEqual(width);
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(where: object): Promise<{ violations: { id: string }[] }> };
      };
      return (await axe.run({ include: ["understudy-panel"] })).violations.map(({ id }) => id);
    });
    expect(found).toEqual([]);
  });
});

async function savePicture(name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: `${PICTURES}/${name}.png` });
}

it("the panel is at most 30 KB [interfaces 17]", () => {
  const folder = fileURLToPath(new URL("../../dist/browser/", import.meta.url));
  const text = readFileSync(`${folder}panel.js`, "utf8");
  expect(text.length).toBeLessThan(30_000);
  expect(text).not.toMatch(/\bimport\b|\bfrom"/);
});
