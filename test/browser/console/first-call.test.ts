import { beforeEach, describe, expect, it, vi } from "vitest";
import { choose, chooseIn, expectAccessible, expectToFit } from "../../support/browser/console.ts";
import { useConsole } from "../../support/browser/use-console.ts";
import { PATIENCE_MS, see } from "../../support/browser/with-chromium.ts";
import { KEYS } from "../../support/harness.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { api, open, openAt, control } = useConsole("timeline");
beforeEach(async () => {
  await control("POST", "/reset");
});

describe("the first visit to the console", { timeout: 4 * PATIENCE_MS }, () => {
  it("leads to a call from the page, then to one from a client [interfaces 2]", async () => {
    const { page, complaints } = await open();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const readClipboard = () => page.evaluate("navigator.clipboard.readText()");
    const start = page.getByRole("region", { name: "First call" });
    await expectAccessible(page);
    await start.getByRole("button", { name: "Try it as Ada" }).click();
    await see(start.getByRole("status")).toContainText("200");
    await see(page.getByRole("row", { name: /200 GET \/v1\/models/ })).toContainText("usr_ada");
    // The page's own calls do not count.
    await see(start).toBeVisible();
    await choose(page, "Call as", /^Dan/);
    await start.getByRole("button", { name: "Try it as Dan" }).press("Enter");
    await see(page.getByRole("row", { name: /models.*usr_dan/ })).toBeVisible();
    await start.getByRole("button", { name: "Copy as .env" }).click();
    await expect.poll(readClipboard).toBe(`API_BASE_URL=${api.url}\nAPI_KEY=${KEYS.dan}\n`);
    await start.getByRole("button", { name: "Copy base URL" }).click();
    await expect.poll(readClipboard).toBe(api.url);
    expect(await page.content()).not.toContain(KEYS.dan);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await expectToFit(page);
    }
    await api.call("dan", "GET", "/v1/models?limit=1");
    await see(start).toHaveCount(0);
    expect(complaints).toEqual([]);
  });

  it("counts a call of a client whose id a call of the page in another sandbox has [interfaces 2]", async () => {
    await api.call(undefined, "DELETE", "/_control/sandboxes/twin");
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "twin" });
    const { page } = await open();
    const start = page.getByRole("region", { name: "First call" });
    await start.getByRole("button", { name: /^Try it as/ }).click();
    await see(start.getByRole("status")).toContainText("200");
    const [own] = (await control("GET", "/journal?limit=1")).body.entries;
    const { headers } = await api.call("ada", "GET", "/_s/twin/v1/models");
    expect(headers.get("x-request-id")).toBe(own.id);
    await chooseIn(page.getByRole("button", { name: /Sandbox$/ }), /^twin/);
    await see(page.getByRole("row", { name: /models/ })).toBeVisible();
    await see(start).toHaveCount(0);
  });

  it("does not ask for a first call if the history has one, as after a restart [interfaces 10]", async () => {
    expect((await api.call("ada", "DELETE", "/v1/threads/thread_ada")).status).toBe(200);
    await control("DELETE", "/journal");
    const { page } = await open();
    await see(page.getByRole("row", { name: /usr_ada: Delete a thread/ })).toBeVisible();
    await see(page.getByRole("region", { name: "First call" })).toHaveCount(0);
  });

  it("leads to a key if no user has one [2.15]", async () => {
    await api.call(undefined, "POST", "/_control/sandboxes", {
      name: "bare",
      fixture: { organizations: [] },
    });
    const { page } = await openAt("/s/bare/timeline");
    await page.getByRole("link", { name: "Create a key" }).click();
    await see(page).toHaveURL(/keys\?make=key$/);
    // Each view of an empty world has a link to the missing record, up to the first call.
    await page.getByRole("link", { name: "Add one" }).press("Enter");
    await see(page).toHaveURL(/world\?collection=users&record=%2B$/);
    for (const address of [
      "world?show=usage",
      "world?show=departments",
      "webhooks?show=webhooks&register=new",
    ]) {
      await page.goto(`${api.url}/_console/s/bare/${address}`);
      await see(page.getByRole("link", { name: "Add one" }), address).toHaveAttribute(
        "href",
        /collection=organizations&record=%2B$/,
      );
    }
    await page.getByRole("link", { name: "Add one" }).click();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await see(page.getByText(/^Created .+\.$/)).toBeVisible();
    await page.goto(`${api.url}/_console/s/bare/world?collection=users&record=%2B`);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await see(page.getByText(/^Created .+\.$/)).toBeVisible();
    await page.goto(`${api.url}/_console/s/bare/keys?make=key`);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await see(page.getByText(/^Created key .+\.$/)).toBeVisible();
    await page.goto(`${api.url}/_console/s/bare/timeline`);
    await page.getByRole("button", { name: /^Try it as / }).click();
    await see(page.getByRole("status").getByText("200")).toBeVisible();
  });
});
