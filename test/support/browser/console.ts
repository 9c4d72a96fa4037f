import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Locator, Page, Request } from "@playwright/test";
import { expect } from "vitest";
import { complaintsOf, openPage, PATIENCE_MS, see } from "./with-chromium.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export interface OpenedConsole {
  page: Page;
  /** What the browser and the page's policy complained of, and every other host that was asked; a journey ends with none. */
  complaints: string[];
}

export interface ConsoleOptions {
  width?: number;
  height?: number;
  theme?: "light" | "dark";
}

/** Where a test says nothing else. */
export const WINDOW = { width: 1280, height: 800 };

/** In a process of its own, as the scripts do: vitest's environment is that of tests. */
const BUILD = new URL("../../../scripts/build-console.mjs", import.meta.url);
let isBuilt = false;
function buildConsole(): void {
  if (isBuilt) return;
  execFileSync(process.execPath, [fileURLToPath(BUILD), "--if-stale"], { stdio: "inherit" });
  isBuilt = true;
}

/** Pages of the console share a profile, whose cache holds their scripts; what a tab keeps is each tab's own. */
const profiles = new WeakMap<Browser, Promise<BrowserContext>>();
function profileOf(browser: Browser): Promise<BrowserContext> {
  const profile = profiles.get(browser) ?? browser.newContext();
  profiles.set(browser, profile);
  return profile;
}

/** Pages that were left, by profile: to open another starts a process, which takes longer than all that a page shows. */
const spare = new WeakMap<BrowserContext, Page[]>();

async function takePage(profile: BrowserContext): Promise<{ page: Page; complaints: string[] }> {
  const page = spare.get(profile)?.pop();
  return page === undefined ? openPage(profile) : { page, complaints: complaintsOf(page) };
}

/**
 * Goes by the page itself, which keeps its process so. What is hidden follows nothing: a stream that the document
 * leaves open would hold one of the six connections that its process has. An address that the console still writes
 * would call the way back off.
 */
const EMPTY = `sessionStorage.clear();
  Object.defineProperty(document, "hidden", { value: true });
  document.dispatchEvent(new Event("visibilitychange"));
  stop();
  history.pushState = history.replaceState = () => {};
  location.replace("about:blank")`;

/** Keeps a page for the next who opens one, with nothing in it of what this one did; what cannot be emptied is closed. */
export async function leavePage(page: Page): Promise<void> {
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
  spare.set(profile, [...(spare.get(profile) ?? []), page]);
}

/** The script and the style sheet that the page begins with. */
export function consoleFiles(): { script: string; style: string } {
  buildConsole();
  const page = readFileSync(new URL("../../../dist/console/index.html", import.meta.url), "utf8");
  const [, script] = / src="([^"]+\.js)"/.exec(page)!;
  const [, style] = / href="([^"]+\.css)"/.exec(page)!;
  return { script: script!, style: style! };
}

/**
 * The console at an address below `/_console`, such as `/s/default/timeline`, once it follows the sandbox. Builds it
 * before, where its sources are newer.
 */
export async function openConsole(
  browser: Browser,
  base: string,
  address = "",
  { width = WINDOW.width, height = WINDOW.height, theme = "light" }: ConsoleOptions = {},
): Promise<OpenedConsole> {
  buildConsole();
  const { page, complaints } = await takePage(await profileOf(browser));
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  awaited.set(page, followRequests(page));
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith("http") && host !== new URL(base).host) complaints.push(`${host} was asked`);
  });
  const arrived = await page.goto(`${base}/_console${address}`);
  // Vitest does not count what Playwright expects.
  expect(arrived?.ok()).toBe(true);
  return { page, complaints };
}

/** Follows the sandbox: what happens from now on is shown. */
export async function seeLive(page: Page): Promise<void> {
  await see(page.getByRole("img", { name: "live", exact: true })).toBeVisible();
}

/** What a page has asked for and not been answered yet; the stream of what happens has no end. */
const awaited = new WeakMap<Page, ReadonlySet<Request>>();

function followRequests(page: Page): ReadonlySet<Request> {
  const open = new Set<Request>();
  page.on("request", (request) => {
    if (!new URL(request.url()).pathname.endsWith("/live")) open.add(request);
  });
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
  return open;
}

/** What an answer leads to, be it drawn or asked for, has come about by then. */
const DRAWN = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";

/** Whatever it shows has come: some of what is still asked for leaves no mark on the page until it is there. */
export async function seeWhole(page: Page): Promise<void> {
  await seeLive(page);
  await see(page.getByRole("heading", { level: 1 })).toHaveCount(1);
  await see(async () => {
    see([...awaited.get(page)!].map((request) => request.url())).toEqual([]);
    await page.evaluate(DRAWN);
    see([...awaited.get(page)!].map((request) => request.url())).toEqual([]);
  }).toPass({ timeout: PATIENCE_MS, intervals: [20, 50, 100] });
  await see(page.getByText("Loading …")).toHaveCount(0);
}

/**
 * Opens a choice by the name of its field, and takes the option of this name. Once more, where what was pressed was
 * drawn anew under the pointer.
 */
export async function choose(page: Page, label: string, choice: string | RegExp): Promise<void> {
  // A choice is called by what is chosen and its field's name; the head of a column may be called so too.
  const named = page.getByRole("button", { name: new RegExp(`(^| )${label}$`) });
  await chooseOf(named.and(page.locator(".select")), choice);
}

/** The same of a choice that is found otherwise. */
export async function chooseOf(field: Locator, choice: string | RegExp): Promise<void> {
  const option = field.page().getByRole("option", { name: choice });
  await see(async () => {
    // What is there already was opened by an attempt before; with nothing to offer it is disabled, and no press counts.
    if (!(await option.isVisible())) await field.click({ timeout: SOON_MS });
    await option.click({ timeout: SOON_MS });
    await see(option).toHaveCount(0, { timeout: SOON_MS });
  }).toPass({ timeout: PATIENCE_MS });
}

/** Until the next attempt. */
const SOON_MS = 5000;

/** No violation of WCAG 2.2 A and AA that axe can find, in both themes. */
export async function expectAccessible(page: Page): Promise<void> {
  // A hint that the pointer happens to open stands outside of everything.
  await page.mouse.move(0, 0);
  await see(page.getByRole("tooltip")).toHaveCount(0);
  // Evaluated, since the page's policy lets no other script in; once for a document.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  expect(await violations(page), "light").toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  // The rest is the same in every colour.
  expect(await violations(page, { runOnly: ["color-contrast", "link-in-text-block"] }), "dark").toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
}

async function violations(page: Page, rules: object = {}): Promise<string[]> {
  const options = JSON.stringify({ resultTypes: ["violations"], ...rules });
  const found = (await page.evaluate(
    // What was announced last names a button that may have gone since.
    `axe.run({ exclude: "[data-live-announcer]" }, ${options}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, any }) => html + " " + any.map(({ message }) => message).join()).slice(0, 3).join(" | ")))`,
  )) as string[];
  return found;
}

/** Nothing is wider than the window. */
export async function expectToFit(page: Page): Promise<void> {
  const [wide, width] = (await page.evaluate(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  )) as [number, number];
  expect(wide).toBeLessThanOrEqual(width);
}
