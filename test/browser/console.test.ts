import { expect as see } from "@playwright/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, PATIENCE_MS, useChromium } from "../support/browser/with-chromium.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";

const chromium = useChromium();
let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const wait = { timeout: PATIENCE_MS };

async function openConsole(hash = "") {
  const opened = await openPage(chromium(), `${api.url}/_console${hash}`);
  await see(opened.page.locator("#health")).toContainText("Version", wait);
  return opened;
}

describe("the console in a browser", { timeout: 4 * PATIENCE_MS }, () => {
  it("interfaces 2 shows server, sandbox, clock, credentials and a line to paste, without a complaint", async () => {
    const { page, complaints } = await openConsole();
    const sandbox = page.locator("#sandboxes tr", { hasText: "default" });
    await see(sandbox).toContainText(api.url, wait);
    await see(sandbox).toContainText("2026-03-15 12:00:00 frozen");
    const dan = page.locator("#credentials tr", { hasText: KEYS.dan });
    await see(dan).toContainText("Dan Whitfield, member of org_acme", wait);
    await see(page.locator("#credentials tr", { hasText: KEYS.revoked })).toContainText("revoked");
    await dan.getByRole("button").click();
    await see(page.locator("#curl")).toHaveText(`curl -s -H 'api-key: ${KEYS.dan}' ${api.url}/v1/models`);
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("interfaces 4 shows a request made meanwhile, why it was answered so, and no secret", async () => {
    const { page, complaints } = await openConsole();
    await see(page.locator("#no-journal")).toBeVisible(wait);
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    const entry = page.locator("#journal tbody", { hasText: "DELETE /v1/threads/thread_none" });
    await see(entry).toContainText("404 RESOURCE_NOT_FOUND", wait);
    await see(entry).toContainText("usr_dan");
    await entry.getByRole("button").press("Enter");
    await see(entry).toContainText("Operation: threads.delete");
    await see(entry).not.toContainText(KEYS.dan);
    await api.call(undefined, "DELETE", "/_control/sandboxes/default/journal");
    await see(page.locator("#no-journal")).toBeVisible(wait);
    await api.call("dan", "GET", "/v1/models");
    await see(page.locator("#journal tbody")).toContainText(["GET /v1/models"], wait);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("interfaces 2 follows the sandbox that is chosen, also one whose name is new", async () => {
    const { page, complaints } = await openConsole();
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "other" });
    await page.getByRole("link", { name: "other", exact: true }).click(wait);
    await see(page.locator("#curl")).toContainText(`${api.url}/_s/other/v1/models`, wait);
    await api.call("dan", "GET", "/_s/other/v1/models");
    await see(page.locator("#journal tbody")).toContainText(["GET /v1/models"], wait);
    await page.getByRole("link", { name: "Coverage" }).click();
    await see(page).toHaveTitle(/^Coverage of other: /, wait);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("interfaces 2 reads nothing that a sandbox holds as markup", async () => {
    const markup = '<img src="x" onerror="document.title=1"><script>document.title=1</script>';
    const user = await api.call(undefined, "POST", "/_control/sandboxes/default/state/users", {
      name: markup,
    });
    const key = { user_id: user.body.id, current: "org_acme", name: markup };
    expect(
      (await api.call(undefined, "POST", "/_control/sandboxes/default/state/api_keys", key)).status,
    ).toBe(201);
    await api.call("dan", "POST", `/v1/no/${encodeURIComponent(markup)}`, { markup });
    const { page, complaints } = await openConsole();
    const row = page.locator("#credentials tr", { hasText: user.body.id });
    await see(row).toContainText(markup, wait);
    const entry = page.locator("#journal tbody").first();
    await entry.getByRole("button").click(wait);
    await see(entry).toContainText("onerror");
    expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
    expect(await page.title()).toBe("Understudy");
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("interfaces 2 says what is wrong, and recovers", async () => {
    const { page } = await openConsole("#gone");
    await see(page.locator("#trouble")).toHaveText("There is no sandbox gone. Choose one of the list.", wait);
    await page.getByRole("link", { name: "default", exact: true }).click(wait);
    await see(page.locator("#trouble")).toBeHidden(wait);
    await page.close();
  });

  it("interfaces 7 asks for the token of a shared server, keeps it, and is usable by keyboard alone", async () => {
    const token = "a-token-for-the-console";
    const shared = await startReference({ shared: { token } });
    const { page } = await openPage(chromium(), `${shared.url}/_console`);
    await see(page.locator("#token")).toBeFocused(wait);
    await see(page.locator("#trouble")).toContainText("control token");
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    await see(page.locator("#trouble")).toContainText("not the one of this server", wait);
    await see(page.locator("#token")).toBeFocused(wait);
    await page.keyboard.type(token);
    await page.keyboard.press("Enter");
    await see(page.locator("#credentials")).toContainText(KEYS.dan, wait);
    await page.reload();
    await see(page.locator("#credentials")).toContainText(KEYS.dan, wait);
    await see(page.locator("#token-form")).toBeHidden();
    await page.close();
    await shared.close();
  });
});
