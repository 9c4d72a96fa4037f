import { type Browser, type BrowserContext, chromium, expect, type Page } from "@playwright/test";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { findBrowser, whyNone } from "../../../scripts/browser.mjs";

/** Generous, since continuous integration has two busy cores; nothing waits as long when all is well. */
export const PATIENCE_MS = 30_000;

/** Playwright's expectations, each with that patience: its own five seconds are too few beside other work. */
export const see = expect.configure({ timeout: PATIENCE_MS });

/** How many times slower pages shall run, as on a machine that is busy: `UNDERSTUDY_SLOW_PAGES=6 npx vitest run test/browser`. */
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

type Started = { browser: Browser } | { reason: string };

/** Of this worker, for all its files: Playwright ends it with the process. */
let ofWorker: Promise<Started> | undefined;

async function startChromium(args: readonly string[]): Promise<Started> {
  const executablePath = await findBrowser();
  if (executablePath === undefined) return { reason: whyNone() };
  const start = () => chromium.launch({ executablePath, args: [...ARGS, ...args], timeout: START_MS });
  try {
    // Once more, since a machine under load may have been short of something for a moment.
    return { browser: await start().catch(start) };
  } catch (error) {
    return { reason: `${executablePath} does not start: ${(error as Error).message.split("\n")[0]}` };
  }
}

/**
 * The worker's browser, or one of the file's own where it needs other arguments. Where there is none, tests are
 * skipped with the reason, which test/support/counts-reporter.ts says aloud at the end of the run.
 */
export function useChromium(args: readonly string[] = []): () => Browser {
  let started: Started;
  beforeAll(
    async () => {
      // One that died under another file is not handed on.
      const former = await ofWorker;
      if (former && "browser" in former && !former.browser.isConnected()) ofWorker = undefined;
      const isOwn = args.length > 0;
      if (!isOwn) ofWorker ??= startChromium([]);
      started = await (isOwn ? startChromium(args) : ofWorker!);
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

/** A page, by default of a profile of its own; `complaints` collects what the browser's console and policies say of it. */
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
  const complaints = complaintsOf(page);
  if (url !== undefined) await page.goto(url);
  return { page, complaints };
}

/** From now on, until the page's listeners are removed. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return complaints;
}
