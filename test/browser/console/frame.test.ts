import { describe, expect, it, vi } from "vitest";
import { expectAccessible, expectToFit, seeLive } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { startReference } from "../../support/harness.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open, openAt } = useConsole("timeline");

const row = { name: /DELETE \/v1\/threads\/thread_none/ };

describe("the console's frame", { timeout: 4 * PATIENCE_MS }, () => {
  it("interfaces 2 leads to the timeline of default, asks no other host and makes no complaint", async () => {
    const { page, complaints } = await openAt("");
    await seeLive(page);
    await see(page).toHaveURL(`${api.url}/_console/s/default/timeline`);
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await see(page.getByRole("row", row)).toBeVisible();
    expect(await page.title()).toBe("Timeline · default · Understudy");
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it.each([360, 1280])("interfaces 2 fits a window of %i px, with every view in reach", async (width) => {
    const { page, complaints } = await open("", { width });
    await seeLive(page);
    await expectToFit(page);
    const menu = page.getByRole("button", { name: "Menu" });
    if (await menu.isVisible()) await menu.click();
    await see(page.getByRole("navigation").getByRole("link", { name: "Timeline" })).toBeVisible();
    await expectToFit(page);
    expect(complaints).toEqual([]);
  });

  it("interfaces 2 names the sandbox in full on a phone", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "checkout" });
    const { page } = await openAt("/s/checkout/timeline", { width: 360 });
    await seeLive(page);
    const name = page.locator(".switcher-button .react-aria-SelectValue");
    await see(name).toHaveText("checkout");
    const cut = ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) =>
      scrollWidth - clientWidth;
    expect(await name.evaluate(cut)).toBe(0);
    await expectToFit(page);
  });

  it("interfaces 2 finds views by Ctrl-K and the keyboard alone", async () => {
    const { page, complaints } = await openAt("/s/default/nowhere");
    await see(page.getByText("There is no view nowhere.")).toBeVisible();
    await page.keyboard.press("Control+k");
    await see(page.getByRole("searchbox")).toBeFocused();
    await page.keyboard.type("timel");
    await see(page.getByRole("menuitem", { name: /Timeline/ })).toBeVisible();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await see(page).toHaveURL(`${api.url}/_console/s/default/timeline`);
    await see(page.getByRole("dialog")).toHaveCount(0);
    expect(complaints).toEqual([]);
  });

  it("interfaces 2 finds entries of the timeline and records by Ctrl-K", async () => {
    await api.call("dan", "DELETE", "/v1/threads/thread_sought");
    const { page } = await openAt("/s/default/world");
    await seeLive(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /Views/ }).fill("thread_sought");
    const entry = page.getByRole("menuitem", { name: /DELETE \/v1\/threads\/thread_sought/ });
    await see(entry).toContainText("404 RESOURCE_NOT_FOUND threads.delete usr_dan");
    await entry.click();
    await see(page).toHaveURL(/\/timeline\?entry=req_/);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /Views/ }).fill("dept_m");
    await page.getByRole("menuitem", { name: /dept_ml/ }).click();
    await see(page).toHaveURL(/collection=departments&record=dept_ml/);
  });

  it("interfaces 2 says that a sandbox was deleted elsewhere, keeps what was typed, and goes on when it is there again", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "fleeting" });
    const { page } = await openAt("/s/fleeting/timeline");
    await seeLive(page);
    const find = page.getByRole("searchbox", { name: "Find in the timeline" });
    await find.fill("thread_");
    await api.call(undefined, "DELETE", "/_control/sandboxes/fleeting");
    await see(page.getByRole("alert")).toContainText("There is no sandbox fleeting");
    await expectAccessible(page);
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "fleeting" });
    await see(page.getByRole("alert")).toHaveCount(0);
    await api.call("dan", "DELETE", "/_s/fleeting/v1/threads/thread_none");
    await see(find).toHaveValue("thread_");
    await see(page.getByRole("row", row)).toBeVisible();
  });

  it("interfaces 2 says that the server is away, and follows the one that comes in its place", async () => {
    const first = await startReference();
    const { port } = new URL(first.url);
    const { page } = await openAt("", {}, first.url);
    await seeLive(page);
    await first.call("dan", "DELETE", "/v1/threads/thread_none");
    await see(page.getByRole("row", row)).toBeVisible();
    await first.close();
    await see(page.getByRole("alert")).toContainText("The server does not answer");
    const second = await startReference({ port: Number(port) });
    await see(page.getByRole("alert")).toHaveCount(0);
    // What the first had seen is another world's.
    await see(page.getByText("No request has reached this sandbox yet.")).toBeVisible();
    await second.call("ada", "DELETE", "/v1/threads/thread_none");
    await see(page.getByRole("row", row)).toHaveCount(1);
    await second.close();
  });

  it("interfaces 4 forgets what was cleared elsewhere", async () => {
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    const { page } = await openAt("");
    await see(page.getByRole("row", row).first()).toBeVisible();
    await api.call(undefined, "DELETE", "/_control/sandboxes/default/journal");
    await see(page.getByText("No request has reached this sandbox yet.")).toBeVisible();
  });
});
