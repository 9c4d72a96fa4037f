import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Locator, Page, Request } from "@playwright/test";
import { expect } from "vitest";
import { collectComplaints, openPage, PATIENCE_MS, see } from "./with-chromium.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export interface OpenedConsole {
  page: Page;
  /** Console errors, policy violations and calls to other hosts; a test expects none. */
  complaints: string[];
}

export interface ConsoleOptions {
  width?: number;
  height?: number;
  theme?: "light" | "dark";
}

/** Default size of the window. */
export const WINDOW = { width: 1280, height: 800 };

/** Runs in its own process, since vitest sets NODE_ENV to test. */
const BUILD = new URL("../../../scripts/build-console.mjs", import.meta.url);
let isBuilt = false;
function buildConsole(): void {
  if (isBuilt) return;
  execFileSync(process.execPath, [fileURLToPath(BUILD), "--if-stale"], { stdio: "inherit" });
  isBuilt = true;
}

/** Pages share a profile, so that scripts are cached; session storage is per tab. */
const profiles = new WeakMap<Browser, Promise<BrowserContext>>();
function getProfile(browser: Browser): Promise<BrowserContext> {
  const profile = profiles.get(browser) ?? browser.newContext();
  profiles.set(browser, profile);
  return profile;
}

/** Emptied pages for reuse, since opening a page starts a process. */
const emptyPages = new WeakMap<BrowserContext, Page[]>();

async function takePage(profile: BrowserContext): Promise<{ page: Page; complaints: string[] }> {
  const page = emptyPages.get(profile)?.pop();
  return page === undefined ? openPage(profile) : { page, complaints: collectComplaints(page) };
}

/**
 * Empties the page without ending its process. Hiding it closes its live stream, which would keep one of six
 * connections; history changes are disabled, since they would cancel the navigation.
 */
const EMPTY = `sessionStorage.clear();
  Object.defineProperty(document, "hidden", { value: true });
  document.dispatchEvent(new Event("visibilitychange"));
  stop();
  history.pushState = history.replaceState = () => {};
  location.replace("about:blank")`;

/** Empties a page for reuse, or closes it if that fails. */
export async function recyclePage(page: Page): Promise<void> {
  page.removeAllListeners();
  const profile = page.context();
  try {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.evaluate(EMPTY);
    await page.waitForURL("about:blank", { timeout: SOON_MS });
    await page.mouse.move(-1, -1);
  } catch {
    return page.close();
  }
  emptyPages.set(profile, [...(emptyPages.get(profile) ?? []), page]);
}

/** The entry script and style sheet of the build. */
export function findConsoleFiles(): { script: string; style: string } {
  buildConsole();
  const page = readFileSync(new URL("../../../dist/console/index.html", import.meta.url), "utf8");
  const [, script] = / src="([^"]+\.js)"/.exec(page)!;
  const [, style] = / href="([^"]+\.css)"/.exec(page)!;
  return { script: script!, style: style! };
}

/**
 * Opens the console at an address below `/_console`, such as `/s/default/timeline`. Builds it first if its sources are
 * newer.
 */
export async function openConsole(
  browser: Browser,
  base: string,
  address = "",
  { width = WINDOW.width, height = WINDOW.height, theme = "light" }: ConsoleOptions = {},
): Promise<OpenedConsole> {
  buildConsole();
  const { page, complaints } = await takePage(await getProfile(browser));
  await page.setViewportSize({ width, height });
  // Also resets what an earlier test of this page has set.
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce", media: null, forcedColors: null });
  pendingRequests.set(page, followRequests(page));
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith("http") && host !== new URL(base).host) complaints.push(`${host} was asked`);
  });
  const arrived = await page.goto(`${base}/_console${address}`);
  // Vitest does not count Playwright's assertions.
  expect(arrived?.ok()).toBe(true);
  return { page, complaints };
}

/** Waits until the live stream is connected. */
export async function waitForLive(page: Page): Promise<void> {
  await see(page.getByRole("img", { name: "live", exact: true })).toBeVisible();
}

/** Pending requests of a page, except the live stream. */
const pendingRequests = new WeakMap<Page, ReadonlySet<Request>>();

function followRequests(page: Page): ReadonlySet<Request> {
  const open = new Set<Request>();
  page.on("request", (request) => {
    if (!new URL(request.url()).pathname.endsWith("/live")) open.add(request);
  });
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
  return open;
}

/** Two frames, after which React has rendered and sent follow-up requests. */
const DRAWN = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";

/** Waits until the page has loaded all its data. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await waitForLive(page);
  await see(page.getByRole("heading", { level: 1 })).toHaveCount(1);
  await see(async () => {
    see([...pendingRequests.get(page)!].map((request) => request.url())).toEqual([]);
    await page.evaluate(DRAWN);
    see([...pendingRequests.get(page)!].map((request) => request.url())).toEqual([]);
  }).toPass({ timeout: PATIENCE_MS, intervals: [20, 50, 100] });
  await see(page.getByText("Loading …")).toHaveCount(0);
}

/**
 * Opens a select by its label and picks an option. Retries, since the option may render again while it is clicked.
 */
export async function choose(page: Page, label: string, choice: string | RegExp): Promise<void> {
  // The accessible name of a select is its value and label; a column header may have the same name.
  const named = page.getByRole("button", { name: new RegExp(`(^| )${label}$`) });
  await chooseIn(named.and(page.locator(".select")), choice);
}

/** Like `choose`, for any select. */
export async function chooseIn(field: Locator, choice: string | RegExp): Promise<void> {
  const option = field.page().getByRole("option", { name: choice });
  await see(async () => {
    // An earlier attempt may have opened the list.
    if (!(await option.isVisible())) await field.click({ timeout: SOON_MS });
    await option.click({ timeout: SOON_MS });
    await see(option).toHaveCount(0, { timeout: SOON_MS });
  }).toPass({ timeout: PATIENCE_MS });
}

/** Timeout of one attempt. */
const SOON_MS = 5000;

/** Expects that axe finds no violation of WCAG 2.2 A and AA in either theme. */
export async function expectAccessible(page: Page): Promise<void> {
  // A tooltip is outside all landmarks.
  await page.mouse.move(0, 0);
  await see(page.getByRole("tooltip")).toHaveCount(0);
  // Evaluated, since the page's policy forbids other scripts.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  expect(await findViolations(page, TARGET_SIZE), "light").toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  // Other rules do not depend on the theme.
  expect(await findViolations(page, { runOnly: ["color-contrast", "link-in-text-block"] }), "dark").toEqual(
    [],
  );
  await page.emulateMedia({ colorScheme: "light" });
}

/** A rule of WCAG 2.2 that axe leaves out by default. */
const TARGET_SIZE = { rules: { "target-size": { enabled: true } } };

async function findViolations(page: Page, rules: object = {}): Promise<string[]> {
  const options = JSON.stringify({ resultTypes: ["violations"], ...rules });
  const found = (await page.evaluate(
    // The live region may name a button that no longer exists.
    `axe.run({ exclude: "[data-live-announcer]" }, ${options}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, any }) => html + " " + any.map(({ message }) => message).join()).slice(0, 3).join(" | ")))`,
  )) as string[];
  return found;
}

/** Expects that nothing is wider than the window. */
export async function expectToFit(page: Page): Promise<void> {
  const [wide, width] = (await page.evaluate(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  )) as [number, number];
  expect(wide).toBeLessThanOrEqual(width);
}
