import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { expectAccessible, expectToFit, waitForLive } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { openPage, PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { startReference } from "../../support/harness.ts";
import { createTempFolder, removeTempFolders } from "../../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

afterAll(removeTempFolders);

const { api, open, openAt, control } = useConsole("timeline");

const row = { name: /DELETE \/v1\/threads\/thread_none/ };

describe("the console's frame", { timeout: 4 * PATIENCE_MS }, () => {
  it("opens the timeline of default, calls no other host, and logs no errors [interfaces 2]", async () => {
    const { page, complaints } = await openAt("");
    await waitForLive(page);
    await see(page).toHaveURL(`${api.url}/_console/s/default/timeline`);
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await see(page.getByRole("row", row)).toBeVisible();
    expect(await page.title()).toBe("Timeline · default · Understudy");
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("works in a browser that stores nothing for a page [interfaces 2]", async () => {
    const { page: other } = await openAt("");
    const profile = await other.context().browser()!.newContext();
    const { page, complaints } = await openPage(profile);
    await page.addInitScript(`for (const name of ["localStorage", "sessionStorage"])
      Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } })`);
    await page.goto(`${api.url}/_console/s/default/timeline`);
    await waitForLive(page);
    await page.getByRole("button", { name: "Theme: system. Switch to light" }).click();
    await see(page.getByRole("button", { name: "Theme: light. Switch to dark" })).toBeVisible();
    expect(complaints).toEqual([]);
    await profile.close();
  });

  it("counts in the title the entries that arrived while the window had no focus [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/keys");
    await waitForLive(page);
    await page.evaluate("dispatchEvent(new Event('blur'))");
    for (const name of ["one", "two"]) await api.call("dan", "DELETE", `/v1/threads/thread_${name}`);
    await see(page).toHaveTitle("(2) Keys · default · Understudy");
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await see(page).toHaveTitle("Keys · default · Understudy");
  });

  it("runs actions and switches scenarios by Ctrl-K, and returns the focus [interfaces 2]", async () => {
    const { page, complaints } = await openAt("/s/default/timeline");
    await waitForLive(page);
    await page.getByRole("treegrid").focus();
    await page.keyboard.press("Control+k");
    await see(page.getByRole("searchbox", { name: /^Search views/ })).toBeFocused();
    await page.keyboard.press("Escape");
    await see(page.getByRole("treegrid")).toBeFocused();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("activate flaky-uploads");
    await see(page.getByRole("menuitem", { name: /^Activate flaky-uploads/ })).toBeVisible();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await see(page.getByText("Activated flaky-uploads.")).toBeVisible();
    await see(page.getByRole("contentinfo")).toContainText("1 scenario active");
    await see(page.getByRole("treegrid")).toBeFocused();
    await page.keyboard.press("Control+z");
    await see(page.getByRole("contentinfo")).toContainText("No active faults");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("create key");
    await see(page.getByRole("menuitem", { name: /^Create key/ })).toBeVisible();
    await page.keyboard.press("Enter");
    await see(page).toHaveURL(/keys\?make=key$/);
    await api.call(undefined, "POST", "/_control/sandboxes/default/reset");
    expect(complaints).toEqual([]);
  });

  it.each([360, 1280])("fits a window of %i px with a working navigation [interfaces 2]", async (width) => {
    const { page, complaints } = await open("", { width });
    await waitForLive(page);
    await expectToFit(page);
    const menu = page.getByRole("button", { name: "Menu" });
    if (await menu.isVisible()) await menu.click();
    await see(page.getByRole("navigation").getByRole("link", { name: "Timeline" })).toBeVisible();
    await expectToFit(page);
    expect(complaints).toEqual([]);
  });

  it("shows the full name of the sandbox on a phone [interfaces 2]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "checkout" });
    const { page } = await openAt("/s/checkout/timeline", { width: 360 });
    await waitForLive(page);
    const name = page.locator(".switcher-button .react-aria-SelectValue");
    await see(name).toHaveText("checkout");
    const cut = ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) =>
      scrollWidth - clientWidth;
    expect(await name.evaluate(cut)).toBe(0);
    await expectToFit(page);
  });

  it("hides from keys and screen readers the list that a pane covers in a narrow window [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/keys", { width: 820 });
    const list = page.getByRole("grid", { name: "Keys" });
    await list.getByRole("row", { name: /Dan laptop/ }).click();
    const pane = page.getByRole("region", { name: "Key apikey_dan" });
    await see(pane).toBeFocused();
    await see(list).toHaveCount(0);
    await page.keyboard.press("Escape");
    await see(pane).toHaveCount(0);
    await see(list).toBeFocused();
    await page.getByRole("button", { name: "Create key" }).press("Enter");
    await see(page.getByRole("region", { name: "Create key" })).toBeFocused();
    await page.keyboard.press("Tab");
    await see(page.getByRole("button", { name: "Close" })).toBeFocused();
    await page.keyboard.press("Escape");
    await see(page.getByRole("button", { name: "Create key" })).toBeFocused();
  });

  it("shows the active row and the selected choices in high contrast, without colours [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/timeline?show=refused");
    await waitForLive(page);
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    await see(page.getByRole("row", row).first()).toBeVisible();
    await page.emulateMedia({ forcedColors: "active" });
    await page.getByRole("treegrid").focus();
    await page.keyboard.press("ArrowDown");
    await see(page.locator(".row-active")).toHaveCSS("outline-style", "solid");
    await see(page.getByRole("button", { name: /^Rejected/ })).toHaveCSS("outline-style", "solid");
    await see(page.getByRole("button", { name: /^Error/ })).toHaveCSS("outline-style", "none");
  });

  it("prints an open pane in full, without the list and the navigation [interfaces 2]", async () => {
    const lines = Array.from({ length: 300 }, (_, at) => `line ${at}`);
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "printed" });
    await api.call(undefined, "POST", "/_control/sandboxes/printed/faults", {
      match: { operation: "models.list" },
      effect: { status: 200, body: { lines } },
    });
    const { headers } = await api.call("dan", "GET", "/_s/printed/v1/models");
    const { page } = await openAt(`/s/printed/timeline?entry=${headers.get("x-request-id")}`);
    await see(page.getByText('"line 299"')).toBeVisible();
    await page.emulateMedia({ media: "print" });
    await see(page.getByRole("navigation")).toHaveCount(0);
    const [body, pane] = ["Response", "Entry"].map((name) =>
      page.getByRole("region", { name: new RegExp(`^${name}`) }).first(),
    );
    expect((await pane!.boundingBox())!.height).toBeGreaterThan((await body!.boundingBox())!.height);
    expect((await body!.boundingBox())!.height).toBeGreaterThan(300 * 10);
  });

  it("is not replaced by a file that is dropped beside a place for files [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/keys");
    await waitForLive(page);
    const drop = (selector: string) =>
      page.evaluate(
        `(() => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File(["text"], "notes.txt"));
          const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
          document.querySelector(${JSON.stringify(selector)}).dispatchEvent(drop);
          return drop.defaultPrevented;
        })()`,
      );
    expect(await drop("h1")).toBe(true);
    await page.goto(`${api.url}/_console/s/default/api?operation=files.upload`);
    await see(page.locator("input[type=file]")).toBeVisible();
    expect(await drop("input[type=file]")).toBe(false);
  });

  it("shows no other sandbox if an address has too many parts [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/timeline/req_1");
    await see(page.getByText("No view “timeline/req_1”")).toBeVisible();
    expect(page.url()).toContain("/s/default/timeline/req_1");
  });

  it("finds views by Ctrl-K and keyboard [interfaces 2]", async () => {
    const { page, complaints } = await openAt("/s/default/nowhere");
    await see(page.getByText("No view “nowhere”")).toBeVisible();
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

  it("does not lose letters that are typed right after the first Ctrl-K [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/timeline");
    const hasLoaded = "performance.getEntriesByType('resource').some(({ name }) => name.includes('palette'))";
    await expect.poll(() => page.evaluate(hasLoaded)).toBe(true);
    await page.evaluate("new Promise((resolve) => requestIdleCallback(resolve))");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("timel");
    await see(page.getByRole("searchbox", { name: /^Search views/ })).toHaveValue("timel");
  });

  it("finds timeline entries and records by Ctrl-K [interfaces 2]", async () => {
    await api.call("dan", "DELETE", "/v1/threads/thread_sought");
    const { page } = await openAt("/s/default/world");
    await waitForLive(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /^Search views/ }).fill("thread_sought");
    const entry = page.getByRole("menuitem", { name: /DELETE \/v1\/threads\/thread_sought/ });
    await see(entry).toContainText("404 thread_not_found threads.delete usr_dan");
    await entry.click();
    await see(page).toHaveURL(/\/timeline\?entry=\d+/);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /^Search views/ }).fill("dept_m");
    await page.getByRole("menuitem", { name: /dept_ml/ }).click();
    await see(page).toHaveURL(/collection=departments&record=dept_ml/);
  });

  it("finds a record by its id, also after many that only contain it [interfaces 2]", async () => {
    const add = (id: string, name: string) =>
      control("POST", "/state/departments?silent=true", { id, name, organization_id: "org_acme" });
    await add("dept_sought_1", "Sought");
    for (let at = 0; at < 25; at += 1) await add(`dept_near_${at}`, `beside dept_sought ${at}`);
    const { page } = await openAt("/s/default/world");
    await waitForLive(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /^Search views/ }).fill("dept_sought");
    await see(page.getByRole("menuitem", { name: /^dept_sought_1 ?departments$/ })).toBeVisible();
  });

  it("lists the entry with exactly the typed name first in Ctrl-K [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/world");
    await waitForLive(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /^Search views/ }).fill("models.list");
    await see(page.getByRole("menuitem", { name: /models\.list_for_organization/ })).toBeVisible();
    await see(page.getByRole("menuitem").first()).toContainText("GET /v1/models");
    await page.getByRole("searchbox", { name: /^Search views/ }).fill("rewind");
    await see(page.getByRole("menuitem", { name: /^Timeline/ })).toBeVisible();
  });

  it("does not activate a scenario by Enter on a word of its description [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/world");
    await waitForLive(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /^Search views/ }).fill("thread");
    await see(page.getByRole("menuitem", { name: /^Activate/ }).first()).toBeVisible();
    await see(page.getByRole("menuitem").first()).toHaveText(/^threads/);
    await see(page.getByRole("menuitem").last()).toContainText("Activate");
    await page.keyboard.press("Enter");
    await see(page).toHaveURL(/world\?collection=threads/);
    expect(
      (await control("GET", "/scenarios")).body.items.some((one: { active: boolean }) => one.active),
    ).toBe(false);
  });

  it("runs the clock by Ctrl-K, and undoes it [interfaces 2]", async () => {
    const { page } = await openAt("/s/default/world");
    await waitForLive(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: /^Search views/ }).fill("run clock");
    await page.getByRole("menuitem", { name: /^Run(?! ×60)/ }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await see(page.getByText(/^Undone: Now/)).toBeVisible();
    expect((await control("GET", "/clock")).body.mode).toBe("frozen");
    const { entries } = (await control("GET", "/history?kind=control&limit=1")).body;
    expect(entries[0]).toMatchObject({ undone: true });
    await control("POST", "/reset");
  });

  it("says that the palette loads, not that nothing matches [interfaces 2]", async () => {
    const { page } = await openAt("");
    await waitForLive(page);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/_control/sandboxes/**", (route) => released.then(() => route.continue()));
    await page.keyboard.press("Control+k");
    const dialog = page.getByRole("dialog");
    await see(dialog.getByText("Loading …")).toBeVisible();
    release();
    await see(dialog.getByRole("menuitem", { name: /^Timeline/ })).toBeVisible();
  });

  it("reports a deleted sandbox, keeps the input, and reconnects when it exists again [interfaces 2]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "fleeting" });
    const { page } = await openAt("/s/fleeting/timeline");
    await waitForLive(page);
    const find = page.getByRole("searchbox", { name: "Filter the timeline" });
    await find.fill("thread_");
    await api.call(undefined, "DELETE", "/_control/sandboxes/fleeting");
    await see(page.getByRole("alert")).toContainText("Sandbox fleeting does not exist");
    await expectAccessible(page);
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "fleeting" });
    await see(page.getByRole("alert")).toHaveCount(0);
    await api.call("dan", "DELETE", "/_s/fleeting/v1/threads/thread_none");
    await see(find).toHaveValue("thread_");
    await see(page.getByRole("row", row)).toBeVisible();
  });

  it("reports an unreachable server and reconnects to its successor [interfaces 2]", async () => {
    const first = await startReference();
    const { port } = new URL(first.url);
    const { page } = await openAt("", {}, first.url);
    await waitForLive(page);
    await first.call("dan", "DELETE", "/v1/threads/thread_none");
    await see(page.getByRole("row", row)).toBeVisible();
    await first.close();
    await see(page.getByRole("alert")).toContainText("Disconnected");
    const second = await startReference({ port: Number(port) });
    await see(page.getByRole("alert")).toHaveCount(0);
    // The second server has an empty timeline.
    await see(page.getByText("No requests yet")).toBeVisible();
    await second.call("ada", "DELETE", "/v1/threads/thread_none");
    await see(page.getByRole("row", row)).toHaveCount(1);
    await second.close();
  });

  it("empties the timeline when another client clears the journal [interfaces 4]", async () => {
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    const { page } = await openAt("");
    await see(page.getByRole("row", row).first()).toBeVisible();
    await api.call(undefined, "DELETE", "/_control/sandboxes/default/journal");
    await see(page.getByText("No requests yet")).toBeVisible();
  });

  it("says whether changes are saved, and why they are not [interfaces 2]", async () => {
    const folder = createTempFolder();
    const data = join(folder, "data".repeat(20));
    const saving = await startReference({ persist: { folder: data } });
    const { page } = await openAt("/s/default/world", {}, saving.url);
    const status = page.getByRole("contentinfo", { name: "Status" });
    await see(status).toContainText("Saved");
    renameSync(data, join(folder, "elsewhere"));
    await saving.call("ada", "DELETE", "/v1/threads/thread_ada");
    await see(status).toContainText(/Not saved: .*data/);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    renameSync(join(folder, "elsewhere"), data);
    await see(status).not.toContainText("Not saved");
    await see(status).toContainText("Saved");
    await saving.close();
  });

  it("says that the server has restarted, and continues with it [interfaces 2]", async () => {
    const first = await startReference();
    const { port } = new URL(first.url);
    const { page } = await openAt("/s/default/faults", {}, first.url);
    await waitForLive(page);
    const status = page.getByRole("contentinfo", { name: "Status" });
    await first.call(undefined, "POST", "/_control/sandboxes/default/faults", { effect: { status: 503 } });
    await see(status).toContainText("1 rule active");
    await see(status).not.toContainText("restarted");
    await page.getByRole("searchbox", { name: "Filter scenarios" }).fill("flaky");
    await first.close();
    await see(page.getByRole("alert")).toContainText("Disconnected");
    const second = await startReference({ port: Number(port) });
    await see(page.getByRole("alert")).toHaveCount(0);
    await see(status).toContainText(/Server restarted at \d\d:\d\d:\d\d/);
    await see(status).toContainText("No active faults");
    // The typed text is still there, and works with the new server.
    await see(page.getByRole("searchbox", { name: "Filter scenarios" })).toHaveValue("flaky");
    await page.getByRole("switch", { name: "Activate flaky-uploads" }).press("Space");
    await see(status).toContainText("1 scenario active");
    await page.getByRole("button", { name: "Dismiss this notice" }).press("Enter");
    await see(status).not.toContainText("restarted");
    await second.close();
  });
});
