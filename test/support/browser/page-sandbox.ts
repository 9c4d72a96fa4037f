import type { Page } from "@playwright/test";
import type { PageSandbox } from "../../../src/client/browser.ts";

declare const begin: (options?: object) => Promise<PageSandbox>;

/** Starts a sandbox in a page of the static application. Sets the globals `sandbox`, `asDan` and `asAda` (headers). */
export async function startInPage(page: Page, options: object = {}): Promise<void> {
  await page.waitForFunction(() => "begin" in globalThis);
  await page.evaluate(async (given) => {
    const sandbox = await begin(given);
    const makeHeaders = (user: string) => ({
      headers: { "api-key": (sandbox.credentials as Record<string, string>)[user]! },
    });
    Object.assign(globalThis, { sandbox, asDan: makeHeaders("usr_dan"), asAda: makeHeaders("usr_ada") });
  }, options);
}
