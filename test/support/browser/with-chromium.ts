import { type Browser, chromium, expect, type Page } from "@playwright/test";
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

/**
 * One browser for a test file. Where there is none, its tests are skipped with the reason, which
 * test/support/counts-reporter.ts says aloud at the end of the run.
 */
export function useChromium(args: readonly string[] = []): () => Browser {
  let browser: Browser | undefined;
  let reason: string | undefined;
  beforeAll(
    async () => {
      const executablePath = await findBrowser();
      if (executablePath === undefined) {
        reason = whyNone();
        return;
      }
      const start = () => chromium.launch({ executablePath, args: [...ARGS, ...args], timeout: START_MS });
      try {
        // Once more, since a machine under load may have been short of something for a moment.
        browser = await start().catch(start);
      } catch (error) {
        reason = `${executablePath} does not start: ${(error as Error).message.split("\n")[0]}`;
      }
    },
    2 * START_MS + PATIENCE_MS,
  );
  beforeEach(({ skip }) => {
    if (reason !== undefined) skip(reason);
  });
  afterAll(() => browser?.close(), PATIENCE_MS);
  return () => browser!;
}

/** A page of its own profile; `complaints` collects what the browser's console and policies say of it. */
export async function openPage(
  browser: Browser,
  url?: string,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  if (SLOWER > 1) {
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  }
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  if (url !== undefined) await page.goto(url);
  return { page, complaints };
}
