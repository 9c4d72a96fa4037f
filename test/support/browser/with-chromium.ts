import { type Browser, type BrowserContext, chromium, expect, type Page } from "@playwright/test";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { explainMissingBrowser, findBrowser } from "../../../scripts/browser.mjs";

/** Timeout that is long enough for two busy cores in CI. */
export const PATIENCE_MS = 30_000;

/** Playwright's `expect` with this timeout instead of five seconds. */
export const see = expect.configure({ timeout: PATIENCE_MS });

/** Slows pages down to simulate a busy machine: `UNDERSTUDY_SLOW_PAGES=6 npx vitest run test/browser`. */
const SLOWER = Number(process.env["UNDERSTUDY_SLOW_PAGES"] ?? 1);

const START_MS = 90_000;

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

type BrowserStart = { browser: Browser } | { reason: string };

/** All test files of this worker share the browser; it ends with the worker's process. */
let workerBrowser: Promise<BrowserStart> | undefined;

async function startChromium(args: readonly string[]): Promise<BrowserStart> {
  const executablePath = await findBrowser();
  if (executablePath === undefined) return { reason: explainMissingBrowser() };
  const start = () => chromium.launch({ executablePath, args: [...ARGS, ...args], timeout: START_MS });
  try {
    // Retry once, since the machine may be busy.
    return { browser: await start().catch(start) };
  } catch (error) {
    return { reason: `${executablePath} does not start: ${(error as Error).message.split("\n")[0]}` };
  }
}

/**
 * Returns the worker's browser, or a separate one if the file needs other arguments. Without a browser, the tests are
 * skipped with a reason, which test/support/counts-reporter.ts prints.
 */
export function useChromium(args: readonly string[] = []): () => Browser {
  let started: BrowserStart;
  beforeAll(
    async () => {
      // Replace a browser that crashed in another file.
      const former = await workerBrowser;
      if (former && "browser" in former && !former.browser.isConnected()) workerBrowser = undefined;
      const isOwn = args.length > 0;
      if (!isOwn) workerBrowser ??= startChromium([]);
      started = await (isOwn ? startChromium(args) : workerBrowser!);
    },
    2 * START_MS + PATIENCE_MS,
  );
  beforeEach(({ skip }) => {
    if ("reason" in started) skip(started.reason);
  });
  afterAll(
    () => (args.length > 0 && "browser" in started ? started.browser.close() : undefined),
    PATIENCE_MS,
  );
  return () => (started as { browser: Browser }).browser;
}

/** Opens a page, by default in a new profile. `complaints` collects console errors and policy violations. */
export async function openPage(
  profile: Browser | BrowserContext,
  url?: string,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await profile.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  if (SLOWER > 1) {
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  }
  const complaints = collectComplaints(page);
  if (url !== undefined) await page.goto(url);
  return { page, complaints };
}

/** Collects console errors and policy violations until the page's listeners are removed. */
export function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return complaints;
}
